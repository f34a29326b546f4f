import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { guideBlock } from "../docs/support/guides.ts";
import { NO_CONTEXT } from "../support/plugin_driver.ts";
import { hasPython, logLines, PYTHON, pythonPlugin, pythonProgram } from "../support/python_plugin.ts";

const SDK = fileURLToPath(new URL("../../sdk/python/kaged_sdk.py", import.meta.url));
const MIB = 1024 * 1024;

const AGENT_CONTEXT = {
  operator_id: "ada",
  project_id: "music",
  agent_path: "primary",
  session_id: "ses_1",
  request_id: "req_7",
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};

test("K-065 the Python SDK is one file that Python 3.9 reads, and imports the standard library alone", async (t) => {
  if (!await hasPython(t)) return;
  const program = `
import ast, sys
tree = ast.parse(open(sys.argv[1]).read(), feature_version=(3, 9))
for node in ast.walk(tree):
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module] if isinstance(node, ast.ImportFrom) else []
    for name in names:
        assert name.split(".")[0] in sys.stdlib_module_names, name
print("ok")`;
  const { stdout } = await promisify(execFile)(PYTHON, ["-c", program, SDK]);
  assert.equal(stdout, "ok\n");
});

test("K-065 K-008 a Python plugin answers initialize like a JavaScript one, and calls before initialized with -32002", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
plugin.notify("catalog.updated", {"early": True})
@plugin.method("presets.list")
def presets(params, context): return ["web", *plugin.capabilities]
@plugin.tool
def add(params, context): return None
@plugin.hook
def on_session_start(params, context): return {"inject": "hello"}
`,
    { options: 'notifications=["catalog.updated"], capabilities_used=["kaged:storage:read"]' },
  );
  const params = { api_version: 1, plugin_name: "test", capabilities: ["net:[]", 7] };
  assert.deepEqual(await plugin.ask("initialize", params), {
    jsonrpc: "2.0",
    id: 1,
    result: {
      name: "test",
      version: "1.0.0",
      api_version: 1,
      methods: ["presets.list", "test.add"],
      notifications: ["catalog.updated"],
      capabilities_used: ["kaged:storage:read"],
      features: ["cancel", "progress", "projects"],
    },
  });
  assert.equal((await plugin.ask("initialize", {})).error.code, -32600);
  assert.equal((await plugin.ask("presets.list", {})).error.code, -32002);
  plugin.send({ method: "initialized", params: {} });
  assert.deepEqual((await plugin.next()).params, { early: true });
  assert.deepEqual((await plugin.ask("presets.list", { _context: NO_CONTEXT })).result, ["web", "net:[]"]);
  assert.deepEqual((await plugin.ask("kaged.hook.on_session_start", {})).result, { inject: "hello" });
});

test("K-065 K-015 a Python handler gets params, context, trace and the agent's config", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
@plugin.method("who.am_i")
def who(params, context):
    seen = [context.operator_id, context.project_id, context.agent_path, context.session_id, context.request_id]
    return {"params": params, "context": seen, "trace": context.traceparent, "config": context.config}
`,
  );
  await plugin.handshake({ tags: ["project"], budget: "mid" });
  const asked = { text: "aä€😀", _config: { tags: ["research"] }, _context: AGENT_CONTEXT };
  assert.deepEqual((await plugin.ask("who.am_i", asked)).result, {
    params: { text: "aä€😀" },
    context: ["ada", "music", "primary", "ses_1", "req_7"],
    trace: AGENT_CONTEXT.traceparent,
    config: { tags: ["research"], budget: "mid" },
  });
  const plain = (await plugin.ask("who.am_i", { _context: NO_CONTEXT })).result;
  assert.deepEqual([plain.config, plain.trace], [{ tags: ["project"], budget: "mid" }, null]);
});

