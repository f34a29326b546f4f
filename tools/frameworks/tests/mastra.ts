import assert from "node:assert/strict";
import { test } from "node:test";
import { Agent } from "@mastra/core/agent";
import type { MastraDBMessage } from "@mastra/core/agent/message-list";
import type { MastraModelConfig } from "@mastra/core/llm";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { RequestContext } from "@mastra/core/request-context";
import { createTool, noopObserve } from "@mastra/core/tools";
import { convertArrayToReadableStream } from "ai/test";
import {
  compact,
  kagedDelegation,
  kagedProcessor,
  kagedTools,
  type ToolProgress,
} from "../../../src/frameworks/mastra.ts";
import type { Session } from "../../../src/host/types.ts";
import { until } from "../../../tests/support/until.ts";
import { frameworkHost, heardSteps } from "../../../tests/support/frameworks.ts";
import { hosted } from "../../../tests/support/hosted.ts";

const HELPER = "primary.subagents.helper";

type Call = { name: string; args?: Record<string, unknown>; id?: string };
type Model = Extract<MastraModelConfig, { specificationVersion: "v2" }>;
type Prompt = Parameters<Model["doStream"]>[0]["prompt"];

/** The model that Mastra is given, and what it was asked. */
interface MockModel {
  readonly model: Model;
  readonly asked: Parameters<Model["doStream"]>[0][];
}

/** A model that makes the calls of each step, then says the last result it read. */
function modelThatCalls(...steps: (Call | Call[])[]): MockModel {
  const asked: MockModel["asked"] = [];
  const model: Model = {
    specificationVersion: "v2",
    provider: "mock",
    modelId: "mock",
    supportedUrls: {},
    doGenerate: (): Promise<never> => Promise.reject(new Error("The tests stream")),
    doStream: (options) => {
      const step = asked.push(options) - 1;
      const calls = [steps[step] ?? []].flat();
      const parts = calls.length > 0
        ? calls.map(({ name, args = {}, id = `call-${step}` }) => ({
          type: "tool-call" as const,
          toolCallId: id,
          toolName: name.startsWith("agent-") ? name : `toolbox__${name}`,
          input: JSON.stringify(args),
        }))
        : [
          { type: "text-start" as const, id: "t" },
          { type: "text-delta" as const, id: "t", delta: `Read: ${JSON.stringify(resultsIn(options.prompt).at(-1))}` },
          { type: "text-end" as const, id: "t" },
        ];
      const finishReason = calls.length > 0 ? "tool-calls" : "stop";
      const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
      const stream = convertArrayToReadableStream([
        { type: "stream-start" as const, warnings: [] },
        ...parts,
        { type: "finish" as const, finishReason, usage } as const,
      ]);
      return Promise.resolve({ stream });
    },
  };
  return { model, asked };
}

/** The results of tools as a model was given them. */
function resultsIn(prompt: Prompt) {
  return prompt.flatMap((message) => message.role === "tool" ? message.content : []).map(({ output }) => output);
}

interface AgentOptions {
  readonly model: Model;
  readonly agent?: string;
  readonly approval?: "framework" | "host";
  readonly onProgress?: (report: ToolProgress) => void;
}

function agentOf(session: Session, { model, ...options }: AgentOptions): Agent {
  return new Agent({
    id: "tester",
    name: "Tester",
    instructions: "You are helpful.",
    model,
    tools: kagedTools(session, { createTool, ...options }),
    inputProcessors: [kagedProcessor(session, options.agent === undefined ? {} : { agent: options.agent })],
  });
}

/** Runs an agent whose model calls one tool, and returns the result as the model was given it. */
async function outputOf(session: Session, name: string, args: Record<string, unknown> = {}) {
  const { model, asked } = modelThatCalls({ name, args });
  const stream = await agentOf(session, { model }).stream("Go");
  await stream.consumeStream();
  return resultsIn(asked.at(-1)!.prompt)[0]!;
}

