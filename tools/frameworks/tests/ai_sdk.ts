import assert from "node:assert/strict";
import { test } from "node:test";
import {
  convertToModelMessages,
  type DynamicToolUIPart,
  generateText,
  isStepCount,
  type ModelMessage,
  readUIMessageStream,
  streamText,
  tool,
  type ToolApprovalResponse,
  ToolLoopAgent,
  toUIMessageStream,
  type UIMessage,
  wrapLanguageModel,
} from "ai";
import { z } from "zod";
import {
  compact,
  kagedApproval,
  kagedMiddleware,
  type KagedOutput,
  kagedTools,
} from "../../../src/frameworks/ai_sdk.ts";
import { textOfParts } from "../../../src/frameworks/result_parts.ts";
import type { Session } from "../../../src/host/types.ts";
import { until } from "../../../tests/support/until.ts";
import { frameworkHost, heardSteps } from "../../../tests/support/frameworks.ts";
import { type Line, resultsIn, scripted } from "./ai_sdk_model.ts";

const HELPER = "primary.subagents.helper";
const stopWhen = isStepCount(5);

/** Has the model call one tool, and returns what it was given in return. */
async function outputOf(session: Session, name: string, input: unknown = {}) {
  const model = scripted([[name, input]]);
  const run = await generateText({ model, tools: kagedTools(session), prompt: "go", stopWhen });
  return { run, output: resultsIn(model.doGenerateCalls[1]!.prompt)[0]!.output };
}

test("N-034 AI SDK: tools are offered under safe names, with the JSON Schema as the plugin wrote it", async () => {
  await using h = await frameworkHost();
  const model = scripted("hello");
  await generateText({ model, tools: kagedTools(h.session), prompt: "hi" });
  const offered = model.doGenerateCalls[0]!.tools!;
  assert.ok(offered.every(({ name }) => /^[a-zA-Z0-9_-]{1,64}$/.test(name)));
  const schemas = offered.map((tool) => [tool.name, tool.type === "function" && tool.inputSchema]);
  const own = h.session.tools().map(({ alias, parametersSchema }) => {
    return [alias, { properties: {}, ...parametersSchema, type: "object" }];
  });
  assert.deepEqual(schemas, own);
});

test("N-034 AI SDK: a result is text, and files with their media types; data is kept for the program", async () => {
  await using h = await frameworkHost();
  const sum = await outputOf(h.session, "toolbox__add", { a: 1, b: 2 });
  assert.deepEqual(sum.output, { type: "text", value: '{"sum":3}' });
  const [{ output } = { output: null }] = sum.run.steps[0]!.dynamicToolResults;
  assert.deepEqual(output, { parts: [{ type: "text", text: '{"sum":3}' }], structured: { sum: 3 } });
  const { output: picture } = await outputOf(h.session, "toolbox__picture");
  assert.ok(picture.type === "content");
  assert.deepEqual(picture.value[0], { type: "text", text: "A pixel" });
  const [, image] = picture.value;
  assert.ok(image?.type === "file" && image.mediaType === "image/png" && image.data.type === "data");
  assert.match(String(image.data.data), /^iVBOR/);
  const { output: sound } = await outputOf(h.session, "toolbox__sound");
  assert.ok(sound.type === "content" && sound.value[0]?.type === "file" && sound.value[0].mediaType === "audio/wav");
  const { output: paper } = await outputOf(h.session, "toolbox__paper");
  assert.ok(paper.type === "content" && paper.value[0]?.type === "file" && paper.value[0].filename === "paper.pdf");
  assert.deepEqual(paper.value[1], { type: "text", text: "[more](https://example.com/more)" });
});

test("N-034 AI SDK: failed, blocked and denied calls and wrong arguments are errors that the model reads", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register(
    "PreToolUse",
    ({ tool }) => tool!.name === "toolbox.sound" ? { action: "block", reason: "It is late" } : undefined,
  );
  const said = async (name: string, input?: unknown) => {
    const { output, run } = await outputOf(h.session, name, input);
    assert.equal(run.text, "done");
    assert.ok(output.type === "error-text");
    return output.value;
  };
  assert.equal(await said("toolbox__fail"), "error[plugin.error]: The disk is full");
  assert.match(await said("toolbox__sound"), /^error\[tool\.blocked\].*It is late/);
  assert.match(await said("toolbox__secret"), /^error\[tool\.denied\]/);
  assert.match(await said("toolbox__add", { a: "x" }), /^error\[tool\.arguments_invalid\]/);
});

