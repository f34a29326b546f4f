import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../src/core/errors/host_error.ts";
import { sdkMissing } from "../../src/core/mcp/load_sdk.ts";
import { serveHost } from "../../src/mcp/serve_host.ts";
import { errorAnswer, toolAnswer } from "../../src/mcp/tool_answer.ts";
import { driftingServer, listedTool } from "../support/drifting_server.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { memoryWire, newClient, onToolsChanged, type TestClient } from "../support/mcp_client.ts";
import { until } from "../support/until.ts";

/** A client of the primary of `h`, and a count of how often it was told that the tools changed. */
async function clientOf(
  h: Hosted,
): Promise<{ client: TestClient; names(): Promise<string[]>; changed(): Promise<void> }> {
  const { id: session } = h.host.openSession();
  const [ours, theirs] = memoryWire();
  await serveHost({ host: h.host, agent: "primary", session, transport: ours, hooks: false });
  const client = newClient();
  await client.connect(theirs);
  let changes = 0;
  let seen = 0;
  onToolsChanged(client, () => changes++);
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    async changed() {
      await until(() => changes !== seen, "a change of tools", "turn");
      seen = changes;
    },
  };
}

const text = (text: string) => [{ type: "text", text }];

test("D-008 a client hears when a plugin goes and when it comes back", async () => {
  await using h = await hosted({ primary: { memory: {} }, fixtures: { "@test/memory": "answers_hooks" } });
  const { names, changed } = await clientOf(h);
  assert.deepEqual(await names(), ["answers-hooks__look", "answers-hooks__ask"]);
  await h.host.disable("answers-hooks");
  await changed();
  assert.deepEqual(await names(), []);
  await h.host.enable("answers-hooks");
  await changed();
  assert.deepEqual(await names(), ["answers-hooks__look", "answers-hooks__ask"]);
});

test("D-008 a client hears when a caged MCP server lists other tools", async () => {
  await using h = await hosted({ primary: { server: {} }, fixtures: { "@test/server": "mcp_tools" } });
  const { client, names, changed } = await clientOf(h);
  await client.callTool({ name: "mcp-tools__grow" });
  await h.pass(5_000);
  await changed();
  assert.deepEqual(await names(), ["mcp-tools__say_it", "mcp-tools__count_words", "mcp-tools__grown"]);
});

test("N-032 a client has no quarantined tool, and hears of an approval", async (t) => {
  const server = await driftingServer(t, listedTool("add", "Adds"));
  const start = () => hosted({ home: server.home, primary: { drifts: {} } });
  await (await start())[Symbol.asyncDispose]();
  await server.list(listedTool("add", "Adds more"));
  await using h = await start();
  await h.next("plugin.tool_quarantined");
  const { client, names, changed } = await clientOf(h);
  assert.deepEqual(await names(), ["drifts__relist"]);
  const { isError, content } = await client.callTool({ name: "drifts__add" });
  assert.ok(isError && String(content[0]!.text).includes("tool.quarantined"), JSON.stringify(content));
  const [held] = h.host.view.quarantined("drifts");
  await h.host.approveTools("drifts", { add: held!.listed });
  await changed();
  assert.deepEqual(await names(), ["drifts__relist", "drifts__add"]);
});

test("D-008 calls that still run are cancelled when the client goes", async () => {
  await using h = await hosted({ primary: { server: {} }, fixtures: { "@test/server": "mcp_tools" } });
  const { client } = await clientOf(h);
  const { promise, resolve: onprogress } = Promise.withResolvers<unknown>();
  const call = client.callTool({ name: "mcp-tools__slow" }, undefined, { onprogress });
  await promise;
  await client.close();
  await assert.rejects(call);
  await h.logged(1);
  assert.equal(h.logs[0]?.line, "[info] cancelled");
});

test("D-008 toolAnswer() gives text, data beside it for an object, and MCP's own results as they are", () => {
  assert.deepEqual(toolAnswer("plain"), { content: text("plain") });
  assert.deepEqual(toolAnswer([1]), { content: text("[1]") });
  assert.deepEqual(toolAnswer(undefined), { content: text("null") });
  assert.deepEqual(toolAnswer({ a: 1 }), { content: text('{"a":1}'), structuredContent: { a: 1 } });
  const image = { type: "image", data: "aGk=", mimeType: "image/png" };
  assert.deepEqual(toolAnswer({ content: [image], isError: true, more: 1 }), { content: [image] });
  assert.deepEqual(toolAnswer({ content: "a field of its own" }).structuredContent, { content: "a field of its own" });
});

test("D-008 errorAnswer() says code, message and hint, and never a stack", () => {
  const error = new HostError("plugin.unavailable", "[BLOCKED] Down", { hint: "Wait", data: { instance: "x" } });
  assert.deepEqual(errorAnswer(error), {
    content: text("error[plugin.unavailable]: [BLOCKED] Down\nhint: Wait"),
    isError: true,
    _meta: {
      "kaged/error": { code: "plugin.unavailable", message: "[BLOCKED] Down", hint: "Wait", data: { instance: "x" } },
    },
  });
});

test("D-008 a host without the SDK says what to install", async () => {
  await assert.rejects(import("@modelcontextprotocol/" + "none").catch(sdkMissing()), {
    code: "mcp.sdk_missing",
    hint: /npm install @modelcontextprotocol\/server/,
  });
});