test("N-034 Mastra: an agent calls a plugin's tool by a safe name, with data for the program, and hooks fire once", async () => {
  await using h = await frameworkHost();
  const fired: string[] = [];
  h.host.hooks.register("PreToolUse", ({ tool }) => void fired.push(`pre ${tool!.name}`));
  h.host.hooks.register("PostToolUse", ({ tool }) => void fired.push(`post ${tool!.name}`));
  const { model } = modelThatCalls({ name: "add", args: { a: 1, b: 2 } });
  const stream = await agentOf(h.session, { model }).stream("Add");
  assert.equal(await stream.text, 'Read: {"type":"text","value":"{\\"sum\\":3}"}');
  const [{ payload: { toolName, result } }] = await stream.toolResults as [
    { payload: { toolName: string; result: unknown } },
  ];
  assert.deepEqual([toolName, (result as { structured: unknown }).structured], ["toolbox__add", { sum: 3 }]);
  assert.deepEqual(fired, ["pre toolbox.add", "post toolbox.add"]);
});

test("N-034 Mastra: the model is given JSON Schemas, and the gate checks arguments, not Mastra", async () => {
  await using h = await frameworkHost();
  const { model, asked } = modelThatCalls();
  await (await agentOf(h.session, { model }).stream("Hello")).consumeStream();
  const tools = asked[0]!.tools!;
  assert.ok(tools.every(({ name }) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)));
  const add = tools.find(({ name }) => name === "toolbox__add")! as { inputSchema: { required?: string[] } };
  assert.deepEqual(add.inputSchema.required, ["a", "b"]);
  const { type, value } = await outputOf(h.session, "add", { a: "x" });
  assert.deepEqual([type, String(value).slice(0, 29)], ["error-text", "error[tool.arguments_invalid]"]);
});

test("N-034 Mastra: pictures, sounds and files are parts of the result that the model is given", async () => {
  await using h = await frameworkHost();
  const partsOf = async (name: string) => {
    const { type, value } = await outputOf(h.session, name);
    assert.equal(type, "content");
    return (value as Record<string, unknown>[]).map(({ type, text, mediaType }) => [type, text ?? mediaType]);
  };
  assert.deepEqual(await partsOf("picture"), [["text", "A pixel"], ["media", "image/png"]]);
  assert.deepEqual(await partsOf("sound"), [["media", "audio/wav"]]);
  assert.deepEqual(await partsOf("paper"), [
    ["media", "application/pdf"],
    ["text", "[more](https://example.com/more)"],
  ]);
});

test("N-034 Mastra: a call that fails, is denied or is blocked is an error the model reads, and the run goes on", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("PreToolUse", ({ tool }) => {
    if (tool!.name === "toolbox.steps") return { action: "block", reason: "not on Sundays" };
  });
  const said = async (name: string) => {
    const { type, value } = await outputOf(h.session, name);
    return `${type} ${value}`;
  };
  assert.equal(await said("fail"), "error-text error[plugin.error]: The disk is full");
  assert.match(await said("secret"), /^error-text error\[tool\.denied\]/);
  assert.match(await said("steps"), /^error-text error\[tool\.blocked\].*not on Sundays/);
});

test("N-034 Mastra: the signal of a run ends the call", async () => {
  await using h = await frameworkHost();
  const controller = new AbortController();
  const { model, asked } = modelThatCalls({ name: "wait" });
  const agent = agentOf(h.session, { model, onProgress: () => controller.abort(new Error("enough")) });
  const stream = await agent.stream("Wait", { abortSignal: controller.signal });
  await stream.consumeStream();
  const { method, success } = (await h.next("plugin.method_returned")).data;
  assert.deepEqual([method, success], ["toolbox.wait", false]);
  assert.equal(asked.length, 1);
});

