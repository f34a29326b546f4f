import assert from "node:assert/strict";
import { chmod, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { readToken } from "../../src/http/token.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const runtime = await detectRuntime();

test("readToken() makes a token once, for the operator's eyes alone", async (t) => {
  const home = await scratchDir(t);
  const token = await readToken(home, runtime);
  assert.match(token, /^[A-Za-z0-9_-]{43}$/);
  assert.equal((await stat(join(home, "token"))).mode & 0o777, 0o600);
  assert.equal(await readToken(home, runtime), token);
  assert.deepEqual(await readdir(home), ["token"]);
});

test("readToken() of hosts that start at once gives all of them the same token", async (t) => {
  const home = await scratchDir(t);
  const tokens = await Promise.all(Array.from({ length: 20 }, () => readToken(home, runtime)));
  assert.equal(new Set(tokens).size, 1);
  assert.equal((await readFile(join(home, "token"), "utf8")).trim(), tokens[0]);
  assert.deepEqual(await readdir(home), ["token"]);
});

test("readToken() keeps a token that came between its look and its own", async (t) => {
  const home = await scratchDir(t);
  const token = await readToken(home, runtime);
  const files = { ...runtime.files, target: () => Promise.resolve(null) };
  assert.equal(await readToken(home, { ...runtime, files }), token);
});

test("readToken() refuses a file that others may read, and one that holds no token", async (t) => {
  const home = await scratchDir(t);
  const path = join(home, "token");
  await writeFile(path, "short\n", { mode: 0o600 });
  await assert.rejects(readToken(home, runtime), { code: "host.file_unreadable", message: /it holds no token/ });
  await writeFile(path, `${"a".repeat(43)}\n`);
  await chmod(path, 0o644);
  await assert.rejects(readToken(home, runtime), {
    code: "host.file_unreadable",
    hint: `Run chmod 600 ${path}, or remove it to have a new one made`,
  });
});
