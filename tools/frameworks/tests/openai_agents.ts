import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Agent,
  type AgentInputItem,
  type CallModelInputFilter,
  handoff,
  MemorySession,
  type Model,
  type ModelRequest,
  type ModelResponse,
  type protocol,
  run,
  Runner,
  RunState,
  setTracingDisabled,
  type Tool,
  toolNamespace,
  Usage,
} from "@openai/agents";
import {
  compact,
  kagedMiddleware,
  kagedModel,
  kagedModels,
  type KagedProgress,
  kagedTools,
} from "../../../src/frameworks/openai_agents.ts";
import { frameworkHost, heardSteps } from "../../../tests/support/frameworks.ts";
import { hosted } from "../../../tests/support/hosted.ts";
import { until } from "../../../tests/support/until.ts";

setTracingDisabled(true);

type Answer = readonly (protocol.AssistantMessageItem | protocol.FunctionCallItem)[];

/** A model that answers by a script, and keeps what it was asked. */
class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly #steps: Answer[];

  constructor(...steps: Answer[]) {
    this.#steps = steps;
  }

  getResponse(request: ModelRequest): Promise<ModelResponse> {
    return Promise.resolve({ usage: new Usage(), output: this.#answer(request) });
  }

  async *getStreamedResponse(request: ModelRequest): AsyncIterable<protocol.StreamEvent> {
    const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    yield { type: "response_done", response: { id: "response", usage, output: this.#answer(request) } };
  }

  #answer(request: ModelRequest): Answer[number][] {
    this.requests.push(request);
    return [...(this.#steps.shift() ?? [says("done")])];
  }

  /** The result of a call in the last request. */
  result(callId: string): protocol.FunctionCallResultItem["output"] | undefined {
    const items = this.requests.at(-1)!.input;
    const found = typeof items === "string"
      ? []
      : items.filter((item) => item.type === "function_call_result" && item.callId === callId);
    return (found[0] as protocol.FunctionCallResultItem | undefined)?.output;
  }
}

function says(text: string): protocol.AssistantMessageItem {
  return { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text }] };
}

function calls(name: string, args: object = {}, callId = `call-${name}`): protocol.FunctionCallItem {
  const full = name.includes("__") ? name : `toolbox__${name}`;
  return { type: "function_call", callId, name: full, arguments: JSON.stringify(args), status: "completed" };
}

function userSays(text: string): protocol.UserMessageItem {
  return { type: "message", role: "user", content: text };
}

/** The text of a result, which the SDK wraps. */
function textIn(output: unknown): string {
  return typeof output === "string" ? output : (output as { text: string }).text;
}

function agentOf(model: Model, tools: Tool[]): Agent {
  return new Agent({ name: "Assistant", instructions: "Be brief", model, tools });
}

test("N-034 OpenAI Agents: a tool is called through the gate, and its hooks fire once", async () => {
  await using h = await frameworkHost();
  const fired: string[] = [];
  for (const hook of ["PreToolUse", "PostToolUse"] as const) {
    h.host.hooks.register(hook, ({ tool }) => void fired.push(`${hook} ${tool!.name}`));
  }
  const model = new ScriptedModel([calls("add", { a: 1, b: 2 })], [says("3")]);
  const { finalOutput } = await run(agentOf(model, kagedTools(h.session)), "1 + 2?");
  assert.deepEqual([finalOutput, textIn(model.result("call-add"))], ["3", '{"sum":3}']);
  assert.deepEqual(fired, ["PreToolUse toolbox.add", "PostToolUse toolbox.add"]);
});

test("N-034 OpenAI Agents: tools have safe names and the plugin's schemas, which are not strict", async () => {
  await using h = await frameworkHost();
  const model = new ScriptedModel();
  await run(agentOf(model, kagedTools(h.session)), "Hello");
  const tools = model.requests[0]!.tools.filter((tool) => tool.type === "function");
  assert.ok(tools.every(({ name, strict }) => /^[a-zA-Z0-9_-]{1,64}$/.test(name) && strict === false));
  const add = tools.find(({ name }) => name === "toolbox__add")!;
  assert.deepEqual([add.parameters.required, add.parameters.additionalProperties], [["a", "b"], false]);
});

test("N-034 OpenAI Agents: pictures and files are parts of a result, sound and data are words", async () => {
  await using h = await frameworkHost();
  const model = new ScriptedModel([calls("picture"), calls("paper"), calls("sound")]);
  await run(agentOf(model, kagedTools(h.session)), "Show me");
  const picture = model.result("call-picture") as { type: string; text?: string; image?: string }[];
  assert.deepEqual(picture.map(({ type }) => type), ["input_text", "input_image"]);
  assert.match(String(picture[1]!.image), /^data:image\/png;base64,iVBOR/);
  const paper = model.result("call-paper") as { type: string; text?: string; filename?: string; file?: string }[];
  assert.deepEqual(paper.map(({ type, text, filename }) => [type, text ?? filename]), [
    ["input_file", "paper.pdf"],
    ["input_text", "[more](https://example.com/more)"],
    ["input_text", '{"pages":1}'],
  ]);
  assert.equal(textIn(model.result("call-sound")), "[audio: audio/wav]");
});

test("N-034 OpenAI Agents: a failed, a blocked and a denied call are words for the model, and the run goes on", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("PreToolUse", ({ tool }) => {
    return tool!.name === "toolbox.steps" ? { action: "block", reason: "not today" } : undefined;
  });
  const answer = [calls("fail"), calls("steps"), calls("secret"), calls("add", { a: "x" })];
  const model = new ScriptedModel(answer, [says("sorry")]);
  const { finalOutput } = await run(agentOf(model, kagedTools(h.session)), "Go");
  assert.equal(finalOutput, "sorry");
  const said = (name: string): string => textIn(model.result(`call-${name}`));
  assert.equal(said("fail"), "error[plugin.error]: The disk is full");
  assert.match(said("steps"), /^error\[tool\.blocked\].*not today/);
  assert.match(said("secret"), /^error\[tool\.denied\]/);
  assert.match(said("add"), /^error\[tool\.arguments_invalid\]/);
});

test("N-034 OpenAI Agents: an asked call interrupts the run, and is made once after the person's yes", async () => {
  await using h = await frameworkHost();
  const fired: string[] = [];
  h.host.hooks.register("PreToolUse", ({ tool }) => void fired.push(tool!.name));
  const model = new ScriptedModel([calls("erase", { path: "a" }), calls("add", { a: 1, b: 1 })], [says("erased")]);
  const agent = agentOf(model, kagedTools(h.session));
  const first = await run(agent, "Erase a");
  assert.deepEqual(first.interruptions.map(({ name }) => name), ["toolbox__erase"]);
  assert.equal(h.all("plugin.method_called").filter(({ data }) => data.method === "toolbox.erase").length, 0);
  first.state.approve(first.interruptions[0]!);
  const { finalOutput } = await run(agent, first.state);
  assert.deepEqual([finalOutput, textIn(model.result("call-erase"))], ["erased", "erased a"]);
  assert.deepEqual(fired, ["toolbox.erase", "toolbox.add"]);
});

test("N-034 OpenAI Agents: a person's yes reaches a tool in a namespace", async () => {
  await using h = await frameworkHost();
  const model = new ScriptedModel([{ ...calls("erase", { path: "a" }), namespace: "files" }]);
  const agent = agentOf(model, toolNamespace({ name: "files", description: "Files", tools: kagedTools(h.session) }));
  const first = await run(agent, "Erase a");
  first.state.approve(first.interruptions[0]!);
  await run(agent, first.state);
  assert.equal(textIn(model.result("call-erase")), "erased a");
});

test("N-034 OpenAI Agents: a call that the person rejected is not made, and its request waits no longer", async () => {
  await using h = await frameworkHost();
  const model = new ScriptedModel([calls("erase", { path: "a" })], [says("kept")]);
  const agent = agentOf(model, kagedTools(h.session));
  const callModelInputFilter = kagedMiddleware(h.session);
  const first = await run(agent, "Erase a", { callModelInputFilter });
  first.state.reject(first.interruptions[0]!, { message: "Not that one" });
  const { finalOutput } = await run(agent, first.state, { callModelInputFilter });
  assert.deepEqual([finalOutput, textIn(model.result("call-erase"))], ["kept", "Not that one"]);
  await until(async () => (await h.host.approvals.list()).items.length === 0, "the end of the request");
  assert.equal(h.all("plugin.method_called").filter(({ data }) => data.method === "toolbox.erase").length, 0);
});

test("N-034 OpenAI Agents: after a restart, an approved call is judged anew and made; others wait at the desk", async () => {
  const model = new ScriptedModel([calls("erase", { path: "a" })], [says("erased")]);
  let kept: string;
  {
    await using before = await frameworkHost();
    kept = (await run(agentOf(model, kagedTools(before.session)), "Erase a")).state.toString();
  }
  const requests: string[] = [];
  await using h = await frameworkHost({ onAsk: ({ tool }) => (requests.push(tool), { decision: "deny" }) });
  const tools = kagedTools(h.session);
  const agent = agentOf(model, tools);
  const state = await RunState.fromString(agent, kept);
  state.approve(state.getInterruptions()[0]!);
  await run(agent, state);
  assert.deepEqual([textIn(model.result("call-erase")), requests], ["erased a", []]);

  const erase = tools.find(({ name }) => name === "toolbox__erase")!;
  const unproven = { isToolApproved: () => undefined };
  const output = await erase.invoke(unproven, '{"path":"b"}', { toolCall: { callId: "other" } });
  assert.match(String(output), /^error\[tool\.denied\]/);
  assert.deepEqual(requests, ["toolbox.erase"]);
});

test("N-034 OpenAI Agents: with approval by the host, its desk answers and nothing interrupts the run", async () => {
  await using h = await frameworkHost({ onAsk: () => ({ decision: "allow" }) });
  const model = new ScriptedModel([calls("erase", { path: "a" })]);
  const result = await run(agentOf(model, kagedTools(h.session, { approval: "host" })), "Erase a");
  assert.deepEqual([result.interruptions.length, textIn(model.result("call-erase"))], [0, "erased a"]);
});

test("N-034 OpenAI Agents: arguments that are no JSON never reach the plugin", async () => {
  await using h = await frameworkHost();
  const model = new ScriptedModel([{ ...calls("add"), arguments: "{" }]);
  const agent = agentOf(model, kagedTools(h.session));
  const first = await run(agent, "Add");
  assert.equal(first.interruptions.length, 1);
  first.state.approve(first.interruptions[0]!);
  await run(agent, first.state);
  assert.match(textIn(model.result("call-add")), /valid JSON/);
  const [add] = kagedTools(h.session);
  const output = await add!.invoke({ isToolApproved: () => undefined }, "{");
  assert.match(String(output), /^error\[tool\.arguments_invalid\]: The arguments are no JSON/);
});

test("N-034 OpenAI Agents: the signal of a run ends the call, and progress names its tool and call", async () => {
  await using h = await frameworkHost();
  const controller = new AbortController();
  const reports: KagedProgress[] = [];
  const onProgress = (report: KagedProgress): void => {
    reports.push(report);
    controller.abort();
  };
  const model = new ScriptedModel([calls("wait")]);
  const agent = agentOf(model, kagedTools(h.session, { onProgress }));
  await run(agent, "Wait", { signal: controller.signal }).catch(() => {});
  await h.next("plugin.method_called");
  assert.equal(model.requests.length, 1);
  assert.deepEqual(reports.map(({ tool, callId }) => [tool, callId]), [["toolbox__wait", "call-wait"]]);
  assert.equal((reports[0]!.progress as { message: string }).message, "halfway");
});

test("N-034 OpenAI Agents: agents as tools and handoffs call as their own agent, and ask through the run", async () => {
  await using h = await frameworkHost();
  const callers: unknown[] = [];
  h.host.hooks.register("PreToolUse", ({ agent }) => void callers.push(agent));
  const path = "primary.subagents.helper";
  const helperModel = new ScriptedModel([calls("erase", { path: "a" })], [says("helped")], [
    calls("add", { a: 1, b: 1 }, "call-2"),
  ], [says("taken over")]);
  const helper = new Agent({ name: "Helper", model: helperModel, tools: kagedTools(h.session, { agent: path }) });
  const model = new ScriptedModel(
    [calls("add", { a: 1, b: 2 })],
    [calls("ask__helper", { input: "help" })],
    [calls("transfer__helper", {}, "call-3")],
  );
  const agent = new Agent({
    name: "Assistant",
    model,
    tools: [...kagedTools(h.session), helper.asTool({ toolName: "ask__helper", toolDescription: "Helps" })],
    handoffs: [handoff(helper, { toolNameOverride: "transfer__helper" })],
  });
  const first = await run(agent, "Go");
  first.state.approve(first.interruptions[0]!);
  const { finalOutput } = await run(agent, first.state);
  assert.equal(finalOutput, "taken over");
  assert.deepEqual(callers, ["primary", path, path]);
});

test("N-035 OpenAI Agents: the session starts before the first call, and its text comes before the instructions", async () => {
  await using h = await frameworkHost();
  let starts = 0;
  h.host.hooks.register("SessionStart", () => {
    starts++;
    return { action: "injectContext", additionalContext: ["The user is called Ada"] };
  });
  const model = new ScriptedModel([calls("add", { a: 1, b: 2 })], [says("3")]);
  await run(agentOf(model, kagedTools(h.session)), "1 + 2?", { callModelInputFilter: kagedMiddleware(h.session) });
  for (const { systemInstructions } of model.requests) assert.match(systemInstructions!, /Ada[\s\S]*Be brief$/);
  assert.equal(starts, 1);
});

test("N-035 OpenAI Agents: a start that a hook blocked ends the run before the model is called", async () => {
  await using h = await frameworkHost();
  h.host.hooks.register("SessionStart", () => ({ action: "block", reason: "closed today" }));
  const model = new ScriptedModel();
  const callModelInputFilter = kagedMiddleware(h.session);
  await assert.rejects(run(agentOf(model, []), "Hello", { callModelInputFilter }), { code: "session.blocked" });
  assert.equal(model.requests.length, 0);
});

/** Turns of a long conversation: thoughts, two calls, their results, an answer. */
function longHistory(turns: number): AgentInputItem[] {
  return Array.from({ length: turns }, (_, index): AgentInputItem[] => [
    userSays(`${index} ${"question ".repeat(20)}`),
    { type: "reasoning", id: `rs_${index}`, content: [{ type: "input_text", text: "I think" }] },
    calls("add", { a: index, b: 1 }, `a-${index}`),
    calls("add", { a: index, b: 2 }, `b-${index}`),
    ...["a", "b"].map((name): AgentInputItem => ({
      type: "function_call_result",
      callId: `${name}-${index}`,
      name: "toolbox__add",
      status: "completed",
      output: { type: "text", text: "result ".repeat(20) },
    })),
    says(`${index} ${"answer ".repeat(20)}`),
  ]).flat();
}

/** Fails where a result is without its call, or a call without its results or thoughts. */
function assertWhole(items: readonly AgentInputItem[]): void {
  const made = items.flatMap((item) => item.type === "function_call" ? [item.callId] : []);
  const answered = items.flatMap((item) => item.type === "function_call_result" ? [item.callId] : []);
  assert.deepEqual(made.toSorted(), answered.toSorted());
  const thoughts = new Set(items.flatMap((item) => item.type === "reasoning" ? [item.id!.slice(3)] : []));
  assert.deepEqual(thoughts, new Set(made.map((id) => id.slice(2))));
}

test("N-035 OpenAI Agents: compact() takes and returns the SDK's items, calls with results and thoughts", async () => {
  await using h = await frameworkHost();
  const history: AgentInputItem[] = [{ type: "message", role: "system", content: "Be kind" }, ...longHistory(20)];
  const { messages, by } = await compact(h.session, history, { targetTokens: 1500 });
  const window: AgentInputItem[] = messages;
  assert.equal(by, "drop");
  assert.ok(window.length > 7 && window.length < history.length && window.every((item) => history.includes(item)));
  assert.deepEqual(window[0], history[0]);
  assertWhole(window);
});

test("N-035 OpenAI Agents: a long conversation goes to the model within bounds, and is compacted once", async () => {
  const yaml = {
    primary: {
      plugins: { toolbox: { package: "@test/toolbox" } },
      compaction: { strategy: "summarize", keep_last: 2 },
    },
  };
  await using h = await frameworkHost({ yaml, summarize: () => Promise.resolve("All was said") });
  const model = new ScriptedModel([calls("add", { a: 1, b: 2 })], [says("3")]);
  const callModelInputFilter: CallModelInputFilter = kagedMiddleware(h.session, {
    maxTokens: 2000,
    targetTokens: 1000,
  });
  const history = [...longHistory(20), userSays("1 + 2?")];
  await run(agentOf(model, kagedTools(h.session)), history, { callModelInputFilter });
  const [first, second] = model.requests.map(({ input }) => input as AgentInputItem[]);
  assert.ok(JSON.stringify(first).length / 4 < 2000);
  assert.match(JSON.stringify(first), /All was said/);
  assert.deepEqual(second!.slice(0, first!.length), first);
  assert.deepEqual(second!.slice(first!.length).map(({ type }) => type), ["function_call", "function_call_result"]);
  assert.equal(h.all("compaction.completed").length, 1);
  for (const input of [first!, second!]) {
    const made = new Set(input.flatMap((item) => item.type === "function_call" ? [item.callId] : []));
    for (const item of input) if (item.type === "function_call_result") assert.ok(made.has(item.callId), item.callId);
  }
});

test("N-035 OpenAI Agents: the SDK's own session keeps what was said, compacted or not", async () => {
  await using h = await frameworkHost();
  const session = new MemorySession();
  await session.addItems(longHistory(20));
  const model = new ScriptedModel([says("first")], [says("second")]);
  const agent = agentOf(model, []);
  const callModelInputFilter = kagedMiddleware(h.session, { maxTokens: 2000, targetTokens: 1000 });
  await run(agent, "one", { session, callModelInputFilter });
  await run(agent, "two", { session, callModelInputFilter });
  assert.ok((model.requests[1]!.input as AgentInputItem[]).length < 100);
  const kept = (await session.getItems()).slice(20 * 7);
  const words = kept.map((item) => JSON.stringify((item as { content?: unknown }).content));
  assert.deepEqual(words.map((text) => /one|first|two|second/.exec(text)?.[0]), ["one", "first", "two", "second"]);
});

test("N-035 OpenAI Agents: what was said is there for the idle hook, once", async () => {
  await using h = await hosted({ primary: { remembers: {} }, fixtures: { "@test/remembers": "remembers" } });
  const session = h.host.openSession();
  const model = new ScriptedModel([says("Hi")], [says("Fine")]);
  const agent = agentOf(model, kagedTools(session));
  const callModelInputFilter = kagedMiddleware(session);
  const first = await run(agent, [userSays("Hello")], { callModelInputFilter });
  const second = await run(agent, [...first.history, userSays("How are you?")], { callModelInputFilter });
  callModelInputFilter.record(second.history);
  await session.idle();
  const { output } = await session.callTool("remembers.recall", {});
  assert.deepEqual(output, { text: "Hello\nHi\nHow are you?\nFine" });
});

test("T-005 T-001b OpenAI Agents: answers of models are model:call, at once and in a stream", async () => {
  await using h = await frameworkHost({ events: { level: "trace" } });
  const heard = heardSteps(h.host);
  const usage = new Usage({ inputTokens: 12, outputTokens: 4, totalTokens: 16 });
  class Counted extends ScriptedModel {
    override async getResponse(request: ModelRequest): Promise<ModelResponse> {
      return { ...await super.getResponse(request), usage };
    }
  }
  const modelProvider = kagedModels(h.session, { getModel: () => new Counted() });
  const runner = new Runner({ modelProvider });
  await runner.run(new Agent({ name: "Assistant", model: "small-1" }), "Hello");
  const helper = kagedModel(h.session, "tiny-1", new ScriptedModel(), { agent: "primary.subagents.helper" });
  const streamed = await runner.run(new Agent({ name: "Helper", model: helper }), "Hello", { stream: true });
  await streamed.completed;
  await until(() => heard.length === 2, "two calls of models");
  const at = { event: "model:call", conversationId: h.session.id };
  assert.deepEqual(heard, [
    { ...at, agentName: "primary", model: "small-1", promptTokens: 12, completionTokens: 4 },
    { ...at, agentName: "primary.subagents.helper", model: "tiny-1", promptTokens: 0, completionTokens: 0 },
  ]);
});

test("T-005 T-001b OpenAI Agents: a hand-off is delegate:start, and the answer of the agent after it delegate:end", async () => {
  await using h = await frameworkHost({ events: { level: "trace" } });
  const heard = heardSteps(h.host);
  const last = new Agent({ name: "Last", model: new ScriptedModel([says("taken over")]) });
  const transfer = (to: Agent, toolNameOverride: string) => handoff(to, { toolNameOverride });
  const helper = new Agent({
    name: "Helper",
    model: new ScriptedModel([calls("transfer__last")]),
    handoffs: [transfer(last, "transfer__last")],
  });
  const agent = new Agent({
    name: "Assistant",
    model: new ScriptedModel([calls("transfer__helper")]),
    handoffs: [transfer(helper, "transfer__helper")],
  });
  const path = "primary.subagents.helper";
  const runner = new Runner();
  kagedMiddleware(h.session, { agents: { Helper: path } }).watch(runner);
  assert.equal((await runner.run(agent, "Go")).finalOutput, "taken over");
  await until(() => heard.length === 4, "two delegations");
  const conversationId = h.session.id;
  const first = { parentAgent: "primary", childAgent: path, conversationId };
  const second = { parentAgent: path, childAgent: "Last", conversationId };
  assert.deepEqual(heard, [
    { event: "delegate:start", ...first, input: "" },
    { event: "delegate:end", ...first, output: "" },
    { event: "delegate:start", ...second, input: "" },
    { event: "delegate:end", ...second, output: "taken over" },
  ]);
});