test("K-065 K-017 a PluginError of Python travels with code and data, anything else as -32603", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
def fails(name, error):
    @plugin.method(name)
    def handler(params, context): raise error
fails("fail.busy", PluginError("Installing", -32005, {"retry_ms": 50}))
fails("fail.plain", PluginError("Locked"))
fails("fail.params", PluginError("name is missing", -32602))
fails("fail.reserved", PluginError("Mine", -32700))
fails("fail.bug", KeyError("text"))
fails("fail.exit", SystemExit(3))
fails("fail.data", PluginError("Odd data", data={1j}))
plugin.method("bad.nan")(lambda params, context: float("nan"))
plugin.method("bad.big")(lambda params, context: "x" * (4 * 1024 * 1024))
plugin.method("good.wide")(lambda params, context: "€" * 1_390_000)
plugin.method("good.half")(lambda params, context: "\\ud800")
`,
  );
  await plugin.handshake();
  const errorOf = async (method: string): Promise<unknown> => (await plugin.ask(method, {})).error;
  assert.deepEqual(await errorOf("fail.busy"), { code: -32005, message: "Installing", data: { retry_ms: 50 } });
  assert.deepEqual(await errorOf("fail.plain"), { code: -32000, message: "Locked" });
  assert.deepEqual(await errorOf("fail.params"), { code: -32602, message: "name is missing" });
  assert.deepEqual(await errorOf("fail.reserved"), { code: -32603, message: "Mine" });
  assert.deepEqual(await errorOf("fail.bug"), { code: -32603, message: "KeyError: 'text'" });
  assert.deepEqual(await errorOf("fail.exit"), { code: -32603, message: "SystemExit: 3" });
  assert.deepEqual(await errorOf("fail.data"), { code: -32000, message: "Odd data" });
  assert.equal((await plugin.ask("bad.nan", {})).error.code, -32603);
  assert.equal((await plugin.ask("bad.big", {})).error.code, -32603);
  assert.equal((await plugin.ask("no.such", {})).error.code, -32601);
  assert.equal((await plugin.ask("good.wide", {})).result.length, 1_390_000);
  assert.equal((await plugin.ask("good.half", {})).result, "\ud800");
  assert.match(plugin.log(), /Handler of \\"fail.bug\\" failed/);
});

test("K-065 K-005 a Python plugin refuses batches, garbage and odd ids, and lives", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(t, "");
  await plugin.handshake();
  const codeFor = async (text: string | Uint8Array): Promise<number> => {
    plugin.sendRaw(text);
    plugin.sendRaw("\n");
    return (await plugin.next()).error.code;
  };
  assert.equal(await codeFor('[{"jsonrpc":"2.0","id":1,"method":"ping"}]'), -32600);
  for (const text of ["{ not json", "", "NaN", "[".repeat(200_000)]) assert.equal(await codeFor(text), -32700);
  for (const text of ["null", "{}", '{"jsonrpc":"2.0","id":1}', '{"jsonrpc":"2.0","id":true,"method":"ping"}']) {
    assert.equal(await codeFor(text), -32600, text);
  }
  assert.equal(await codeFor(new Uint8Array([0xff, 0xfe])), -32700);
  plugin.send({ method: "no.such", params: {} });
  plugin.send({ method: "system.cancel", params: { id: [] } });
  plugin.send({ id: 99, result: "nobody asked" });
  plugin.send({ id: "text-id", method: "ping" });
  assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", id: "text-id", result: { status: "ok" } });
});

test("K-065 K-002 a Python plugin takes a line of exactly 4 MiB, and ends with code 1 at a longer one", async (t) => {
  if (!await hasPython(t)) return;
  const lineOf = (bytes: number): string => {
    const [head, tail] = ['{"jsonrpc":"2.0","id":6,"method":"echo.size","params":{"text":"', '"}}'];
    return head + "x".repeat(bytes - head.length - tail.length) + tail + "\n";
  };
  await using plugin = await pythonPlugin(
    t,
    'plugin.method("echo.size")(lambda params, context: len(params["text"]))',
  );
  await plugin.handshake();
  plugin.sendRaw(lineOf(4 * MIB));
  assert.ok((await plugin.next()).result > 4 * MIB - 100);
  plugin.sendRaw(lineOf(4 * MIB + 1));
  assert.equal(await plugin.ended, 1);
  assert.match(plugin.log(), /more than 4 MiB/);
});

test("K-065 K-058 nothing a Python plugin prints reaches the wire, nor does a child process", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
import os, subprocess, sys
@plugin.tool("print")
def say(params, context):
    print('{"jsonrpc":"2.0","id":1,"result":"forged"}')
    sys.stdout.buffer.write(b"raw bytes\\n")
    sys.stdout.flush()
    os.write(1, b"descriptor\\n")
    subprocess.run(["/bin/sh", "-c", "echo child; cat"], check=True)
    return "printed"
`,
  );
  await plugin.handshake();
  assert.equal((await plugin.ask("test.print", {})).result, "printed");
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
  plugin.closeInput();
  await assert.rejects(plugin.next(), /nothing more/);
  assert.equal(await plugin.ended, 0);
  assert.match(plugin.log(), /forged.*\nraw bytes\ndescriptor\nchild\n/s);
});

