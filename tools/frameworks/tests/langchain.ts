import assert from "node:assert/strict";
import { test } from "node:test";
import { Command, MemorySaver } from "@langchain/langgraph";
import {
  AIMessage,
  type BaseMessage,
  createAgent,
  DynamicStructuredTool,
  fakeModel,
  HumanMessage,
  SystemMessage,
  tool,
  ToolMessage,
} from "langchain";
import { z } from "zod";
import { compact, kagedMiddleware, kagedTools, type ToolProgress } from "../../../src/frameworks/langchain.ts";
import type { Session } from "../../../src/host/types.ts";
import { until } from "../../../tests/support/until.ts";
import { frameworkHost, heardSteps } from "../../../tests/support/frameworks.ts";
import { hosted } from "../../../tests/support/hosted.ts";

const HELPER = "primary.subagents.helper";

/** A model that calls one tool after another, then says what it read last. */
function modelThatCalls(...calls: { name: string; args?: Record<string, unknown>; id?: string }[]) {
  const model = fakeModel();
  for (const [index, { name, args = {}, id = `call-${index}` }] of calls.entries()) {
    model.respondWithTools([{ name: `toolbox__${name}`, args, id }]);
  }
  return model.respond((messages) => new AIMessage(`Read: ${messages.at(-1)!.text}`));
}

const toolsOf = (session: Session, options: { agent?: string; onProgress?: (report: ToolProgress) => void } = {}) =>
  kagedTools(session, { DynamicStructuredTool, ToolMessage, ...options });

const messagesOfTools = (messages: BaseMessage[]): ToolMessage[] =>
  messages.filter((one) => ToolMessage.isInstance(one));

/** Runs an agent whose model calls one tool, and returns the message of the tool. */
async function messageOf(session: Session, name: string, args: Record<string, unknown> = {}): Promise<ToolMessage> {
  const agent = createAgent({ model: modelThatCalls({ name, args }), tools: toolsOf(session) });
  const { messages } = await agent.invoke({ messages: "Go" });
  return messagesOfTools(messages)[0]!;
}

test("N-034 LangChain: an agent calls a plugin's tool by a safe name, and data is the message's artifact", async () => {
  await using h = await frameworkHost();
  const fired: string[] = [];
  h.host.hooks.register("PreToolUse", ({ tool }) => void fired.push(`pre ${tool!.name}`));
  h.host.hooks.register("PostToolUse", ({ tool }) => void fired.push(`post ${tool!.name}`));
  const model = modelThatCalls({ name: "add", args: { a: 1, b: 2 } });
  const agent = createAgent({ model, tools: toolsOf(h.session) });
  const { messages } = await agent.invoke({ messages: "Add" });
  const [{ content, artifact, status, name, tool_call_id }] = messagesOfTools(messages) as [ToolMessage];
  assert.deepEqual({ content, artifact, status, name, tool_call_id }, {
    content: '{"sum":3}',
    artifact: { sum: 3 },
    status: "success",
    name: "toolbox__add",
    tool_call_id: "call-0",
  });
  assert.equal(messages.at(-1)!.text, 'Read: {"sum":3}');
  assert.deepEqual(fired, ["pre toolbox.add", "post toolbox.add"]);
});

test("N-034 LangChain: the model is given JSON Schemas, and the gate checks arguments, not LangChain", async () => {
  await using h = await frameworkHost();
  const tools = toolsOf(h.session);
  assert.ok(tools.every(({ name }) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)));
  const { schema } = tools.find(({ name }) => name === "toolbox__add")!;
  assert.deepEqual((schema as { required?: string[] }).required, ["a", "b"]);
  const { status, content } = await messageOf(h.session, "add", { a: "x" });
  assert.deepEqual([status, String(content).slice(0, 29)], ["error", "error[tool.arguments_invalid]"]);
  assert.equal(await tools.find(({ name }) => name === "toolbox__add")!.invoke({ a: 2, b: 2 }), '{"sum":4}');
});

