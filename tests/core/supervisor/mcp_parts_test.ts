import assert from "node:assert/strict";
import { test } from "node:test";
import type { McpEvent, McpServerRequest } from "../../../src/core/mcp/peer.ts";
import type { SupervisorOptions } from "../../../src/core/supervisor/types.ts";
import { supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";

/** A supervisor with one running server, and everything the server says by itself. */
async function running(fixture: string, options: Partial<SupervisorOptions> = {}, manifest: object = {}) {
  const events: McpEvent[] = [];
  const s = await supervised({ ...options, onMcpEvent: (_, event) => events.push(event) });
  const instance = await s.add(fixture, { manifest });
  await s.supervisor.start(instance);
  return {
    s,
    events,
    peer: s.supervisor.mcp(instance),
    async call(tool: string, args: object = {}, session?: string, more: object = {}) {
      const context = session ? { project_id: "p", agent_path: "primary", session_id: session } : {};
      const method = `${fixture.replaceAll("_", "-")}.${tool}`;
      const result = await s.supervisor.call(instance, method, { ...args }, { context, ...more });
      return (result as { content: { text: string }[] }).content[0]!.text;
    },
    [Symbol.asyncDispose]: () => s[Symbol.asyncDispose](),
  };
}

test("N-030 a caged server's resources, templates and prompts are listed page by page and read", async () => {
  await using r = await running("mcp_parts");
  const { peer } = r;
  assert.deepEqual((await peer.resources()).map(({ uri }) => uri), ["a:1", "a:2", "a:3"]);
  assert.deepEqual((await peer.resources())[1]!.definition, { uri: "a:2", name: "two", mimeType: "text/plain" });
  assert.deepEqual((await peer.templates()).map(({ uriTemplate }) => uriTemplate), ["a:{n}"]);
  assert.deepEqual((await peer.prompts())[0]!.definition, { name: "greet", arguments: [{ name: "who" }] });
  const contents = [{ uri: "a:1", text: "Text of a:1" }];
  assert.deepEqual(await peer.readResource("a:1"), { contents, _meta: { kept: true } });
  const { messages } = await peer.getPrompt("greet", { who: "Ada" });
  assert.deepEqual(messages, [{ role: "user", content: { type: "text", text: "Greet Ada" } }]);
  const ref = { type: "ref/prompt", name: "greet" };
  const completed = await peer.complete({ ref, argument: { name: "who", value: "Ad" } });
  assert.deepEqual(completed, { completion: { values: ["Ad!"] } });
});

test("N-030 a server's text for the model, title, icons and capabilities are known while it runs", async () => {
  await using r = await running("mcp_parts");
  const { definition, instructions, capabilities, protocol } = r.peer.info;
  assert.equal(protocol, "2025-11-25");
  assert.equal(instructions, "Ask for anything. Offered: ");
  assert.deepEqual([definition.title, definition.icons], ["All parts", [{ src: "data:image/png;base64,AA==" }]]);
  assert.deepEqual(Object.keys(capabilities), ["tools", "logging", "completions", "prompts", "resources"]);
});

test("N-030 a list is asked for again once the server has changed it, and events say so", async () => {
  await using r = await running("mcp_parts");
  await r.peer.resources();
  await Promise.all([r.peer.resources(), r.peer.resources()]);
  assert.equal(await r.call("change", { list: "resources" }), "2", "two pages were asked for, once");
  assert.deepEqual(r.events, [{ type: "list_changed", list: "resources" }]);
  assert.deepEqual((await r.peer.resources()).length, 2);
  assert.equal(await r.call("change", { list: "prompts" }), "4");
  assert.deepEqual(r.events[1], { type: "list_changed", list: "prompts" });
});

test("N-030 the list of a server that reports no changes is kept for five seconds", async () => {
  await using r = await running("mcp_lies", {}, { env: { LIE: "circle" } });
  await assert.rejects(r.peer.resources(), { code: "mcp.malformed" });
  await using other = await running("mcp_parts");
  const prompts = await other.peer.prompts();
  assert.equal((await other.peer.prompts())[0]!.definition, prompts[0]!.definition);
  other.s.clock.advance(5_000);
  assert.notEqual((await other.peer.prompts())[0]!.definition, prompts[0]!.definition);
});

test("N-030 changes of a resource and log messages of a server come as events, as asked for", async () => {
  await using r = await running("mcp_parts");
  assert.equal(await r.call("touch", { uri: "a:1" }), "0");
  await r.peer.subscribe("a:1");
  assert.equal(await r.call("touch", { uri: "a:1" }), "1");
  assert.deepEqual(r.events, [{ type: "resource_updated", uri: "a:1" }]);
  await r.peer.unsubscribe("a:1");
  assert.equal(await r.call("touch", { uri: "a:1" }), "0");
  await r.peer.setLogLevel("warning");
  assert.equal(await r.call("say", { level: "error", data: { disk: "full" } }), "warning");
  assert.deepEqual(r.events[1], { type: "log", level: "error", logger: "parts", data: { disk: "full" } });
  assert.equal(r.s.logs[0]?.line, '[error] parts: {"disk":"full"}');
});

test("N-030 a part that a server does not have, or gives in a wrong shape, is an error that says which", async () => {
  await using r = await running("mcp_parts");
  await assert.rejects(r.peer.readResource("a:odd"), { code: "mcp.malformed", data: { method: "resources/read" } });
  await assert.rejects(r.peer.readResource("a:none"), { code: "plugin.error", rpc: -32002, data: { uri: "a:none" } });
  await using plain = await running("mcp_tools");
  const missing = { code: "mcp.not_offered" };
  await assert.rejects(plain.peer.resources(), { ...missing, message: 'The server "Fixture Server" has no resources' });
  await assert.rejects(plain.peer.prompts(), missing);
  await assert.rejects(plain.peer.subscribe("a:1"), { ...missing, data: { part: "resources.subscribe" } });
  await assert.rejects(plain.peer.complete({}), missing);
  const other = await r.s.add("echo");
  await r.s.supervisor.start(other);
  assert.throws(() => r.s.supervisor.mcp(other), missing);
});

for (const [lie, code] of Object.entries({ huge: "mcp.list_too_long", odd: "mcp.malformed", none: "mcp.malformed" })) {
  test(`N-030 a list that is ${lie} is refused, and the server serves on`, async () => {
    await using r = await running("mcp_lies", {}, { env: { LIE: lie } });
    await assert.rejects(r.peer.resources(), { code });
    assert.deepEqual(await r.s.supervisor.call("mcp-lies", "ping"), { status: "ok" });
  });
}

/** Offers everything; requests wait until a test answers them. */
function desk() {
  const requests: (McpServerRequest & { answer(value: unknown): void; refuse(error: Error): void })[] = [];
  const options: Partial<SupervisorOptions> = {
    mcpOffers: ["elicitation", "sampling", "roots"],
    onMcpRequest: (_, request) => new Promise((answer, refuse) => requests.push({ ...request, answer, refuse })),
  };
  const next = async (at: number) => {
    await until(() => requests.length > at, `request ${at} of the server`);
    return requests[at]!;
  };
  return { options, requests, next };
}

test("N-030 a server may ask for the parts that are offered, and hears what was answered", async () => {
  const { options, next } = desk();
  await using r = await running("mcp_parts", options);
  assert.equal(r.peer.info.instructions, "Ask for anything. Offered: elicitation,sampling,roots");
  const params = { mode: "url", message: "Sign in", url: "https://example.com", elicitationId: "e1" };
  const call = r.call("ask", { method: "elicitation/create", params }, "ses_1");
  const request = await next(0);
  assert.deepEqual([request.method, request.params], ["elicitation/create", params]);
  assert.deepEqual(request.at, { agent: "primary", session: "ses_1" });
  request.answer({ action: "accept" });
  assert.deepEqual(JSON.parse(await call), { action: "accept" });
  const other = r.call("ask", { method: "tasks/list" }, "ses_1");
  assert.equal(JSON.parse(await other).code, -32601, "nothing else");
});

test("N-030 a request of a server belongs to a session only while all its calls do", async () => {
  const { options, next } = desk();
  await using r = await running("mcp_parts", options);
  const controller = new AbortController();
  const waiting = r.call("wait", {}, "ses_2", { signal: controller.signal }).catch(() => {});
  const call = r.call("ask", { method: "roots/list" }, "ses_1");
  const request = await next(0);
  assert.equal(request.at, null);
  request.answer({ roots: [] });
  assert.equal(await call, '{"roots":[]}');
  controller.abort();
  await waiting;
  const again = r.call("ask", { method: "roots/list" }, "ses_1");
  assert.deepEqual((await next(1)).at, { agent: "primary", session: "ses_1" });
  (await next(1)).answer({ roots: [] });
  await again;
});

test("N-030 a server has at most 16 requests open, and loses them when it ends", async () => {
  const { options, next, requests } = desk();
  await using r = await running("mcp_parts", options);
  assert.equal(await r.call("ask_many", { count: 17 }, "ses_1"), "-32005");
  assert.equal(requests.length, 16);
  for (const { answer } of requests) answer({ roots: [] });
  const last = r.call("ask", { method: "roots/list" }, "ses_1").catch(({ code }) => code);
  const { signal } = await next(16);
  await r.s.supervisor.stop("mcp-parts");
  assert.equal(signal.aborted, true);
  assert.equal(await last, "plugin.unavailable");
});

test("N-030 without an offer a server is told of none and refused everything", async () => {
  await using r = await running("mcp_parts", { mcpOffers: [], onMcpRequest: () => Promise.resolve({}) });
  const answer = await r.call("ask", { method: "elicitation/create", params: {} }, "ses_1");
  assert.equal(JSON.parse(answer).code, -32601);
});