test("N-034 Mastra: progress is a chunk of the stream, with the tool's name and the call's id", async () => {
  await using h = await frameworkHost();
  const { model } = modelThatCalls({ name: "steps" });
  const chunks: ToolProgress[] = [];
  for await (const chunk of (await agentOf(h.session, { model }).stream("Go")).fullStream) {
    if (chunk.type === "data-tool-progress") chunks.push((chunk as unknown as { data: ToolProgress }).data);
  }
  assert.deepEqual(chunks.map(({ tool, toolCallId }) => [tool, toolCallId]), [["toolbox__steps", "call-0"]]);
  assert.equal((chunks[0]!.progress as { message: string }).message, "done soon");
});

/** The host's own way to ask, which no call should come to where the framework asks. */
const REFUSES = () => ({ decision: "deny" as const });

/** An agent whose runs can be suspended, and its stream up to there. */
function askingAgent(session: Session, { model }: MockModel, storage = new InMemoryStore()) {
  const agent = agentOf(session, { model });
  new Mastra({ agents: { tester: agent }, storage, logger: false });
  return {
    agent,
    async start() {
      const stream = await agent.stream("Erase");
      const asked: { toolCallId: string; toolName: string; args: unknown }[] = [];
      for await (const chunk of stream.fullStream) {
        if (chunk.type === "tool-call-approval") {
          const { toolCallId, toolName, args } = chunk.payload;
          asked.push({ toolCallId, toolName, args });
        }
      }
      return { runId: stream.runId, asked };
    },
  };
}

const ERASE = { name: "erase", args: { path: "a" } };

test("N-034 Mastra: a call that asks suspends the run, a yes has it made, and hooks fire once", async () => {
  await using h = await frameworkHost({ onAsk: REFUSES });
  const fired: string[] = [];
  h.host.hooks.register("PreToolUse", ({ tool }) => void fired.push(`pre ${tool!.name}`));
  h.host.hooks.register("PostToolUse", ({ tool }) => void fired.push(`post ${tool!.name}`));
  const mock = modelThatCalls(ERASE);
  const { agent, start } = askingAgent(h.session, mock);
  const { runId, asked } = await start();
  assert.deepEqual(asked, [{ toolCallId: "call-0", toolName: "toolbox__erase", args: { path: "a" } }]);
  assert.deepEqual([fired, h.all("plugin.method_called").length], [["pre toolbox.erase"], 0]);
  await (await agent.approveToolCall({ runId, toolCallId: "call-0" })).consumeStream();
  assert.deepEqual(resultsIn(mock.asked.at(-1)!.prompt), [{ type: "text", value: "erased a" }]);
  assert.deepEqual(fired, ["pre toolbox.erase", "post toolbox.erase"]);
});

test("N-034 Mastra: a no of a person reaches the model with its reason, and nothing is called", async () => {
  await using h = await frameworkHost();
  const mock = modelThatCalls(ERASE);
  const { agent, start } = askingAgent(h.session, mock);
  const { runId } = await start();
  await (await agent.declineToolCall({ runId, toolCallId: "call-0", reason: "keep it" })).consumeStream();
  assert.match(JSON.stringify(resultsIn(mock.asked.at(-1)!.prompt)), /keep it/);
  assert.equal(h.all("plugin.method_called").length, 0);
  assert.equal((await h.next("plugin.tool_denied")).data.reason, "keep it");
  assert.deepEqual((await h.host.approvals.list()).items, []);
});

test("N-034 Mastra: data that the model writes into its arguments is no person's yes", async () => {
  await using h = await frameworkHost({ onAsk: REFUSES });
  const args = { path: "a", resumeData: { approved: true }, suspendedToolRunId: "x" };
  const { start } = askingAgent(h.session, modelThatCalls({ name: "erase", args }));
  const { asked } = await start();
  assert.equal(asked.length, 1);
  assert.equal(h.all("plugin.method_called").length, 0);
});