test("N-034 LangChain: pictures, sounds and files are blocks of the message", async () => {
  await using h = await frameworkHost();
  const blocksOf = async (name: string) => (await messageOf(h.session, name)).content as Record<string, unknown>[];
  const [text, picture] = await blocksOf("picture");
  assert.deepEqual(text, { type: "text", text: "A pixel" });
  assert.match(JSON.stringify(picture), /^{"type":"image_url","image_url":{"url":"data:image\/png;base64,iVBOR/);
  const [{ data, ...sound }] = await blocksOf("sound") as [Record<string, unknown>];
  assert.deepEqual([sound, typeof data], [{ type: "audio", source_type: "base64", mime_type: "audio/wav" }, "string"]);
  const paper = await messageOf(h.session, "paper");
  assert.deepEqual(paper.artifact, { pages: 1 });
  assert.deepEqual(paper.content, [
    {
      type: "file",
      source_type: "base64",
      mime_type: "application/pdf",
      data: "JVBERi0=",
      metadata: { filename: "paper.pdf" },
    },
    { type: "text", text: "[more](https://example.com/more)" },
  ]);
});

test("N-034 LangChain: a call that fails, is denied or is blocked is a message the model reads, and the run goes on", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("PreToolUse", ({ tool }) => {
    if (tool!.name === "toolbox.steps") return { action: "block", reason: "not on Sundays" };
  });
  const said = async (name: string) => {
    const { status, content } = await messageOf(h.session, name);
    return `${status} ${content}`;
  };
  assert.equal(await said("fail"), "error error[plugin.error]: The disk is full");
  assert.match(await said("secret"), /^error error\[tool\.denied\]/);
  assert.match(await said("steps"), /^error error\[tool\.blocked\].*not on Sundays/);
});

test("N-034 LangChain: the signal of a run ends the call, and the run rejects", async () => {
  await using h = await frameworkHost();
  const controller = new AbortController();
  const agent = createAgent({
    model: modelThatCalls({ name: "wait" }),
    tools: toolsOf(h.session, { onProgress: () => controller.abort(new Error("enough")) }),
  });
  await assert.rejects(agent.invoke({ messages: "Wait" }, { signal: controller.signal }));
  const { method, success } = (await h.next("plugin.method_returned")).data;
  assert.deepEqual([method, success], ["toolbox.wait", false]);
});

test("N-034 LangChain: progress goes to the custom stream, with the tool's name and the call's id", async () => {
  await using h = await frameworkHost();
  const agent = createAgent({ model: modelThatCalls({ name: "steps" }), tools: toolsOf(h.session) });
  const chunks: unknown[] = [];
  for await (const chunk of await agent.stream({ messages: "Go" }, { streamMode: "custom" })) chunks.push(chunk);
  assert.deepEqual(chunks.map((chunk) => ({ ...chunk as ToolProgress, progress: null })), [
    { type: "tool_progress", tool: "toolbox__steps", toolCallId: "call-0", progress: null },
  ]);
  assert.equal(((chunks[0] as ToolProgress).progress as { message: string }).message, "done soon");
});

/** The host's own way to ask, which no call should come to where the framework asks. */
const REFUSES = () => ({ decision: "deny" as const });

/** An agent that asks people by interrupts, and what became of its calls. */
function askingAgent(session: Session, model = modelThatCalls({ name: "erase", args: { path: "a" } })) {
  const agent = createAgent({
    model,
    tools: toolsOf(session),
    middleware: [kagedMiddleware(session, { HumanMessage })],
    checkpointer: new MemorySaver(),
  });
  const config = { configurable: { thread_id: "thread-1" } };
  return {
    start: () => agent.invoke({ messages: "Erase" }, config),
    resume: (resume: unknown) => agent.invoke(new Command({ resume }), config),
  };
}

const interruptsOf = (result: object) => (result as { __interrupt__?: { value: unknown }[] }).__interrupt__ ?? [];

test("N-034 LangChain: a call that asks interrupts the graph, a yes has it made, and hooks fire once", async () => {
  await using h = await frameworkHost({ onAsk: REFUSES });
  const fired: string[] = [];
  h.host.hooks.register("PreToolUse", ({ tool }) => void fired.push(`pre ${tool!.name}`));
  h.host.hooks.register("PostToolUse", ({ tool }) => void fired.push(`post ${tool!.name}`));
  const agent = askingAgent(h.session);
  const [asked] = interruptsOf(await agent.start()) as [
    { value: { actionRequests: object[]; reviewConfigs: object[] } },
  ];
  const { description: _, ...action } = asked.value.actionRequests[0] as { description: string };
  assert.deepEqual(action, { id: "call-0", name: "toolbox__erase", args: { path: "a" } });
  assert.deepEqual(asked.value.reviewConfigs, [
    { actionName: "toolbox__erase", allowedDecisions: ["approve", "reject"] },
  ]);
  assert.deepEqual([fired, h.all("plugin.method_called").length], [["pre toolbox.erase"], 0]);
  const { messages } = await agent.resume({ decisions: [{ type: "approve" }] });
  assert.deepEqual(messagesOfTools(messages).map(({ content, status }) => [content, status]), [[
    "erased a",
    "success",
  ]]);
  assert.deepEqual(fired, ["pre toolbox.erase", "post toolbox.erase"]);
});

test("N-034 LangChain: a no of a person reaches the model with its reason, and nothing is called", async () => {
  await using h = await frameworkHost();
  const agent = askingAgent(h.session);
  await agent.start();
  const { messages } = await agent.resume({ decisions: [{ type: "reject", message: "keep it" }] });
  const [{ content, status }] = messagesOfTools(messages) as [ToolMessage];
  assert.match(`${status} ${content}`, /^error error\[tool\.denied\].*keep it/);
  assert.equal(h.all("plugin.method_called").length, 0);
});

test("N-034 LangChain: two calls are asked about in one interrupt, and each decision is for its own call", async () => {
  await using h = await frameworkHost();
  const model = fakeModel().respondWithTools([
    { name: "toolbox__erase", args: { path: "a" }, id: "1" },
    { name: "toolbox__add", args: { a: 1, b: 1 }, id: "2" },
    { name: "toolbox__erase", args: { path: "b" }, id: "3" },
  ]).respond(new AIMessage("Done"));
  const agent = askingAgent(h.session, model);
  const [{ value }] = interruptsOf(await agent.start()) as [{ value: { actionRequests: { id: string }[] } }];
  assert.deepEqual(value.actionRequests.map(({ id }) => id), ["1", "3"]);
  const { messages } = await agent.resume({ decisions: [{ type: "reject" }, { type: "approve" }] });
  const statuses = messagesOfTools(messages).map(({ tool_call_id, status }) => [tool_call_id, status]);
  assert.deepEqual(statuses.sort(), [["1", "error"], ["2", "success"], ["3", "success"]]);
});

test("N-034 LangChain: an answer that is no decision for the call allows nothing", async () => {
  await using h = await frameworkHost();
  for (const resume of [true, { decisions: [] }, { decisions: [{ type: "approve", id: "another" }] }]) {
    const agent = askingAgent(h.session);
    await agent.start();
    await assert.rejects(agent.resume(resume), /There is no decision for the call "call-0"/);
  }
  assert.equal(h.all("plugin.method_called").length, 0);
});

test("N-034 LangChain: after a restart a yes counts only with the id of its call; else the question is put again", async () => {
  const saver = new MemorySaver();
  const config = { configurable: { thread_id: "thread-1" } };
  const model = modelThatCalls({ name: "erase", args: { path: "a" } });
  const agentOf = (session: Session) =>
    createAgent({
      model,
      tools: toolsOf(session),
      middleware: [kagedMiddleware(session, { HumanMessage })],
      checkpointer: saver,
    });
  {
    await using before = await frameworkHost();
    await agentOf(before.session).invoke({ messages: "Erase" }, config);
  }
  {
    await using again = await frameworkHost();
    const agent = agentOf(again.session);
    const stopped = await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), config);
    assert.equal(interruptsOf(stopped).length, 1);
    assert.equal(again.all("plugin.method_called").length, 0);
  }
  await using after = await frameworkHost();
  const resume = { decisions: [{ type: "approve", id: "call-0" }] };
  const { messages } = await agentOf(after.session).invoke(new Command({ resume }), config);
  assert.deepEqual(messagesOfTools(messages).map(({ content }) => content), ["erased a"]);
});