test("N-034 AI SDK: the run's signal ends the call of a plugin", async () => {
  await using h = await frameworkHost();
  const ended = Promise.withResolvers<string | undefined>();
  h.host.hooks.register("OnError", ({ tool, error }) => ended.resolve(`${tool!.name} ${error!.code}`));
  const abort = new AbortController();
  const model = scripted([["toolbox__wait", {}]]);
  const run = streamText({ model, tools: kagedTools(h.session), prompt: "go", stopWhen, abortSignal: abort.signal });
  const types: string[] = [];
  for await (const part of run.fullStream) {
    types.push(part.type);
    if (part.type === "tool-result" && part.preliminary) abort.abort();
  }
  assert.equal(types.at(-1), "abort");
  assert.equal(await ended.promise, "toolbox.wait protocol.cancelled");
});

test("N-034 AI SDK: progress of a plugin comes as preliminary results of its call", async () => {
  await using h = await frameworkHost();
  const model = scripted([["toolbox__steps", {}, "c1"]]);
  const run = streamText({ model, tools: kagedTools(h.session), prompt: "go", stopWhen });
  const outputs: unknown[] = [];
  for await (const part of run.fullStream) {
    if (part.type !== "tool-result") continue;
    const { progress, parts } = part.output as KagedOutput;
    const said = progress ? (progress as { message: string }).message : textOfParts(parts);
    outputs.push([part.toolCallId, part.preliminary ?? false, said]);
  }
  const done = '{"steps":1}';
  assert.deepEqual(outputs, [["c1", true, "done soon"], ["c1", true, done], ["c1", false, done]]);
});

test("N-034 AI SDK: hooks fire once for a call, with and without approval", async () => {
  await using h = await frameworkHost();
  const fired: string[] = [];
  for (const hook of ["PreToolUse", "PostToolUse"] as const) {
    h.host.hooks.register(hook, ({ tool }) => void fired.push(`${hook} ${tool!.name}`));
  }
  await outputOf(h.session, "toolbox__add", { a: 1, b: 2 });
  assert.deepEqual(fired.splice(0), ["PreToolUse toolbox.add", "PostToolUse toolbox.add"]);
  await approvedRun(h.session, h.session, true);
  assert.deepEqual(fired, ["PreToolUse toolbox.erase", "PostToolUse toolbox.erase"]);
});

/** Has `erase` asked about in one run, and answered in a second one, with tools of its own. */
async function approvedRun(asks: Session, goesOn: Session, approved: boolean) {
  const messages: ModelMessage[] = [{ role: "user", content: "Erase a" }];
  const model = scripted([["toolbox__erase", { path: "a" }, "erase-1"]]);
  const first = await generateText({ model, tools: kagedTools(asks), messages, stopWhen });
  const request = first.content.find((part) => part.type === "tool-approval-request");
  assert.equal(request?.toolCall.toolCallId, "erase-1");
  const answer: ToolApprovalResponse = { type: "tool-approval-response", approvalId: request.approvalId, approved };
  const history: ModelMessage[] = [
    ...messages,
    ...first.responseMessages,
    { role: "tool", content: [{ ...answer, ...(!approved && { reason: "not now" }) }] },
  ];
  const after = scripted("bye");
  const middleware = kagedMiddleware(goesOn);
  const tools = kagedTools(goesOn);
  await generateText({ model: wrapLanguageModel({ model: after, middleware }), tools, messages: history, stopWhen });
  return { output: resultsIn(after.doGenerateCalls[0]!.prompt)[0]!.output, history };
}

