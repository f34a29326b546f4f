import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { detectRuntime } from "../../src/adapters/default.ts";
import { oldRuntime } from "../../src/adapters/runtime_floor.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const runtime = await detectRuntime();
const { bytes, clock, databases, ids } = runtime;
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

test("detectRuntime() finds the runtime that runs", async () => {
  const { runtime: mine } = await import(`../../src/adapters/${runtime.name}/mod.ts`);
  assert.equal(mine, runtime);
  assert.match(runtime.version, /^\d+\.\d+\.\d+/);
  assert.ok(runtime.executable.startsWith("/"));
  const { stdout } = spawnSync("uname", ["-sm"], { encoding: "utf8" });
  assert.equal(stdout.trim(), `Linux ${runtime.arch}`);
  assert.equal(runtime.platform, "linux");
  assert.equal(String(runtime.uid), spawnSync("id", ["-u"], { encoding: "utf8" }).stdout.trim());
});

test("N-037 oldRuntime() names the runtime that is too old, the version it has and the one it needs", () => {
  const node = "24.15.0"; // Bun and Deno answer to its name too.
  assert.equal(oldRuntime("x", { node: "24.14.9" }), "x needs node 24.15.0 or newer, and this is 24.14.9");
  assert.equal(oldRuntime("x", { node, bun: "1.3.99" }), "x needs bun 1.4.0 or newer, and this is 1.3.99");
  assert.equal(oldRuntime("x", { node, deno: "2.8.3" }), "x needs deno 2.9.0 or newer, and this is 2.8.3");
  for (const versions of [{ node }, { node: "25.0.0-nightly" }, { node: "20.0.0", bun: "1.4.0" }, { deno: "3.0.0" }]) {
    assert.equal(oldRuntime("x", versions), null, JSON.stringify(versions));
  }
  assert.equal(oldRuntime("x"), null, "this one is new enough");
});

test("an adapter refuses to load on another runtime", async () => {
  for (const name of ["node", "bun", "deno"].filter((name) => name !== runtime.name)) {
    await assert.rejects(import(`../../src/adapters/${name}/mod.ts`), /another runtime runs here/);
  }
});

test("scripts() starts a JavaScript file that may do everything, whatever lies in the working directory", async (t) => {
  const alone = ["--config=/dev/null", "--no-env-file", "--no-install"];
  const run = ["run", "-A", "--quiet", "--no-lock"];
  const { name, executable, args, env } = await runtime.scripts();
  assert.deepEqual({ name, executable, env }, { name: runtime.name, executable: runtime.executable, env: {} });
  assert.deepEqual(
    args,
    {
      node: { plugin: [], relay: ["--v8-pool-size=1"], storage: ["--no-warnings"] },
      bun: { plugin: alone, relay: alone, storage: alone },
      deno: {
        plugin: [...run, "--no-code-cache"],
        relay: [...run, "--no-config", "--no-code-cache"],
        storage: [...run, "--no-config", "--no-remote", "--no-npm"],
      },
    }[runtime.name],
  );
  const cwd = await scratchDir(t);
  await writeFile(
    `${cwd}/own.mjs`,
    'import fs from "node:fs"; console.log(fs.readFileSync("/proc/self/comm", "utf8"));',
  );
  await writeFile(`${cwd}/deno.json`, '{ "imports": { "node:fs": "./missing.mjs" } }');
  await writeFile(`${cwd}/bunfig.toml`, 'preload = ["./missing.mjs"]');
  for (const kind of ["relay", "storage"] as const) {
    const { stdout, stderr } = spawnSync(executable, [...args[kind], `${cwd}/own.mjs`], { encoding: "utf8", cwd });
    assert.notEqual(stdout.trim(), "", stderr);
  }
});

test("env() reads a variable or gives null", () => {
  assert.equal(runtime.env("PATH"), process.env.PATH ?? null);
  assert.equal(runtime.env("KAGED_NO_SUCH_VARIABLE"), null);
});

test("indexOfNewline() finds the first newline at or after an index", () => {
  for (const chunk of [utf8("a\nb\n"), Buffer.from("a\nb\n"), utf8("xa\nb\n").subarray(1)]) {
    assert.deepEqual([0, 1, 2, 3, 4].map((from) => bytes.indexOfNewline(chunk, from)), [1, 1, 3, 3, -1]);
  }
  assert.equal(bytes.indexOfNewline(new Uint8Array(), 0), -1);
});

test("decode() gives the text of UTF-8, keeps a byte order mark and the replacement character", () => {
  for (const text of ["", "abc", "é漢🙂", "\ufeffabc", "a\ufffdb", "\0"]) {
    assert.equal(bytes.decode(utf8(text)), text);
    assert.equal(bytes.decode(utf8(`__${text}`).subarray(2)), text);
    assert.equal(bytes.decode(Buffer.from(text)), text);
  }
});

test("decode() throws on bytes that are not UTF-8", () => {
  const broken = [[0xff], [0xc3], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80], [
    0x61,
    0xe2,
  ]];
  for (const raw of broken) assert.throws(() => bytes.decode(new Uint8Array(raw)), TypeError, String(raw));
});

test("byteLength() counts the bytes a text takes", () => {
  for (const text of ["", "abc", "é漢🙂", "x".repeat(70_000)]) assert.equal(bytes.byteLength(text), utf8(text).length);
});

test("ids are unique and carry their prefix", () => {
  const made = Array.from({ length: 1_000 }, () => ids.create("req"));
  assert.equal(new Set(made).size, 1_000);
  for (const id of made) assert.match(id, /^req_[0-9a-z]{17,}$/);
});

test("the clock goes forward and calls a due timer once", async () => {
  const [wall, start] = [clock.now(), clock.monotonic()];
  assert.ok(wall > Date.UTC(2024, 0));
  let calls = 0;
  const keepAlive = setInterval(() => {}, 1_000);
  await new Promise<void>((resolve) => clock.after(5, () => resolve(void calls++)));
  clearInterval(keepAlive);
  assert.equal(calls, 1);
  assert.ok(clock.monotonic() >= start);
});

test("a cancelled timer never calls, and one too long for a timer does not call at once", async () => {
  let calls = 0;
  clock.after(1, () => calls++)();
  const cancels = [2 ** 31, 2 ** 40, Infinity].map((ms) => clock.after(ms, () => calls++));
  const keepAlive = setInterval(() => {}, 1_000);
  await new Promise<void>((resolve) => clock.after(10, resolve));
  clearInterval(keepAlive);
  for (const cancel of cancels) cancel();
  assert.equal(calls, 0);
});

test("a waiting timer does not keep the process alive", () => {
  const script = fileURLToPath(new URL("./fixtures/waits_for_an_hour.ts", import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, [script], { encoding: "utf8", timeout: 30_000 });
  assert.equal(status, 0, stderr);
});

test("a database keeps rows and gives back each kind of value", () => {
  assert.match(databases.version() ?? "", /^3\.\d+/);
  const database = databases.open(":memory:");
  database.run("create table t (a, b, c, d)");
  assert.equal(database.run("insert into t values (?, ?, ?, ?)", [1, "é", null, new Uint8Array([1, 2])]), 1);
  const [[a, b, c, d] = []] = database.prepare("select * from t where a = ?").allNumbers([1]);
  assert.deepEqual([a, b, c, [...d as Uint8Array]], [1, "é", null, [1, 2]]);
  assert.throws(() => database.run("no sql"), /syntax/);
  database.close();
});
