/**
 * Promises that the library broke to people who embedded it for the first time.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { fileURLToPath } from "node:url";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

// A bundler that met two classes of that name called ours HostError2, and Node printed that.
test("an error of the host is printed as HostError, also where a bundler gave its class another name", async (t) => {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "own.ts"), "export class HostError extends Error {}\n");
  await writeFile(
    join(dir, "entry.ts"),
    `import { HostError as Own } from "./own.ts";
    import { HostError as Theirs } from "${ROOT}mod.ts";
    console.log([new Own("mine"), new Theirs("host.misuse", "No such agent")]);\n`,
  );
  const run = (program: string, ...args: string[]) =>
    spawnSync(join(ROOT, "node_modules/.bin", program), args, { cwd: dir, encoding: "utf8" });
  const bundle = run("bun", "build", "entry.ts", "--target=node", "--packages=external", "--outfile=out.mjs");
  assert.equal(bundle.status, 0, bundle.stderr);
  const { stdout, stderr } = run("node", "out.mjs");
  assert.match(stdout, /^ *HostError: No such agent$/m, stderr);
});

// The error said that the call was cancelled, and the reason that the caller gave was lost.
test("a call that is cancelled fails with the reason that its caller gave", async () => {
  await using h = await hosted({ primary: { mute: {} }, fixtures: { "@test/mute": "never_answers" } });
  const controller = new AbortController();
  const call = h.host.callMethod("never-answers", "fixture.call", {}, { signal: controller.signal });
  controller.abort(new Error("The user closed the window"));
  await assert.rejects(call, { code: "protocol.cancelled", message: /The user closed the window/ });
});

// The database held no number of its layout (user_version was 0), so that no version could refuse the file of a later one.
test("the database of plugins holds the number of its layout, and the layout of a later version is refused", async () => {
  const manifest = { capabilities: ["kaged:storage:write"] };
  await using h = await hosted({ primary: { echo: {} }, fixtures: { "@test/echo": { fixture: "echo", manifest } } });
  const use = () =>
    h.host.callMethod("echo", "echo.storage", { method: "exec", sql: "CREATE TABLE IF NOT EXISTS t(n)" });
  assert.ok(Object.hasOwn(await use() as object, "result"));
  await h.host.stop();
  const database = (await detectRuntime()).databases.open(join(h.home, "kaged.db"));
  const found = database.prepare("PRAGMA user_version").all([]);
  database.prepare("PRAGMA user_version = 9").all([]);
  database.close();
  assert.deepEqual(found, [[1n]]);
  await h.host.start();
  assert.match(JSON.stringify(await use()), /has layout 9: this version knows layouts up to 1/);
});