test("N-034 AI SDK: a call that asks waits for the approval, which may come with another request", async () => {
  await using h = await frameworkHost();
  const { output } = await approvedRun(h.session, h.session, true);
  assert.deepEqual(output, { type: "text", value: "erased a" });
  const { items: [request] } = await h.host.approvals.list({ state: "all" });
  assert.deepEqual([request?.state, request?.tool], ["allowed", "toolbox.erase"]);
});

test("N-034 AI SDK: a person's no is the model's result, and the host has it on record", async () => {
  await using h = await frameworkHost();
  const ended = Promise.withResolvers<string>();
  h.host.approvals.on(({ type, approval }) => {
    if (type !== "requested") ended.resolve(`${approval.state}: ${approval.end?.reason}`);
  });
  const { output } = await approvedRun(h.session, h.session, false);
  assert.deepEqual(output, { type: "execution-denied", reason: "not now" });
  assert.equal(await ended.promise, "denied: not now");
  assert.equal(h.all("plugin.method_called").filter(({ data }) => data.method === "toolbox.erase").length, 0);
});

test("N-034 AI SDK: an approval given before a restart counts, and the call is judged anew", async () => {
  await using before = await frameworkHost();
  await using after = await frameworkHost();
  const { output } = await approvedRun(before.session, after.session, true);
  assert.deepEqual(output, { type: "text", value: "erased a" });
  await using denying = await frameworkHost({ config: '[[tool_rules]]\ntool = "toolbox.erase"\ndecision = "deny"\n' });
  const denied = await approvedRun(before.session, denying.session, true);
  assert.ok(denied.output.type === "error-text" && denied.output.value.startsWith("error[tool.denied]"));
});

/** One request of a chat page: its messages in, the page's new messages out. */
async function chatRequest(session: Session, page: readonly UIMessage[], model = scripted()): Promise<UIMessage[]> {
  const tools = kagedTools(session);
  const sent = structuredClone([...page]); // As over HTTP.
  const toolApproval = kagedApproval(session);
  const messages = await convertToModelMessages(sent, { tools });
  const run = streamText({ model, tools, toolApproval, messages, stopWhen, experimental_toolApprovalSecret: "s3cret" });
  const stream = toUIMessageStream({ stream: run.stream, tools, originalMessages: sent });
  const last = sent.at(-1)!;
  let reply: UIMessage = { id: "reply", role: "assistant", parts: [] };
  for await (reply of readUIMessageStream({ stream, ...(last.role === "assistant" && { message: last }) }));
  return last.role === "assistant" ? [...sent.slice(0, -1), reply] : [...sent, reply];
}

for (const where of ["the same process", "another process"]) {
  test(`N-034 AI SDK: an approval that a chat page sends is taken by ${where}`, async () => {
    await using h = await frameworkHost();
    await using other = await frameworkHost();
    const ask: UIMessage = { id: "1", role: "user", parts: [{ type: "text", text: "Erase a" }] };
    const asked = await chatRequest(h.session, [ask], scripted([["toolbox__erase", { path: "a" }, "erase-1"]]));
    const part = asked[1]!.parts.find((item) => item.type === "dynamic-tool");
    assert.ok(part?.state === "approval-requested");
    assert.match(part.approval.requestReason ?? "", /toolbox\.erase/);
    const responded: DynamicToolUIPart = {
      ...part,
      state: "approval-responded",
      approval: { ...part.approval, approved: true },
    };
    const parts = asked[1]!.parts.map((item) => item === part ? responded : item);
    const session = where === "the same process" ? h.session : other.session;
    const answered = await chatRequest(session, [ask, { ...asked[1]!, parts }]);
    const done = answered[1]!.parts.find((item) => item.type === "dynamic-tool");
    assert.ok(done?.state === "output-available");
    assert.deepEqual((done.output as KagedOutput).parts, [{ type: "text", text: "erased a" }]);
    // The next request of the page has the result as the model saw it.
    const model = scripted("bye");
    await chatRequest(session, [...answered, { ...ask, id: "2" }], model);
    assert.deepEqual(resultsIn(model.doStreamCalls[0]!.prompt)[0]!.output, { type: "text", value: "erased a" });
  });
}