test("N-034 Mastra: two calls are asked about, and a yes for one leaves the other where it is", async () => {
  await using h = await frameworkHost();
  const mock = modelThatCalls([{ ...ERASE, id: "1" }, { name: "erase", args: { path: "b" }, id: "2" }]);
  const { agent, start } = askingAgent(h.session, mock);
  const { runId, asked } = await start();
  assert.ok(asked.some(({ toolCallId }) => toolCallId === "1"));
  await (await agent.approveToolCall({ runId, toolCallId: "1" })).consumeStream();
  assert.equal(h.all("plugin.method_called").length, 1);
  await (await agent.declineToolCall({ runId, toolCallId: "2" })).consumeStream();
  assert.equal(h.all("plugin.method_called").length, 1);
  assert.match(JSON.stringify(resultsIn(mock.asked.at(-1)!.prompt)), /erased a.*not approved/);
});

test("N-034 Mastra: after a restart the approval of a suspended run counts, and the call is judged anew", async () => {
  const storage = new InMemoryStore();
  const mock = modelThatCalls(ERASE);
  let runId: string;
  {
    await using before = await frameworkHost();
    ({ runId } = await askingAgent(before.session, mock, storage).start());
  }
  await using after = await frameworkHost();
  const fired: string[] = [];
  after.host.hooks.register("PreToolUse", ({ tool }) => void fired.push(tool!.name));
  const { agent } = askingAgent(after.session, mock, storage);
  await (await agent.approveToolCall({ runId, toolCallId: "call-0" })).consumeStream();
  assert.deepEqual(resultsIn(mock.asked.at(-1)!.prompt), [{ type: "text", value: "erased a" }]);
  assert.deepEqual(fired, ["toolbox.erase"]);
});

test("N-034 Mastra: outside of an agent, and with approval host, the host's front ends ask", async () => {
  let count = 0;
  await using h = await frameworkHost({
    onAsk: () => {
      count++;
      return { decision: "allow" as const };
    },
  });
  const { model, asked } = modelThatCalls(ERASE);
  await (await agentOf(h.session, { model, approval: "host" }).stream("Erase")).consumeStream();
  assert.deepEqual(resultsIn(asked.at(-1)!.prompt), [{ type: "text", value: "erased a" }]);
  assert.equal(count, 1);
  const erase = kagedTools(h.session, { createTool })["toolbox__erase"]!;
  assert.ok(typeof erase.requireApproval === "function" && await erase.requireApproval({ path: "b" }));
  const requestContext = new RequestContext();
  await erase.execute!({ path: "b" }, { requestContext, observe: noopObserve });
  assert.equal(count, 2);
});

test("N-034 Mastra: a subagent calls its own tools, under its own path", async () => {
  await using h = await frameworkHost();
  const { model: helperModel } = modelThatCalls({ name: "add", args: { a: 2, b: 3 } });
  const helper = new Agent({
    id: "helper",
    name: "Helper",
    description: "Adds numbers",
    instructions: "You add.",
    model: helperModel,
    tools: kagedTools(h.session, { createTool, agent: HELPER }),
    inputProcessors: [kagedProcessor(h.session, { agent: HELPER })],
  });
  const { model } = modelThatCalls({ name: "agent-helper", args: { prompt: "2 + 3" } });
  const agent = new Agent({ id: "boss", name: "Boss", instructions: "Delegate.", model, agents: { helper } });
  const stream = await agent.stream("Go");
  assert.match(await stream.text, /sum.*5/);
  assert.deepEqual(h.all("plugin.method_called").map(({ data }) => data.agent_path), [HELPER]);
});

