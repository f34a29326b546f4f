import assert from "node:assert/strict";
import { test } from "node:test";
import type { McpEvent, McpServerRequest } from "../../../src/core/mcp/peer.ts";
import type { SupervisorOptions } from "../../../src/core/supervisor/types.ts";
import { supervised } from "../../support/supervised.ts";
import { until } from "../../support/until.ts";

/** A running server of revision 2026-07-28, and everything it says by itself. */
async function modern(options: Partial<SupervisorOptions> = {}) {
  const events: McpEvent[] = [];
  const s = await supervised({ ...options, onMcpEvent: (_, event) => events.push(event) });
  const instance = await s.add("mcp_modern");
  await s.supervisor.start(instance);
  const result = async (tool: string, args: object = {}, more: object = {}) => {
    const context = { project_id: "p", agent_path: "primary", session_id: "ses_1" };
    return await s.supervisor.call(instance, `mcp-modern.${tool}`, { ...args }, { context, ...more });
  };
  return {
    s,
    events,
    peer: s.supervisor.mcp(instance),
    result,
    call: async (tool: string, args: object = {}, more: object = {}) =>
      JSON.parse((await result(tool, args, more) as { content: { text: string }[] }).content[0]!.text),
    [Symbol.asyncDispose]: () => s[Symbol.asyncDispose](),
  };
}

/** Offers everything and answers each request with `answer`. */
function answering(answer: (request: McpServerRequest) => unknown) {
  const requests: McpServerRequest[] = [];
  const options: Partial<SupervisorOptions> = {
    mcpOffers: ["elicitation", "roots"],
    onMcpRequest: async (_, request) => {
      requests.push(request);
      return await answer(request);
    },
  };
  return { options, requests };
}

test("N-029 every request of 2026-07-28 says what the client is and can, and a result has nothing of that", async () => {
  await using m = await modern({ mcpOffers: ["elicitation"], onMcpRequest: () => Promise.resolve({}) });
  const { progressToken, ...meta } = await m.call("meta");
  assert.equal(typeof progressToken, "number");
  assert.deepEqual(Object.keys(meta), [
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/clientCapabilities",
  ]);
  assert.deepEqual(meta["io.modelcontextprotocol/clientCapabilities"], {
    elicitation: { form: {}, url: {} },
    extensions: { "io.modelcontextprotocol/tasks": {} },
  });
  assert.equal(meta["io.modelcontextprotocol/clientInfo"].name, "kaged");
  for (const value of [null, 7, [1], "text", { a: 1 }]) {
    assert.deepEqual(await m.result("data", { value }), { content: [], structuredContent: value, _meta: { a: 1 } });
  }
});

test("N-029 a server that needs more gets it through the host, and its request is sent again with the answers", async () => {
  const { options, requests } = answering(() => ({ action: "accept", content: { who: "Ada" } }));
  await using m = await modern(options);
  assert.deepEqual(await m.call("ask"), {
    inputResponses: { first: { action: "accept", content: { who: "Ada" } } },
    requestState: "state-1",
  });
  assert.deepEqual([requests[0]!.method, requests[0]!.params.message], ["elicitation/create", "Who?"]);
  assert.deepEqual(requests[0]!.at, { agent: "primary", session: "ses_1" });
  assert.deepEqual(Object.keys(await m.call("ask_twice")), ["more"]);
  const at = { agent: "other", session: "ses_2" };
  assert.equal(((await m.peer.getPrompt("any", {}, { at })).messages as unknown[]).length, 1);
  assert.deepEqual(requests.at(-1)!.at, at);
});

test("N-029 a server that asks without end, for too much, or answers oddly costs its call and nothing else", async () => {
  const { options } = answering(() => ({ roots: [] }));
  await using m = await modern(options);
  await assert.rejects(m.call("ask_forever"), { code: "mcp.too_many_rounds" });
  await assert.rejects(m.call("odd_type"), { code: "mcp.malformed", message: /of the unknown type "poem"/ });
  await assert.rejects(m.call("ask", { method: "sampling/createMessage" }), {
    code: "mcp.input_refused",
    data: { method: "sampling/createMessage" },
  });
  assert.deepEqual((await m.call("ask", { method: "roots/list" })).inputResponses, { first: { roots: [] } });
});

