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
async function rawClient(
  { host }: Hosted,
  onRequest: (request: Json) => Json = () => ({}),
): Promise<(method: string, params?: Json) => Promise<Answer>> {
  const { id: session } = host.openSession();
  const [ours, wire] = memoryWire() as [McpTransport, McpTransport];
  await serveHost({ host, agent: "primary", session, transport: ours, hooks: false });
  const waiting = new Map<unknown, (answer: Answer) => void>();
  wire.onmessage = (message: Answer & { id?: unknown; method?: string }) => {
    if (message.method === undefined) waiting.get(message.id)?.(message);
    else if (message.id !== undefined) {
      void wire.send({ jsonrpc: "2.0", id: message.id, result: onRequest(message as Json) } as never);
    }
  };
  await wire.start();
  let id = 0;
  return async (method, params = {}) => {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(++id, resolve);
    await wire.send({ jsonrpc: "2.0", id, method, params });
    return await promise;
  };
}

async function legacyClient(
  h: Hosted,
  capabilities: Json = {},
  onRequest?: (request: Json) => Json,
): ReturnType<typeof rawClient> {
  const send = await rawClient(h, onRequest);
  const clientInfo = { name: "test", version: "1.0.0" };
  const { result } = await send("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
  assert.deepEqual((result?.capabilities as Json).tasks, { list: {}, cancel: {}, requests: { tools: { call: {} } } });
  return send;
}

async function modernClient(
  h: Hosted,
  extensions: Json = { [EXTENSION]: {} },
  elicitation: Json = { elicitation: {} },
): ReturnType<typeof rawClient> {
  const send = await rawClient(h);
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": { ...elicitation, extensions },
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
  assert.deepEqual([result?.resultType, result?.content], ["task", undefined]);
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

const OFFERED = { ...SERVER, mcp: { offers: ["elicitation"] } } as const;

/** Waits until a task is of a status, and returns it. */
async function taskThatIs(send: Awaited<ReturnType<typeof rawClient>>, taskId: unknown, status: string): Promise<Json> {
  const look = async (): Promise<Json | null> => {
    const { result } = await send("tasks/get", { taskId });
    if (["completed", "failed", "cancelled"].includes(String(result?.status))) assert.equal(result?.status, status);
    return result?.status === status ? result : null;
  };
  return await until(look, `a task that is ${status}`, "turn") as Json;
}

test("N-030 forms of a caged server in a task are in tasks/get, and go on one by one with tasks/update", async () => {
  await using h = await hosted(OFFERED);
  const send = await modernClient(h);
  const { taskId } = (await send("tools/call", call("asks_twice"))).result as { taskId: string };
  const both = async (): Promise<[string, Json][]> => {
    const { result } = await send("tasks/get", { taskId });
    return Object.entries(result?.inputRequests as Record<string, Json> ?? {});
  };
  await until(async () => (await both()).length === 2, "two forms", "turn");
  const answers: Json = {};
  for (const [key, { method, params }] of await both()) {
    assert.equal(method, "elicitation/create");
    const { requestedSchema, message } = params as { requestedSchema: { properties: Json }; message: string };
    const [title] = Object.keys(requestedSchema.properties) as [string];
    assert.equal(message, `mcp-task-tools asks: Which ${title}?`);
    answers[key] = { action: "accept", content: { [title]: "green" } };
  }
  const [first, second] = Object.keys(answers) as [string, string];
  const wrong = await send("tasks/update", { taskId, inputResponses: { [first]: { action: "accept", content: {} } } });
  assert.match(wrong.error?.message ?? "", /required/, "a form that is not filled in");
  await send("tasks/update", { taskId, inputResponses: { [first]: answers[first] } });
  assert.deepEqual((await both()).map(([key]) => key), [second]);
  await send("tasks/update", { taskId, inputResponses: { [second]: answers[second], other: {} } });
  const { result } = await taskThatIs(send, taskId, "completed") as { result: { content: { text: string }[] } };
  assert.deepEqual(JSON.parse(result.content[0]!.text), [
    { action: "accept", content: { tea: "green" } },
    { action: "accept", content: { cup: "green" } },
  ]);
});

test("N-030 a form in a task of a client that takes none waits at the desk, and the task works on", async () => {
  await using h = await hosted(OFFERED);
  const send = await modernClient(h, undefined, {});
  const { taskId } = (await send("tools/call", call("asks"))).result as { taskId: string };
  const request = await until(async () => (await h.host.approvals.list()).items[0], "a request at the desk");
  const { result } = await send("tasks/get", { taskId });
  assert.deepEqual([result?.status, result?.inputRequests], ["working", undefined]);
  await h.host.approvals.answer(request!.id, { decision: "deny" });
  const ended = await taskThatIs(send, taskId, "completed");
  assert.match(JSON.stringify(ended.result), /decline/);
});

for (const isEarly of [true, false]) {
  const when = isEarly ? "before the form came" : "after the form came";
  test(`N-030 a legacy client that asked for a task's result ${when} is asked for the form, tied to the task`, async () => {
    await using h = await hosted(OFFERED);
    const asked: Json[] = [];
    const send = await legacyClient(h, { elicitation: {} }, (request) => {
      asked.push(request);
      return { action: "accept", content: { tea: "green" } };
    });
    const { result } = await send("tools/call", call("asks", {}, { task: {} }));
    const { taskId } = result?.task as Json;
    if (!isEarly) await taskThatIs(send, taskId, "input_required");
    const ending = send("tasks/result", { taskId });
    await until(() => asked.length > 0, "the form at the client");
    const ended = await ending;
    assert.deepEqual(JSON.parse((ended.result?.content as { text: string }[])[0]!.text), [
      { action: "accept", content: { tea: "green" } },
    ]);
    const [{ method, params }] = asked as [{ method: string; params: Json }];
    assert.deepEqual([asked.length, method, params.message], [
      1,
      "elicitation/create",
      "mcp-task-tools asks: Which tea?",
    ]);
    assert.deepEqual(params._meta, { "io.modelcontextprotocol/related-task": { taskId } });
  });
}

test("N-030 an error of the server is a task that has failed, in both eras", async () => {
  await using h = await hosted(SERVER);
  const modern = await modernClient(h);
  const { taskId } = (await modern("tools/call", call("errs"))).result as { taskId: string };
  const { error, result } = await taskThatIs(modern, taskId, "failed");
  assert.deepEqual([(error as Json).code, (error as Json).message, result], [-32603, "Out of paper", undefined]);
  const legacy = await legacyClient(h);
  const begun = (await legacy("tools/call", call("errs", {}, { task: {} }))).result as { task: Json };
  assert.equal((await legacy("tasks/result", { taskId: begun.task.taskId })).error?.message, "Out of paper");
});