test("K-065 K-058 Python log lines are JSON with level, msg and time, which no field can replace or break", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
cyclic = {}
cyclic["self"] = cyclic
plugin.log.info("Scanned", presets=42, level="forged")
plugin.log.error("Failed\\nbadly", error=ValueError("no disk"))
plugin.log.warn("Cyclic", cyclic=cyclic)
plugin.log.debug("Below the level")
`,
  );
  await plugin.handshake();
  plugin.closeInput();
  assert.equal(await plugin.ended, 0);
  const lines = logLines(plugin);
  assert.deepEqual(lines.map(({ level, msg }) => [level, msg]), [
    ["info", "Scanned"],
    ["error", "Failed\nbadly"],
    ["warn", "Cyclic"],
  ]);
  assert.ok(lines.every(({ time }) => new Date(time).toISOString() === time));
  assert.equal(lines[0]?.presets, 42);
  assert.match(lines[1]?.error, /ValueError: no disk/);
});

test("Plugin of the Python SDK refuses names the host would refuse, and names that mean two things", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
refused = []
def attempt(decorate):
    try: decorate(lambda params, context: None)
    except ValueError as error: refused.append(str(error))
for name in ["list", "Presets.list", "kaged.storage", "system.cancel", "a.b.c.d.e", "config.update", "a.b\\n"]:
    attempt(plugin.method(name))
attempt(plugin.tool("add.note"))
attempt(plugin.hook("on-start"))
attempt(plugin.method("test.add"))
attempt(plugin.tool("add"))
plugin.method("names.refused")(lambda params, context: refused)
`,
  );
  await plugin.handshake();
  assert.equal((await plugin.ask("names.refused", {})).result.length, 10);
});

test("the Python of docs/plugins.md is a whole plugin", async (t) => {
  if (!await hasPython(t)) return;
  const block = await guideBlock("docs/plugins.md", "python");
  await using plugin = await pythonProgram(t, block);
  assert.equal((await plugin.handshake({ greeting: "Ahoy" })).result.name, "greeter");
  assert.equal((await plugin.ask("config.update", { greeting: "" })).error.code, -32004);
  plugin.send({ id: 20, method: "greeter.greet", params: { name: "Ada", _context: AGENT_CONTEXT } });
  assert.deepEqual((await plugin.next()).params, { name: "Ada" });
  assert.deepEqual((await plugin.next()).result, { text: "Ahoy, Ada!" });
  plugin.send({ id: 21, method: "greeter.slow", params: {} });
  assert.deepEqual((await plugin.next()).params, { id: 21, progress: 1, total: 2, message: "half way" });
});

test("K-011 K-065 a Python plugin hears of its projects", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
heard = []
@plugin.on_project_activated
def came(project, config): heard.append([project, config])
@plugin.on_project_deactivated
def went(project):
    plugin.notify("projects.heard", {"heard": heard + [project]})
    raise ValueError("no")
`,
    { options: 'notifications=["projects.heard"]' },
  );
  await plugin.ask("initialize", { api_version: 1, plugin_name: "test" });
  plugin.send({ method: "initialized", params: {} });
  plugin.send({ method: "projects.activated", params: { project: "music", config: { level: 1 } } });
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
  plugin.send({ method: "projects.deactivated", params: { project: "music" } });
  assert.deepEqual((await plugin.next()).params, { heard: [["music", { level: 1 }], "music"] });
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
});