test("N-034 LangChain: without a checkpointer, or with approval host, the host's front ends ask", async () => {
  for (const options of [{}, { approval: "host" as const, checkpointer: new MemorySaver() }]) {
    await using h = await frameworkHost({ onAsk: () => ({ decision: "allow" as const }) });
    const { checkpointer, ...approval } = { checkpointer: undefined, ...options };
    const agent = createAgent({
      model: modelThatCalls({ name: "erase", args: { path: "a" } }),
      tools: toolsOf(h.session),
      middleware: [kagedMiddleware(h.session, { HumanMessage, ...approval })],
      ...(checkpointer && { checkpointer }),
    });
    const { messages } = await agent.invoke({ messages: "Erase" }, { configurable: { thread_id: "1" } });
    assert.deepEqual(messagesOfTools(messages).map(({ content }) => content), ["erased a"]);
  }
});

test("N-034 LangChain: a subagent calls its own tools, under its own path", async () => {
  await using h = await frameworkHost();
  const helper = createAgent({
    model: modelThatCalls({ name: "add", args: { a: 2, b: 3 } }),
    tools: toolsOf(h.session, { agent: HELPER }),
    middleware: [kagedMiddleware(h.session, { HumanMessage, agent: HELPER })],
  });
  const delegate = tool(async ({ task }) => (await helper.invoke({ messages: task })).messages.at(-1)!.text, {
    name: "delegate",
    description: "Hands a task to the helper",
    schema: z.object({ task: z.string() }),
  });
  const model = fakeModel().respondWithTools([{ name: "delegate", args: { task: "2 + 3" } }])
    .respond((messages) => new AIMessage(messages.at(-1)!.text));
  const agent = createAgent({ model, tools: [delegate, ...toolsOf(h.session)] });
  const { messages } = await agent.invoke({ messages: "Go" });
  assert.equal(messages.at(-1)!.text, 'Read: {"sum":5}');
  const add = toolsOf(h.session, { agent: HELPER }).find(({ name }) => name === "toolbox__add")!;
  await add.invoke({ a: 1, b: 1 }); // Without the middleware, which judges calls as its own agent.
  assert.deepEqual(h.all("plugin.method_called").map(({ data }) => data.agent_path), [HELPER, HELPER]);
});