test("N-034 AI SDK: outputs in the history of a page that are none of the adapter's are read as JSON", async () => {
  await using h = await frameworkHost();
  const { toolbox__add } = kagedTools(h.session);
  for (const output of [{ sum: 3 }, "3", null]) {
    const read = await convertToModelMessages([{
      role: "assistant",
      parts: [{
        type: "dynamic-tool",
        toolName: "toolbox__add",
        toolCallId: "1",
        state: "output-available",
        input: {},
        output,
      }],
    }], { tools: { toolbox__add: toolbox__add! } });
    assert.deepEqual(resultsIn(read)[0]!.output, { type: "text", value: JSON.stringify(output) });
  }
});

test("N-034 AI SDK: a policy that approves by itself is no person's yes: the host asks", async () => {
  await using h = await frameworkHost({ onAsk: () => ({ decision: "deny", reason: "ask me first" }) });
  const model = scripted([["toolbox__erase", { path: "a" }]]);
  const toolApproval = { toolbox__erase: "approved" } as const;
  await generateText({ model, tools: kagedTools(h.session), toolApproval, prompt: "go", stopWhen });
  const [{ output } = { output: null }] = resultsIn(model.doGenerateCalls[1]!.prompt);
  assert.ok(output?.type === "error-text" && output.value.includes("ask me first"));
});

test("N-034 AI SDK: approval by the host asks at its desk while the run waits", async () => {
  await using h = await frameworkHost({ onAsk: () => ({ decision: "allow" }) });
  const model = scripted([["toolbox__erase", { path: "a" }]]);
  const tools = kagedTools(h.session, { approval: "host" });
  const toolApproval = kagedApproval(h.session, { approval: "host" });
  await generateText({ model, tools, toolApproval, prompt: "go", stopWhen });
  assert.deepEqual(resultsIn(model.doGenerateCalls[1]!.prompt)[0]!.output, { type: "text", value: "erased a" });
});

test("N-034 AI SDK: toolApproval has the reason, and the arguments where a hook changed them", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("PreToolUse", ({ tool, input }) => {
    return tool!.name === "toolbox.erase"
      ? { action: "modify", modifiedInput: { ...input as object, path: "b" } }
      : undefined;
  });
  const fired: string[] = [];
  h.host.hooks.register("PostToolUse", ({ tool }) => void fired.push(tool!.name));
  const model = scripted([["toolbox__erase", { path: "a" }], ["toolbox__add", { a: 1, b: 2 }]]);
  const tools = kagedTools(h.session);
  const run = await generateText({ model, tools, toolApproval: kagedApproval(h.session), prompt: "go" });
  const request = run.content.find((part) => part.type === "tool-approval-request");
  assert.match(request?.reason ?? "", /\nArguments as \S+ changed them: \{"path":"b"\}$/);
  assert.deepEqual(fired, ["toolbox.add"]);
});

test("N-034 AI SDK: a tool of the agent runs a subagent with tools of its own", async () => {
  await using h = await frameworkHost();
  const agents: string[] = [];
  h.host.hooks.register("PreToolUse", ({ agent }) => void agents.push(agent!));
  const inner = scripted([["toolbox__add", { a: 1, b: 2 }, "same-id"]], "It is 3");
  const helper = new ToolLoopAgent({ model: inner, tools: kagedTools(h.session, { agent: HELPER }) });
  const ask = tool({
    inputSchema: z.object({ question: z.string() }),
    execute: async ({ question }) => (await helper.generate({ prompt: question })).text,
  });
  const model = scripted([["ask", { question: "1 + 2" }], ["toolbox__add", { a: 1, b: 1 }, "same-id"]]);
  const tools = { ...kagedTools(h.session), ask };
  await generateText({ model, tools, prompt: "go", stopWhen });
  const outputs = resultsIn(model.doGenerateCalls[1]!.prompt).map(({ output }) => output);
  assert.deepEqual(outputs, [{ type: "text", value: "It is 3" }, { type: "text", value: '{"sum":2}' }]);
  assert.deepEqual(agents.sort(), ["primary", HELPER]);
});