test("N-034 Mastra: the first call of the model starts the session, and plugins' text stands before the instructions", async () => {
  await using h = await frameworkHost();
  let starts = 0;
  h.host.hooks.register("SessionStart", () => {
    starts++;
    return { action: "injectContext", additionalContext: ["Ada likes tea."] };
  });
  const { model, asked } = modelThatCalls({ name: "add", args: { a: 1, b: 2 } });
  await (await agentOf(h.session, { model }).stream("Go")).consumeStream();
  assert.equal(starts, 1);
  assert.equal(asked.length, 2);
  for (const { prompt } of asked) {
    assert.match(String(prompt[0]!.content), /^[^]*Ada likes tea\.[^]*You are helpful\.$/);
    assert.deepEqual(prompt.map(({ role }) => role).filter((role) => role === "system").length, 1);
  }
});

test("N-034 Mastra: a start that a handler blocked ends the run before the model is called", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("SessionStart", () => ({ action: "block", reason: "closed today" }));
  const { model, asked } = modelThatCalls();
  const stream = await agentOf(h.session, { model }).stream("Go");
  await stream.consumeStream();
  assert.match(stream.tripwire!.reason, /closed today/);
  assert.equal(asked.length, 0);
});

/** A conversation of turns, each with a call of a tool, as Mastra's memory keeps it. */
function longTalk(turns: number): MastraDBMessage[] {
  const at = (
    role: "user" | "assistant",
    index: number,
    parts: MastraDBMessage["content"]["parts"],
  ): MastraDBMessage => ({
    id: `m-${index}`,
    role,
    createdAt: new Date(1000 * index),
    content: { format: 2, parts },
  });
  return Array.from({ length: turns }, (_, turn) => {
    const toolInvocation = {
      state: "result" as const,
      toolCallId: `old-${turn}`,
      toolName: "toolbox__add",
      args: { a: turn, b: 1 },
      result: { sum: turn + 1 },
    };
    return [
      at("user", 2 * turn, [{ type: "text", text: `Question ${turn} ${"x".repeat(200)}` }]),
      at("assistant", 2 * turn + 1, [{ type: "tool-invocation", toolInvocation }, {
        type: "text",
        text: `Answer ${turn}`,
      }]),
    ];
  }).flat();
}

test("N-035 Mastra: compact() takes and returns messages of Mastra's memory, the objects themselves", async () => {
  await using h = await frameworkHost();
  const messages = longTalk(12);
  const { messages: window }: { messages: MastraDBMessage[] } = await compact(h.session, messages, {
    targetTokens: 300,
  });
  assert.ok(window.length > 0 && window.length < messages.length);
  assert.equal(window.at(-1), messages.at(-1));
  assert.ok(window.every((message) => messages.includes(message)));
});

/** A project whose compactions add a summary. */
const SUMMARIZES = {
  yaml: {
    primary: {
      plugins: { toolbox: { package: "@test/toolbox" } },
      compaction: { strategy: "summarize", keep_last: 2 },
    },
  },
  summarize: () => Promise.resolve("All was said"),
};

test("N-035 Mastra: what a compaction adds is a message as Mastra's memory keeps it, and a message of the prompt", async () => {
  await using h = await frameworkHost(SUMMARIZES);
  const messages = longTalk(12);
  const { messages: window } = await compact(h.session, messages, { targetTokens: 300 });
  const [added, ...others] = window.filter((message) => !messages.includes(message));
  assert.match(JSON.stringify(added!.content.parts), /All was said/);
  assert.deepEqual([others, added!.role, added!.createdAt instanceof Date], [[], "user", true]);
  const { model, asked } = modelThatCalls();
  const agent = new Agent({
    id: "tester",
    name: "Tester",
    instructions: "You are helpful.",
    model,
    inputProcessors: [kagedProcessor(h.session, { maxTokens: 600, targetTokens: 300 })],
  });
  await (await agent.stream([...messages, { role: "user", content: "And now?" }])).consumeStream();
  assert.deepEqual(asked[0]!.prompt.slice(0, 2).map(({ role }) => role), ["system", "user"]);
  assert.match(JSON.stringify(asked[0]!.prompt[1]), /All was said/);
});

