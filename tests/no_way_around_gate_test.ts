import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Code of every source file, without its comments. */
async function sources(): Promise<{ path: string; code: string }[]> {
  const entries = await readdir(join(root, "src"), { recursive: true });
  const paths = entries.filter((entry) => /\.[jt]s$/.test(entry)).map((entry) => join("src", entry)).sort();
  return await Promise.all(
    paths.filter((path) => !path.includes("/generated/")).map(async (path) => {
      const text = await readFile(join(root, path), "utf8");
      // Comments that begin a line: `/*` within a line may be part of a text, and must not hide the code after it.
      return { path, code: text.replace(/^[ \t]*\/\*[^]*?\*\//gm, "").replace(/^\s*\/\/.*$/gm, "") };
    }),
  );
}

const filesWith = async (pattern: RegExp): Promise<string[]> =>
  (await sources()).filter(({ code }) => pattern.test(code)).map(({ path }) => path);

/** The code of one function of a file, up to the brace that closes it at its own indent. */
async function bodyOf(path: string, start: string): Promise<string> {
  const { code } = (await sources()).find((source) => source.path === path)!;
  const from = code.indexOf(start);
  assert.ok(from >= 0, `${path} has no ${start}`);
  const indent = /\n( *)[^\n]*$/.exec(code.slice(0, from))?.[1] ?? "";
  return code.slice(from, code.indexOf(`\n${indent}}`, from));
}

test("N-001 a supervisor is made, and its plugins are called, in these places and nowhere else in the source", async () => {
  assert.deepEqual(await filesWith(/\bcreateSupervisor\(/), [
    "src/cli/commands/plugin_call.ts", // Below the gate: what a plugin author runs on a folder.
    "src/core/supervisor/supervisor.ts",
    "src/create_supervisor.ts", // Below the gate: the embedder's own supervisor, which knows no hooks.
    "src/host/host_supervisor.ts",
    "src/operator/check/check_life.ts", // Below the gate: kaged plugin check.
  ]);
  assert.deepEqual(await filesWith(/\bsupervisor\??\s*\.call\b|\{[^}]*\bcall\b[^}]*\} = (rooms\.)?supervisor\b/), [
    "src/cli/commands/plugin_call.ts",
    "src/host/call_plugin.ts", // The host's one way to a plugin.
    "src/host/host_rooms.ts", // The dispatcher of hooks: `kaged.hook.<name>`, no tool.
    "src/operator/check/check_life.ts",
  ]);
  assert.deepEqual(await filesWith(/\bcallPlugin\(/), [
    "src/host/call_plugin.ts",
    "src/host/create_host.ts", // callMethod, which hands a method that names a tool to the gate first.
    "src/host/gate.ts",
    "src/host/host_rooms.ts",
  ]);
});

test("N-001 the dispatcher of hooks calls nothing but hooks", async () => {
  const calls = [...(await bodyOf("src/hooks/sources/plugin/fire_hook.ts", "async function callOnce")).matchAll(
    /ports\.call\(([^)]*)/g,
  )];
  assert.deepEqual(calls.map(([, given]) => given!.split(", ")[1]), ["`kaged.hook.${hook}`"]);
  assert.deepEqual(await filesWith(/\bports\.call\(/), ["src/hooks/sources/plugin/fire_hook.ts"]);
});

test("N-001 callMethod() asks whether a method is a tool before it calls anything but ping", async () => {
  const body = await bodyOf("src/host/create_host.ts", "async callMethod(");
  const calls = [...body.matchAll(/callPlugin\(instance, ("?\w+"?)/g)].map((match) => [match[1], match.index] as const);
  assert.deepEqual(calls.map(([method]) => method), ['"ping"', "method"]);
  const [asked, gated] = [body.indexOf("model.toolOf("), body.indexOf("session.call(tool,")];
  assert.ok(asked >= 0 && asked < calls[1]![1] && gated >= 0 && gated < calls[1]![1]);
});

test("N-001 within the gate the plugin is called once, between PreToolUse and PostToolUse", async () => {
  const inOrder = async (method: string, steps: readonly string[]): Promise<void> => {
    const body = await bodyOf("src/host/gate.ts", method);
    const places = steps.map((step) => body.indexOf(step));
    assert.ok(places.every((at, index) => at >= 0 && (index === 0 || at > places[index - 1]!)), places.join());
  };
  await inOrder("run(): Promise", ["surelyFit(", "!this.isJudged()", "this.make(", "this.walk("]);
  await inOrder("async walk(", ["checkArguments(", "this.judge(", "this.make("]);
  await inOrder("isJudged(): boolean", ["!rules.isEmpty", 'engine.has("PreToolUse")', "whenAllowed"]);
  await inOrder("async heard(", ["this.after("]);
  await inOrder("async judge(", [
    "let verdict = applyRules(",
    "this.before(",
    "if (this.#args !== given) verdict = applyRules(",
    "askPerson(",
  ]);
  const { code } = (await sources()).find(({ path }) => path === "src/host/gate.ts")!;
  assert.equal([...code.matchAll(/callPlugin\(/g)].length, 1);
  assert.deepEqual(await filesWith(/\bpassGate\(/), ["src/host/gate.ts", "src/host/host_rooms.ts"]);
});

test("N-001 only a supervisor and a hook's MCP server keep an instance, whose process is the one that can be called", async () => {
  assert.deepEqual(await filesWith(/new PluginInstance\(/), [
    "src/core/supervisor/supervisor.ts",
    "src/hooks/sources/mcp/hook_server.ts", // A server that answers hooks: the gate asks it, no agent has its tools.
  ]);
  // Below the gate: a plugin author's conformance and replay, on a folder.
  assert.deepEqual(await filesWith(/\bopenPluginWire\(/), [
    "src/cli/commands/replay.ts",
    "src/operator/conformance/check_conformance.ts",
    "src/operator/plugin_wire.ts",
  ]);
  assert.deepEqual(await filesWith(/["'`]tools\/call["'`]/), [
    "src/core/mcp/messages.ts", // Which calls carry a progress token.
    "src/core/mcp/modern_conversation.ts", // Which results may ask for more.
    "src/core/mcp/task_call.ts", // Which servers run calls as tasks.
    "src/core/remote/link.ts", // Which messages name a tool in a field of HTTP.
    "src/core/supervisor/mcp_client.ts", // An MCP server as a plugin, below its instance.
    "src/mcp/host_server.ts", // The host as a server: the call becomes host.callTool.
  ]);
});

test("N-001 no word in the source stands for a call without the gate", async () => {
  const words =
    /un_?gated|(skip|without|bypass|no|disable)[-_]?(the)?[-_]?gate\b|(skip|bypass)[-_]?(the)?[-_]?hooks?\b/i;
  assert.deepEqual(await filesWith(words), []);
});
