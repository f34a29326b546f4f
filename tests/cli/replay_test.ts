import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { processesIn } from "../support/processes_in.ts";
import { runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const SYSTEM = { type: "object", properties: { api_key: { type: "string" } } };

test("kaged plugin call --record writes a tape without secrets, and kaged replay finds the plugin as it was", async (t) => {
  const dir = await scratchDir(t);
  const tape = join(dir, "echo.jsonl");
  await using plugin = await fixturePlugin("echo", { manifest: { system_config_schema: SYSTEM } });
  const config = '{"api_key":"s3cret-value"}';
  const args = ["plugin", "call", plugin.dir, "echo.config", "--config", config, "--record", "echo.jsonl", "--json"];
  const called = await runKaged(args, { cwd: dir });
  assert.deepEqual([called.code, JSON.parse(called.stdout), called.stderr], [0, {
    result: { api_key: "[secret:api_key]" },
  }, ""]);
  assert.deepEqual([(await stat(tape)).mode & 0o777, /s3cret/.test(await readFile(tape, "utf8"))], [0o600, false]);

  const same = await runKaged(["replay", tape, "--config", '{"api_key":"another"}']);
  assert.deepEqual(same, {
    code: 0,
    stdout: "✓ echo 1.0.0 is as on the tape: 5 messages sent, 3 compared\n",
    stderr: "",
  });
  const unasked = await runKaged(["replay", tape]);
  assert.equal(unasked.code, 1);
  assert.match(
    unasked.stderr,
    /^error\[tape\.secret_missing\]: .*"api_key"\n {2}hint: Add --config '\{"api_key":"…"\}'\n$/,
  );

  const source = await readFile(join(plugin.dir, "index.js"), "utf8");
  await writeFile(join(plugin.dir, "index.js"), source.replace("config = params;", "config = { ...params, more: 1 };"));
  const changed = await runKaged(["replay", tape, "--config", config]);
  assert.deepEqual([changed.code, changed.stdout.split("\n").map((line) => line.replace(/ {2,}/g, " "))], [1, [
    "✗ echo 1.0.0 is not as on the tape",
    " the answer to 3 differs at /result/more (line 8 of the tape)",
    ' expected {"jsonrpc":"2.0","id":3,"result":{"api_key":"[secret:api_key]"}}',
    ' came {"jsonrpc":"2.0","id":3,"result":{"api_key":"[secret:api_key]","more":1}}',
    "note: The files of the plugin have changed since",
    "",
  ]]);
  const ignoring = await runKaged(["replay", tape, "--config", config, "--ignore", "/result/more", "--json"]);
  const { ok, difference, notes } = JSON.parse(ignoring.stdout);
  assert.deepEqual([ignoring.code, ok, difference, notes.length], [0, true, null, 1]);
  assert.deepEqual(await processesIn(plugin.dir), []);
});

test("a call whose tape cannot be written is made all the same; the command says so and exits with 1", async (t) => {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "a.jsonl"), "precious");
  await using plugin = await fixturePlugin("echo");
  const { code, stdout, stderr } = await runKaged([
    "plugin",
    "call",
    plugin.dir,
    "echo.config",
    "--record",
    join(dir, "a.jsonl"),
  ]);
  assert.deepEqual([code, stdout, await readFile(join(dir, "a.jsonl"), "utf8")], [1, "{}\n", "precious"]);
  assert.match(stderr, /^error\[tape\.exists\]: /);
});

test("kaged replay refuses what is no tape, and a tape of another plugin, with the next step", async (t) => {
  const dir = await scratchDir(t);
  await using plugin = await fixturePlugin("echo");
  const header = { format: "kaged-tape", format_version: 1, plugin: "notes", version: "1.0.0", dir: "/x", started: "" };
  await writeFile(join(dir, "notes.jsonl"), JSON.stringify(header) + "\n");
  await writeFile(join(dir, "new.jsonl"), JSON.stringify({ ...header, format_version: 9 }) + "\n");
  const failures: (readonly [readonly string[], RegExp])[] = [
    [
      ["notes.jsonl", plugin.dir],
      /^error\[tape\.other_plugin\]: The tape is of "notes", and ".*" holds "echo"\n {2}hint: /,
    ],
    [["new.jsonl"], /^error\[tape\.version\]: /],
    [["absent.jsonl"], /^error\[tape\.unreadable\]: /],
    [["notes.jsonl", "--ignore", "time"], /^error\[host\.misuse\]: "time" is no JSON pointer/],
  ];
  for (const [args, message] of failures) {
    const { code, stderr } = await runKaged(["replay", ...args], { cwd: dir });
    assert.match(stderr, message);
    assert.ok(code === 1 || code === 2);
  }
});