test("N-035 Mastra: in a long conversation each call of the model sees a fitted window, with calls and results together", async () => {
  await using h = await frameworkHost();
  const { model, asked } = modelThatCalls({ name: "add", args: { a: 1, b: 2 } });
  const agent = new Agent({
    id: "tester",
    name: "Tester",
    instructions: "You are helpful.",
    model,
    tools: kagedTools(h.session, { createTool }),
    inputProcessors: [kagedProcessor(h.session, { maxTokens: 600, targetTokens: 300 })],
  });
  const talk = longTalk(12);
  await (await agent.stream([...talk, { role: "user", content: "And now?" }])).consumeStream();
  assert.equal(asked.length, 2);
  for (const { prompt } of asked) {
    assert.equal(prompt[0]!.role, "system");
    assert.ok(prompt.length < talk.length, `${prompt.length} messages`);
    const called = prompt.flatMap((message) => message.role === "assistant" ? message.content : [])
      .flatMap((part) => part.type === "tool-call" ? [part.toolCallId] : []);
    const answered = prompt.flatMap((message) => message.role === "tool" ? message.content : [])
      .map(({ toolCallId }) => toolCallId);
    assert.deepEqual(answered.filter((id) => !called.includes(id)), []);
  }
  assert.equal(h.all("compaction.completed").length, 1);
});

test("N-035 Mastra: every message of a run reaches the idle hook once, the last answer included", async () => {
  await using h = await hosted({
    primary: { toolbox: {}, remembers: {} },
    fixtures: { "@test/toolbox": "toolbox", "@test/remembers": "remembers" },
  });
  const session = h.host.openSession();
  const { model } = modelThatCalls({ name: "add", args: { a: 1, b: 2 } });
  const agent = agentOf(session, { model });
  const first = await agent.stream("Go");
  await first.consumeStream();
  const talk = first.messageList.get.all.db();
  await (await agent.stream([...talk, { role: "user", content: "And now?" }])).consumeStream();
  await session.idle();
  const { output } = await session.callTool("remembers.recall", {});
  // The plugin keeps messages of text alone, so not the call and its result.
  const again = 'Read: {"type":"text","value":"{\\"sum\\":3}"}';
  assert.deepEqual(output, { text: `Go\n${again}\nAnd now?\n${again}` });
});

test("T-005 T-001b Mastra: answers of models are model:call, work for another agent is delegate:start and delegate:end", async () => {
  await using h = await frameworkHost({ events: { level: "trace" } });
  const heard = heardSteps(h.host);
  const helper = new Agent({
    id: "helper",
    name: "Helper",
    description: "Helps",
    instructions: "Help.",
    model: modelThatCalls().model,
    inputProcessors: [kagedProcessor(h.session, { agent: HELPER })],
  });
  const { model } = modelThatCalls({ name: "agent-helper", args: { prompt: "Please help" }, id: "call-help" });
  const agent = new Agent({
    id: "boss",
    name: "Boss",
    instructions: "Delegate.",
    model,
    agents: { helper },
    inputProcessors: [kagedProcessor(h.session)],
  });
  const delegation = kagedDelegation(h.session, { agents: { helper: HELPER } });
  await (await agent.stream("Go", { delegation })).consumeStream();
  await until(() => heard.length === 5, "the events of three answers and one delegation");
  const conversationId = h.session.id;
  const call = { event: "model:call", model: "mock", promptTokens: 1, completionTokens: 1, conversationId };
  const handed = { parentAgent: "primary", childAgent: HELPER, conversationId };
  assert.deepEqual(heard, [
    { ...call, agentName: "primary" },
    { event: "delegate:start", ...handed, input: "Please help" },
    { ...call, agentName: HELPER },
    { event: "delegate:end", ...handed, output: "Read: undefined" },
    { ...call, agentName: "primary" },
  ]);
});
