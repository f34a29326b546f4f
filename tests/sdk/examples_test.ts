import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { SDK_PY } from "../../src/cli/generated/python_sdk_source.ts";
import { SDK_DTS, SDK_JS } from "../../src/cli/generated/sdk_source.ts";
import { driveProcess, jsCommand, NO_CONTEXT } from "../support/plugin_driver.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";

const exampleDir = (name: string): string => fileURLToPath(new URL(`../../examples/plugins/${name}/`, import.meta.url));

const AT_PRIMARY = { ...NO_CONTEXT, project_id: "music", agent_path: "primary", session_id: "ses_1" };

test("K-001 hello-bash, a loop of bash and jq, is a whole plugin", async (t) => {
  const tools = existsSync("/usr/bin/jq") && existsSync("/usr/bin/bash");
  if (!await requireOrSkip(t, "bash and jq", tools, "install the packages bash and jq")) return;
  await using plugin = driveProcess(exampleDir("hello-bash"), ["/usr/bin/bash", "./hello.sh"]);
  const { result } = await plugin.handshake({ greeting: "Grüß dich" });
  assert.deepEqual([result.name, result.methods], ["hello-bash", ["hello-bash.greet", "hello.stats"]]);
  const greeted = await plugin.ask("hello-bash.greet", { name: 'Ada "the first"', _context: AT_PRIMARY });
  assert.deepEqual(greeted.result, { text: 'Grüß dich, Ada "the first"!', agent: "primary" });
  assert.deepEqual((await plugin.ask("hello.stats", { _context: NO_CONTEXT })).result, { greeted: 1 });
  assert.deepEqual((await plugin.ask("no.such", {})).error, { code: -32601, message: 'No method "no.such"' });
  plugin.send({ method: "system.rate_limited", params: {} });
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
  plugin.send({ method: "shutdown", params: {} });
  assert.equal(await plugin.ended, 0);
  assert.equal(plugin.log(), "greeting number 1\n");
});

test("K-065 hello-python, with the standard library alone, is a whole plugin", async (t) => {
  const python = existsSync("/usr/bin/python3");
  if (!await requireOrSkip(t, "python3", python, "install the package python3")) return;
  await using plugin = driveProcess(exampleDir("hello-python"), ["/usr/bin/python3", "./hello.py"]);
  assert.equal((await plugin.ask("config.update", { greeting: "" })).error.code, -32004);
  await plugin.handshake({ greeting: "Grüß dich" });
  plugin.send({ id: 20, method: "hello.greet", params: { name: "Ada", _context: NO_CONTEXT } });
  assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", method: "hello.greeted", params: { name: "Ada" } });
  assert.deepEqual((await plugin.next()).result, { text: "Grüß dich, Ada!" });
  const counted = await plugin.ask("hello-python.count_words", { text: "a b a", top: 1, _context: NO_CONTEXT });
  assert.deepEqual(counted.result, { words: [["a", 2]], total: 3 });
  assert.deepEqual((await plugin.ask("hello.greet", {})).error, {
    code: -32602,
    message: "name is missing",
    data: { field: "name" },
  });
  assert.equal((await plugin.ask("hello-python.count_words", {})).error.code, -32603);
  assert.equal((await plugin.ask("no.such", {})).error.code, -32601);
  plugin.send({ method: "shutdown", params: {} });
  assert.equal(await plugin.ended, 0);
});

test("notes, with the SDK, offers tools, a method, a hook, a notification and a config", async () => {
  await using plugin = driveProcess(exampleDir("notes"), jsCommand("./index.js"));
  assert.equal((await plugin.ask("config.update", { max_injected: 1.5 })).error.code, -32004);
  const { result } = await plugin.handshake({ max_injected: 1 });
  assert.deepEqual(result.methods, ["notes.count", "notes.add", "notes.find"]);
  const start = async (): Promise<unknown> =>
    (await plugin.ask("kaged.hook.on_session_start", { _context: AT_PRIMARY })).result;
  assert.equal(await start(), null);
  for (const [index, text] of ["Uses Bun", "Strict TypeScript"].entries()) {
    plugin.send({ id: 30 + index, method: "notes.add", params: { text, _context: AT_PRIMARY } });
    const added = { method: "notes.added", params: { agent_path: "primary", count: index + 1 } };
    assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", ...added });
    assert.deepEqual((await plugin.next()).result, { count: index + 1 });
  }
  assert.deepEqual(await start(), { inject: "Notes so far:\n- Strict TypeScript" });
  const found = await plugin.ask("notes.find", { query: "bun", _context: AT_PRIMARY });
  assert.deepEqual(found.result, { notes: ["Uses Bun"] });
  const elsewhere = { ...AT_PRIMARY, agent_path: "primary.subagents.researcher" };
  assert.deepEqual((await plugin.ask("notes.count", { _context: elsewhere })).result, { count: 0 });
  assert.equal((await plugin.ask("notes.add", { text: "x".repeat(2001), _context: AT_PRIMARY })).error.code, -32000);
});

test("notes carries the SDK that kaged plugin new writes", async () => {
  const carried = (name: string): Promise<string> => readFile(join(exampleDir("notes"), name), "utf8");
  assert.equal(await carried("kaged_sdk.js"), SDK_JS);
  assert.equal(await carried("kaged_sdk.d.ts"), SDK_DTS);
});

test("K-065 tasks carries the SDK that kaged plugin new --language python writes", async () => {
  assert.equal(await readFile(join(exampleDir("tasks"), "kaged_sdk.py"), "utf8"), SDK_PY);
});