test("N-034 AI SDK: calls of two agents under one id are two calls", async () => {
  await using h = await frameworkHost();
  for (const agent of ["primary", HELPER]) {
    const { toolbox__erase } = kagedTools(h.session, { agent });
    assert.ok(await toolbox__erase!.needsApproval!({ path: "a" }, { toolCallId: "call_0", messages: [] }));
  }
  const { items } = await h.host.approvals.list();
  assert.deepEqual(items.map(({ agentPath }) => agentPath).sort(), ["primary", HELPER]);
});

const pair = (id: number): ModelMessage[] => [
  { role: "user", content: `Question ${id}: ${"x".repeat(200)}` },
  { role: "assistant", content: [{ type: "tool-call", toolCallId: `c${id}`, toolName: "add", input: { a: id } }] },
  {
    role: "tool",
    content: [{ type: "tool-result", toolCallId: `c${id}`, toolName: "add", output: { type: "text", value: "3" } }],
  },
  { role: "assistant", content: `Answer ${id}` },
];

/** Ids of results whose call is not there. */
function orphans(messages: readonly { readonly role: string; readonly content: unknown }[]): unknown[] {
  const parts = messages.flatMap(({ content }) => Array.isArray(content) ? content as Record<string, unknown>[] : []);
  const ids = (type: string) => parts.filter((part) => part["type"] === type).map((part) => part["toolCallId"]);
  return ids("tool-result").filter((id) => !ids("tool-call").includes(id));
}

test("N-035 AI SDK: compact() takes and returns ModelMessage[]; system and tool pairs stay whole", async () => {
  await using h = await frameworkHost();
  const messages: ModelMessage[] = [{ role: "system", content: "Be kind" }, ...[1, 2, 3, 4, 5].flatMap(pair)];
  const result = await compact(h.session, messages, { targetTokens: 200 });
  const window: ModelMessage[] = result.messages;
  assert.equal(result.by, "drop");
  assert.ok(window.length < messages.length && window.every((message) => messages.includes(message)));
  assert.deepEqual([window[0], orphans(window)], [messages[0], []]);
});

test("N-035 AI SDK: a compaction keeps an approval with its request, and the run goes on", async () => {
  const compaction = { strategy: "drop", keep_last: 1 };
  const yaml = { primary: { plugins: { toolbox: { package: "@test/toolbox" } }, compaction } };
  await using h = await frameworkHost({ yaml });
  const { history } = await approvedRun(h.session, h.session, true);
  const long = [...[1, 2, 3].flatMap(pair), ...history];
  const { messages } = await compact(h.session, long, { targetTokens: 1 });
  assert.deepEqual(messages, history.slice(-2));
  const model = scripted("bye");
  await generateText({ model, tools: kagedTools(h.session), messages });
  assert.deepEqual(resultsIn(model.doGenerateCalls[0]!.prompt)[0]!.output, { type: "text", value: "erased a" });
});

test("N-035 AI SDK: middleware starts the session, and holds a long conversation within its bounds", async () => {
  await using h = await frameworkHost();
  const starts: string[] = [];
  h.host.hooks.register("SessionStart", () => {
    starts.push("start");
    return { action: "injectContext", additionalContext: ["Plugins say hello"] };
  });
  const script = Array.from({ length: 6 }, (_, n) => [["toolbox__add", { a: n, b: 1 }, `c${n}`]] as const);
  const model = scripted(...script);
  const agent = new ToolLoopAgent({
    model: wrapLanguageModel({ model, middleware: kagedMiddleware(h.session, { maxTokens: 300, targetTokens: 150 }) }),
    tools: kagedTools(h.session),
    instructions: "Be kind",
    stopWhen: isStepCount(10),
  });
  const { text } = await agent.generate({ prompt: "Add many numbers" });
  assert.equal(text, "done");
  assert.equal(starts.length, 1);
  const prompts = model.doGenerateCalls.map(({ prompt }) => prompt);
  assert.ok(prompts.every(([first]) => first?.role === "system" && first.content === "Plugins say hello\n\nBe kind"));
  assert.deepEqual(prompts.flatMap(orphans), []);
  assert.ok(prompts.at(-1)!.length < 14, `${prompts.at(-1)!.length} messages`);
  assert.ok(h.all("compaction.completed").length >= 1);
});