test("N-034 LangChain: the first call of the model starts the session, and plugins' text stands before the prompt", async () => {
  await using h = await frameworkHost();
  let starts = 0;
  h.host.hooks.register("SessionStart", () => {
    starts++;
    return { action: "injectContext", additionalContext: ["Ada likes tea."] };
  });
  const model = modelThatCalls({ name: "add", args: { a: 1, b: 2 } });
  const agent = createAgent({
    model,
    systemPrompt: "You are helpful.",
    tools: toolsOf(h.session),
    middleware: [kagedMiddleware(h.session, { HumanMessage })],
  });
  await agent.invoke({ messages: "Go" });
  assert.equal(starts, 1);
  assert.equal(model.calls.length, 2);
  for (const { messages } of model.calls) assert.match(messages[0]!.text, /^[^]*Ada likes tea\.[^]*You are helpful\.$/);
});

test("N-034 LangChain: a start that a handler blocked ends the run before the model is called", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("SessionStart", () => ({ action: "block", reason: "closed today" }));
  const model = modelThatCalls();
  const agent = createAgent({ model, tools: [], middleware: [kagedMiddleware(h.session, { HumanMessage })] });
  await assert.rejects(agent.invoke({ messages: "Go" }), /closed today/);
  assert.equal(model.calls.length, 0);
});

/** A conversation of turns, each with a call of a tool. */
function longTalk(turns: number): BaseMessage[] {
  return Array.from({ length: turns }, (_, turn) => {
    const id = `call-${turn}`;
    return [
      new HumanMessage(`Question ${turn} ${"x".repeat(200)}`),
      new AIMessage({ content: "", tool_calls: [{ id, name: "toolbox__add", args: { a: turn, b: 1 } }] }),
      new ToolMessage({ content: `${turn + 1}`, tool_call_id: id }),
      new AIMessage(`Answer ${turn}`),
    ];
  }).flat();
}

/** Fails where a result stands without its call before it. */
function assertPaired(messages: readonly BaseMessage[]): void {
  const called = new Set<string>();
  for (const message of messages) {
    if (AIMessage.isInstance(message)) { for (const { id } of message.tool_calls ?? []) called.add(id!); }
    if (ToolMessage.isInstance(message)) assert.ok(called.has(message.tool_call_id), message.tool_call_id);
  }
}

