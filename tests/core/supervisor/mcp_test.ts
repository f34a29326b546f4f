import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { type Supervised, supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";

/** Starts a fixture; resolves with its instance id. */
async function started(s: Supervised, fixture: string, manifest: object = {}): Promise<string> {
  const instance = await s.add(fixture, { manifest });
  await s.supervisor.start(instance);
  return instance;
}

/** The error with which a fixture does not start. */
async function refusal(s: Supervised, fixture: string): Promise<HostError> {
  const instance = await s.add(fixture);
  return await s.supervisor.start(instance).then(() => assert.fail("it started"), (error) => error);
}

const said = (text: string) => ({ content: [{ type: "text", text }] });

test("D-012 an MCP server runs as a plugin, and its tools are known by their names here once it runs", async () => {
  await using s = await supervised();
  const instance = await s.add("mcp_tools");
  assert.deepEqual(s.supervisor.plugin(instance).tools, []);
  await s.supervisor.start(instance);
  const { status, tools, mcp } = s.supervisor.plugin(instance);
  assert.equal(status, "running");
  assert.deepEqual(tools.map(({ name, description }) => [name, description]), [
    ["say_it", "Says what it is given"],
    ["count_words", "count.words"],
    ["fail", "fail"],
    ["slow", "slow"],
    ["grow", "grow"],
    ["env", "env"],
    ["meta", "meta"],
    ["odd", "odd"],
  ]);
  assert.deepEqual(mcp, { protocol: "2025-11-25", name: "Fixture Server", version: "0.0.7" });
  const listed = await s.next("plugin.tools_listed");
  const { added, ...rest } = listed.data;
  assert.equal(added.length, 8);
  assert.deepEqual(rest, { count: 8, removed: [], changed: [], left_out: [] });
});

test("D-012 a tool of an MCP server is called by its own name and gives what the server gave", async () => {
  await using s = await supervised();
  const instance = await started(s, "mcp_tools", { env: { TOKEN: "t0k" } });
  const call = (tool: string, params = {}) => s.supervisor.call(instance, `mcp-tools.${tool}`, params);
  assert.deepEqual(await call("say_it", { what: "Ahoy" }), said("Ahoy"));
  assert.deepEqual(await call("count_words", { text: "one two" }), {
    ...said('{"words":2}'),
    structuredContent: { words: 2 },
  });
  assert.deepEqual(await call("env"), said("t0k"));
  assert.deepEqual(await s.supervisor.call(instance, "ping"), { status: "ok" });
});

test("D-012 an MCP server gets the arguments and nothing of the call's context", async () => {
  await using s = await supervised();
  const instance = await started(s, "mcp_tools");
  const result = await s.supervisor.call(instance, "mcp-tools.meta", { a: 1, _config: { b: 2 } });
  const rest = { name: "meta", arguments: { a: 1 } };
  assert.deepEqual(result, said(JSON.stringify({ rest, meta: ["progressToken"] })));
});

test("D-012 an error of an MCP tool comes back with its own words", async () => {
  await using s = await supervised();
  const instance = await started(s, "mcp_tools");
  await assert.rejects(s.supervisor.call(instance, "mcp-tools.fail"), {
    code: "mcp.tool_failed",
    rpc: -32000,
    message: "The disk is full",
    data: { tool: "mcp-tools.fail", ...said("The disk is full") },
  });
  await assert.rejects(s.supervisor.call(instance, "mcp-tools.odd"), { code: "mcp.malformed" });
  await assert.rejects(s.supervisor.call(instance, "mcp-tools.say_itt"), {
    code: "protocol.method_unknown",
    hint: 'Did you mean "mcp-tools.say_it"?',
  });
});

test("D-012 a slow MCP tool reports progress and hears that its caller gave up", async () => {
  await using s = await supervised();
  const instance = await started(s, "mcp_tools");
  const controller = new AbortController();
  const { promise: reported, resolve: onProgress } = Promise.withResolvers<unknown>();
  const call = s.supervisor.call(instance, "mcp-tools.slow", {}, { signal: controller.signal, onProgress });
  const { progressToken: _, ...progress } = await reported as Record<string, unknown>;
  assert.deepEqual(progress, { progress: 1, total: 2, message: "half way" });
  controller.abort();
  await assert.rejects(call, { code: "protocol.cancelled" });
  await until(() => s.logs.length > 0, "a line on stderr");
  assert.equal(s.logs[0]?.line, "[info] cancelled");
});

test("D-012 a server that changes its tools is listed again, at most every five seconds", async () => {
  await using s = await supervised();
  const instance = await started(s, "mcp_tools");
  await s.next("plugin.tools_listed");
  await s.supervisor.call(instance, "mcp-tools.grow");
  await s.pass(5_000);
  const { data } = await s.next("plugin.tools_listed");
  assert.deepEqual([data.count, data.added, data.changed], [3, ["grown"], []]);
  assert.deepEqual(data.removed, ["fail", "slow", "grow", "env", "meta", "odd"]);
  assert.deepEqual(s.supervisor.plugin(instance).tools.map(({ name }) => name), ["say_it", "count_words", "grown"]);
  await assert.rejects(s.supervisor.call(instance, "mcp-tools.env"), { code: "protocol.method_unknown" });
});

test("D-012 a server that floods the host with changes is listed once more and read on", async () => {
  await using s = await supervised();
  const instance = await started(s, "mcp_floods");
  assert.deepEqual(await s.supervisor.call(instance, "mcp-floods.flood"), said("flooded"));
  assert.equal(s.types().filter((type) => type === "plugin.notification_flood").length, 1);
  assert.ok(s.logs.length <= 100);
  const listings = () => s.types().filter((type) => type === "plugin.tools_listed").length;
  await s.supervisor.call(instance, "ping"); // Whatever was asked before is answered.
  assert.equal(listings(), 1);
  await s.pass(5_000);
  await until(() => listings() >= 2, "a second listing of tools");
  assert.deepEqual(await s.supervisor.call(instance, "ping"), { status: "ok" });
});

test("D-012 noise around an MCP server's messages is audited and skipped; it may ask the host for nothing", async () => {
  await using s = await supervised();
  const instance = await started(s, "mcp_prints_garbage");
  assert.deepEqual(await s.supervisor.call(instance, "mcp-prints-garbage.ask"), said("[{},-32601,-32601]"));
  const noise = s.events.flatMap((event) => event.type === "plugin.stdout_noise" ? [event.data.line] : []);
  assert.deepEqual(noise, ["Server listening on stdio", "\u0000\u0001 banner", "Thinking..."]);
});

test("D-012 an MCP server that cannot be used is not started again, and says why", async () => {
  await using s = await supervised();
  const { code, message, data } = await refusal(s, "mcp_clashes");
  assert.deepEqual([code, message, data], [
    "mcp.tool_collision",
    'Tools "Read-File" and "read_file" are both "read_file" here',
    { first: "Read-File", second: "read_file", tool: "read_file" },
  ]);
  assert.equal(s.supervisor.plugin("mcp-clashes").status, "failed");
  const old = await refusal(s, "mcp_wrong_version");
  assert.deepEqual([old.code, old.message], ["mcp.version_unsupported", 'The server speaks MCP "1999-01-01"']);
  assert.equal((await refusal(s, "mcp_ten_thousand")).code, "mcp.too_many_tools");
  assert.equal((await refusal(s, "mcp_endless_pages")).code, "mcp.too_many_tools");
});

test("D-012 an MCP server that dies in initialize is tried again, with what it said last", async () => {
  await using s = await supervised();
  assert.equal((await refusal(s, "mcp_dies_in_initialize")).code, "plugin.unavailable");
  const { data } = await s.next("plugin.crashed");
  assert.deepEqual([data.exit_code, data.last_stderr], [3, ["no licence key"]]);
  assert.equal(s.supervisor.plugin("mcp-dies-in-initialize").status, "crashed");
});

test("D-012 an MCP server stops when its input ends", async () => {
  await using s = await supervised();
  const instance = await started(s, "mcp_tools");
  await s.supervisor.stop(instance);
  const { data } = await s.next("plugin.stopped");
  assert.deepEqual(data, { exit_code: 0, signal: null });
});

test("D-012 an MCP server that stays when its input ends is ended by SIGTERM, then by SIGKILL", async () => {
  await using s = await supervised();
  const instance = await s.add("mcp_never_leaves");
  const starting = s.supervisor.start(instance);
  await s.pass(2_000); // The process that was only asked for its revision heeds nothing either.
  await starting;
  const stopping = s.supervisor.stop(instance);
  await s.pass(5_000);
  await s.pass(2_000);
  await stopping;
  assert.deepEqual((await s.next("plugin.killed")).data, { reason: "stopped during the handshake" });
  assert.deepEqual((await s.next("plugin.killed")).data, { reason: "ignored shutdown" });
});

test("D-012 an MCP server that answers no ping is ended and started again", async () => {
  await using s = await supervised();
  const instance = await started(s, "mcp_silent");
  for (let count = 1; count <= 3; count++) {
    await s.pass(30_000);
    await s.pass(5_000);
    assert.equal((await s.next("plugin.health_fail")).data.consecutive_failures, count);
  }
  await s.next("plugin.crashed", instance);
});