test("N-035 AI SDK: middleware of a subagent starts no session, and a blocked start ends the call", async () => {
  await using h = await frameworkHost();
  let starts = 0;
  h.host.hooks.register("SessionStart", () => {
    starts++;
    return { action: "block", reason: "Closed today" };
  });
  const run = (agent?: string) => {
    const middleware = kagedMiddleware(h.session, agent === undefined ? {} : { agent });
    return generateText({ model: wrapLanguageModel({ model: scripted("hi"), middleware }), prompt: "go" });
  };
  assert.equal((await run(HELPER)).text, "hi");
  assert.equal(starts, 0);
  await assert.rejects(run(), /session was blocked.*Closed today/);
});

test("N-035 AI SDK: what is said is recorded once, the last reply too, whether it is streamed or not", async () => {
  await using h = await frameworkHost();
  const recorded: string[] = [];
  const session: Session = Object.assign(Object.create(h.session), {
    start: (prompt: string) => h.session.start(prompt),
    record: ({ role, content }: { role: string; content: unknown }) => {
      recorded.push(`${role} ${Array.isArray(content) ? content[0].text ?? content[0].type : content}`);
    },
  });
  const model = scripted([["text", "Let me see"], ["toolbox__add", { a: 1, b: 2 }]], "three", "four");
  const wrapped = wrapLanguageModel({ model, middleware: kagedMiddleware(session) });
  const tools = kagedTools(h.session);
  const messages: ModelMessage[] = [{ role: "user", content: "1 + 2" }];
  const first = await generateText({ model: wrapped, tools, messages, stopWhen });
  messages.push(...first.responseMessages, { role: "user", content: "and 1?" });
  const second = streamText({ model: wrapped, tools, messages, stopWhen });
  assert.equal(await second.text, "four");
  messages.push(...await second.responseMessages);
  const said = [
    "user 1 + 2",
    "assistant Let me see",
    "tool tool-result",
    "assistant three",
    "user and 1?",
    "assistant four",
  ];
  assert.deepEqual(recorded, said);
  await generateText({ model: wrapped, tools, messages: [...messages, { role: "user", content: "thanks" }] });
  assert.deepEqual(recorded, [...said, "user thanks", "assistant done"]);
});

test("T-005 T-001b AI SDK: each answer of the model is a model:call of its agent, with its tokens", async () => {
  await using h = await frameworkHost({ events: { level: "trace" } });
  const heard = heardSteps(h.host);
  const wrapped = (agent: string, ...lines: readonly Line[]) =>
    wrapLanguageModel({ model: scripted(...lines), middleware: kagedMiddleware(h.session, { agent }) });
  const model = wrapped("primary", [["toolbox__add", { a: 1, b: 2 }]], "3");
  await generateText({ model, tools: kagedTools(h.session), prompt: "1 + 2?", stopWhen });
  await streamText({ model: wrapped(HELPER, "hi"), prompt: "Hello" }).text;
  const call = { event: "model:call", model: "mock-model-id", promptTokens: 1, completionTokens: 1 };
  const at = { conversationId: h.session.id };
  await until(() => heard.length === 3, "three calls of the model");
  assert.deepEqual(heard, ["primary", "primary", HELPER].map((agentName) => ({ ...call, agentName, ...at })));
});

test("T-005 T-001b AI SDK: in a run of a job, the calls of the model are those of the run's session", async () => {
  await using h = await frameworkHost({ events: { level: "trace" } });
  const heard = heardSteps(h.host);
  h.host.agent("primary", async ({ session, input }) => {
    const model = wrapLanguageModel({ model: scripted("hi"), middleware: kagedMiddleware(session) });
    return (await generateText({ model, prompt: input })).text;
  });
  const { output } = await h.host.jobs.run({ agentName: "primary", input: "Hello", conversationId: "ses_run" });
  await until(() => heard.length === 1, "the call of the model");
  assert.deepEqual([output, (heard[0] as { conversationId: string }).conversationId], ["hi", "ses_run"]);
});