test("N-035 LangChain: compact() takes and returns LangChain's messages, the objects themselves, pairs together", async () => {
  await using h = await frameworkHost();
  const messages: BaseMessage[] = [new SystemMessage("Rules"), ...longTalk(6)];
  const { messages: window }: { messages: BaseMessage[] } = await compact(h.session, messages, {
    HumanMessage,
    targetTokens: 300,
  });
  assert.ok(window.length < messages.length);
  assert.equal(window[0], messages[0]);
  assert.equal(window.at(-1), messages.at(-1));
  assert.ok(window.every((message) => messages.includes(message)));
  for (let targetTokens = 100; targetTokens < 1000; targetTokens += 50) {
    assertPaired((await compact(h.session, messages, { HumanMessage, targetTokens })).messages);
  }
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

test("N-035 LangChain: what a compaction adds is a HumanMessage", async () => {
  await using h = await frameworkHost(SUMMARIZES);
  const messages = longTalk(6);
  const { messages: window } = await compact(h.session, messages, { HumanMessage, targetTokens: 300 });
  const [added, ...others] = window.filter((message) => !messages.includes(message));
  assert.ok(HumanMessage.isInstance(added));
  assert.match(added.text, /All was said/);
  assert.equal(others.length, 0);
});

test("N-035 LangChain: in a long conversation each call of the model sees a fitted window, the state every message", async () => {
  await using h = await frameworkHost();
  const model = modelThatCalls({ name: "add", args: { a: 1, b: 2 } });
  const agent = createAgent({
    model,
    tools: toolsOf(h.session),
    middleware: [kagedMiddleware(h.session, { HumanMessage, maxTokens: 600, targetTokens: 300 })],
  });
  const talk = longTalk(12);
  const { messages } = await agent.invoke({ messages: [...talk, new HumanMessage("And now?")] });
  assert.equal(messages.length, talk.length + 4);
  assert.equal(model.calls.length, 2);
  for (const call of model.calls) {
    assert.ok(call.messages.length < talk.length, `${call.messages.length} messages`);
    assertPaired(call.messages);
  }
  assert.equal(h.all("compaction.completed").length, 1);
});

test("N-035 LangChain: every message of a run reaches the idle hook once, the last answer included", async () => {
  await using h = await hosted({
    primary: { toolbox: {}, remembers: {} },
    fixtures: { "@test/toolbox": "toolbox", "@test/remembers": "remembers" },
  });
  const session = h.host.openSession();
  const agent = createAgent({
    model: modelThatCalls({ name: "add", args: { a: 1, b: 2 } }),
    systemPrompt: "Be brief",
    tools: toolsOf(session),
    middleware: [kagedMiddleware(session, { HumanMessage })],
  });
  await agent.invoke({ messages: [new HumanMessage("Go")] });
  await session.idle();
  const { output } = await session.callTool("remembers.recall", {});
  // The fake model says "Be brief-Go" beside its call.
  assert.deepEqual(output, { text: 'Go\nBe brief-Go\n{"sum":3}\nRead: {"sum":3}' });
});

test("T-005 T-001b LangChain: each answer of the model is a model:call of its agent, with its tokens", async () => {
  await using h = await frameworkHost({ events: { level: "trace" } });
  const heard = heardSteps(h.host);
  const run = async (agent: string) => {
    const answer = Object.assign(new AIMessage("3"), {
      usage_metadata: { input_tokens: 12, output_tokens: 4, total_tokens: 16 },
      response_metadata: { model_name: "small-1" },
    });
    const model = fakeModel().respond(answer);
    await createAgent({ model, middleware: [kagedMiddleware(h.session, { HumanMessage, agent })] })
      .invoke({ messages: "1 + 2?" });
  };
  await run("primary");
  await run(HELPER);
  await until(() => heard.length === 2, "two calls of the model");
  const call = { event: "model:call", model: "small-1", promptTokens: 12, completionTokens: 4 };
  const at = { conversationId: h.session.id };
  assert.deepEqual(heard, ["primary", HELPER].map((agentName) => ({ ...call, agentName, ...at })));
});
