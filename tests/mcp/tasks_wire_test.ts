import assert from "node:assert/strict";
import { test } from "node:test";
import type { McpTransport } from "../../src/core/mcp/sdk_types.ts";
import { serveHost } from "../../src/mcp/serve_host.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { memoryWire } from "../support/mcp_client.ts";
import { until } from "../support/until.ts";

type Json = Record<string, unknown>;

interface Answer {
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Json };
}

const EXTENSION = "io.modelcontextprotocol/tasks";
const SERVER = { primary: { server: {} }, fixtures: { "@test/server": "mcp_task_tools" } };

/** A client that sends what the test says, and nothing else. */
async function rawClient({ host }: Hosted): Promise<(method: string, params?: Json) => Promise<Answer>> {
  const { id: session } = host.openSession();
  const [ours, wire] = memoryWire() as [McpTransport, McpTransport];
  await serveHost({ host, agent: "primary", session, transport: ours, hooks: false });
  const waiting = new Map<unknown, (answer: Answer) => void>();
  wire.onmessage = (message: Answer & { id?: unknown }) => waiting.get(message.id)?.(message);
  await wire.start();
  let id = 0;
  return async (method, params = {}) => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(++id, resolve);
    await wire.send({ jsonrpc: "2.0", id, method, params });
    return await promise;
  };
}

async function legacyClient(h: Hosted): ReturnType<typeof rawClient> {
  const send = await rawClient(h);
  const clientInfo = { name: "test", version: "1.0.0" };
  const { result } = await send("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  assert.deepEqual((result?.capabilities as Json).tasks, { list: {}, cancel: {}, requests: { tools: { call: {} } } });
  return send;
}

async function modernClient(h: Hosted, extensions: Json = { [EXTENSION]: {} }): ReturnType<typeof rawClient> {
  const send = await rawClient(h);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": { elicitation: {}, extensions },
  };
  const modern: typeof send = (method, params) => send(method, { ...params, _meta });
  const { result } = await modern("server/discover");
  const { extensions: offered, tasks } = result?.capabilities as Json;
  assert.deepEqual(offered, { [EXTENSION]: {} });
  assert.equal(tasks, undefined);
  return modern;
}

const call = (name: string, args: Json = {}, more: Json = {}) => ({
  name: `mcp-task-tools__${name}`,
  arguments: args,
  ...more,
});

test("N-030 a legacy client begins a task, follows it, and gets its result tied to the task", async () => {
  await using h = await hosted(SERVER);
  const send = await legacyClient(h);
  const { result } = await send("tools/call", call("may_be_task", { what: "tea" }, { task: { ttl: 60_000 } }));
  const { taskId, status, ttl } = result?.task as Json;
  assert.equal(status, "working");
  assert.equal(typeof ttl, "number");
  const ended = await send("tasks/result", { taskId });
  assert.deepEqual(ended.result?.content, [{ type: "text", text: "tea" }]);
  assert.deepEqual((ended.result?._meta as Json)["io.modelcontextprotocol/related-task"], { taskId });
  assert.equal((await send("tasks/get", { taskId })).result?.status, "completed");
  assert.deepEqual(((await send("tasks/list")).result?.tasks as Json[]).map((task) => task.taskId), [taskId]);
});

test("N-030 a tool that can be no task refuses one, and an unknown task is said to be unknown", async () => {
  await using h = await hosted(SERVER);
  const send = await legacyClient(h);
  assert.equal((await send("tools/call", call("plain", {}, { task: {} }))).error?.code, -32601);
  assert.equal((await send("tasks/get", { taskId: "job_nobody" })).error?.code, -32602);
});

test("N-030 a legacy client cancels a task, and its result is an error then", async () => {
  await using h = await hosted(SERVER);
  const send = await legacyClient(h);
  const { result } = await send("tools/call", call("never", {}, { task: {} }));
  const { taskId } = result?.task as Json;
  assert.equal((await send("tasks/cancel", { taskId })).result?.status, "cancelled");
  assert.match((await send("tasks/result", { taskId })).error?.message ?? "", /cancelled/);
});

test("N-030 for a modern client that knows tasks the tool decides, and the result is in tasks/get", async () => {
  await using h = await hosted(SERVER);
  const send = await modernClient(h);
  const plain = await send("tools/call", call("plain"));
  assert.equal(plain.result?.resultType, "complete");
  const { result } = await send("tools/call", call("may_be_task", { what: "tea" }));
  assert.equal(result?.resultType, "task");
  const { taskId } = result as { taskId: string };
  const ended = await until(
    async () => {
      const { result: task } = await send("tasks/get", { taskId });
      return task?.status === "completed" ? task : undefined;
    },
    "the end of the task",
    "turn",
  );
  assert.deepEqual((ended?.result as Json).content, [{ type: "text", text: "tea" }]);
  assert.equal(ended?.resultType, "complete");
  assert.equal((await send("tasks/result", { taskId })).error?.code, -32601);
});

test("N-030 a modern client that does not know tasks gets plain results, and no task", async () => {
  await using h = await hosted(SERVER);
  const send = await modernClient(h, {});
  const { result } = await send("tools/call", call("may_be_task", { what: "tea" }));
  assert.equal(result?.resultType, "complete");
  const { error } = await send("tasks/get", { taskId: "x" });
  assert.equal(error?.code, -32021);
  assert.deepEqual(error?.data?.requiredCapabilities, { extensions: { [EXTENSION]: {} } });
});

test("N-030 a task that waits for a yes asks its client, which answers with tasks/update", async () => {
  const config = '[[tool_rules]]\ntool = "mcp-task-tools.may_be_task"\ndecision = "ask"\n';
  await using h = await hosted({ ...SERVER, config });
  const send = await modernClient(h);
  const { taskId } = (await send("tools/call", call("may_be_task", { what: "tea" }))).result as { taskId: string };
  const asking = await until(
    async () => {
      const { result } = await send("tasks/get", { taskId });
      return result?.status === "input_required" ? result : undefined;
    },
    "a question",
    "turn",
  );
  const [[key, request]] = Object.entries(asking?.inputRequests as Record<string, Json>) as [[string, Json]];
  assert.equal(request.method, "elicitation/create");
  const inputResponses = { [key]: { action: "accept", content: { decision: "allow" } } };
  assert.equal((await send("tasks/update", { taskId, inputResponses })).result?.resultType, "complete");
  await h.host.jobs.finished(taskId);
  assert.equal((await send("tasks/get", { taskId })).result?.status, "completed");
});