test("N-029 a call that is cancelled, or whose server ends, takes back what the server asked for", async () => {
  const { options, requests } = answering(() => new Promise(() => {}));
  await using m = await modern(options);
  const controller = new AbortController();
  const cancelled = m.call("ask", {}, { signal: controller.signal });
  await until(() => requests.length > 0, "a request of the server");
  controller.abort();
  await assert.rejects(cancelled, { code: "protocol.cancelled" });
  assert.equal(requests[0]!.signal.aborted, true);
  const ended = assert.rejects(m.call("ask"), { code: "plugin.unavailable" });
  await until(() => requests.length > 1, "another request of the server");
  await m.s.supervisor.stop("mcp-modern");
  await ended;
  assert.equal(requests[1]!.signal.aborted, true);
});

test("N-029 changes are heard over one subscriptions/listen, which is made again after it has ended", async () => {
  await using m = await modern();
  assert.deepEqual(await m.call("listens"), {
    opened: 1,
    open: [{ toolsListChanged: true, promptsListChanged: true }],
  });
  await m.s.pass(5_000); // The rest after the first listing.
  await m.call("grow");
  await until(() => m.events.length > 0, "the event of changed tools");
  assert.deepEqual(m.events, [{ type: "list_changed", list: "tools" }]);
  assert.ok(m.s.supervisor.plugin("mcp-modern").tools.some(({ name }) => name === "grown"));
  await m.call("end_listen");
  assert.deepEqual((await m.call("listens")).open, []);
  m.s.clock.advance(5_000);
  assert.deepEqual(await m.call("listens"), {
    opened: 2,
    open: [{ toolsListChanged: true, promptsListChanged: true }],
  });
});

test("N-029 resources that are subscribed to are named in that request, and in no other", async () => {
  await using m = await modern();
  await m.peer.subscribe("m:1");
  await m.peer.subscribe("m:2");
  const { open } = await m.call("listens");
  assert.deepEqual(open, [{ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: ["m:1", "m:2"] }]);
  for (const uri of ["m:1", "m:3"]) await m.call("touch", { uri });
  assert.deepEqual(m.events, [{ type: "resource_updated", uri: "m:1" }]);
  await m.peer.unsubscribe("m:1");
  await m.call("touch", { uri: "m:1" });
  assert.equal(m.events.length, 1);
});

test("N-029 log messages come at the level that each request names, and none without one", async () => {
  await using m = await modern();
  assert.equal(await m.call("say"), null);
  await m.peer.setLogLevel("warning");
  assert.equal(await m.call("say"), "warning");
  assert.deepEqual(m.events, [{ type: "log", level: "warning", data: "said" }]);
});

test("N-029 a list is kept for as long as the server says", async () => {
  await using m = await modern();
  const uris = async () => (await m.peer.resources()).map(({ uri }) => uri);
  assert.deepEqual(await uris(), ["m:1"]);
  m.s.clock.advance(59_000);
  assert.deepEqual(await uris(), ["m:1"]);
  m.s.clock.advance(1_000);
  assert.deepEqual(await uris(), ["m:2"]);
});

test("N-029 a server without ping shows that it is well by server/discover, and is replaced without a wait", async () => {
  await using m = await modern();
  assert.deepEqual(await m.s.supervisor.call("mcp-modern", "ping"), { status: "ok" });
  const { pid } = m.s.supervisor.plugin("mcp-modern");
  await (await m.s.supervisor.replace("mcp-modern")).commit(); // The open request is no call that is waited for.
  assert.notEqual(m.s.supervisor.plugin("mcp-modern").pid, pid);
  assert.equal(m.s.types().includes("plugin.health_fail"), false);
});
