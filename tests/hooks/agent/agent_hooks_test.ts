import assert from "node:assert/strict";
import { test } from "node:test";
import { agentHooks } from "../../../src/hooks/agent/agent_hooks.ts";
import { rotateSession } from "../../../src/hooks/agent/rotate_session.ts";
import { budgetGuard } from "../../../src/hooks/sources/builtin/budget_guard.ts";
import { PORTABLE_HOOKS } from "../../../src/hooks/engine/names.ts";
import type { HookEvent } from "../../../src/hooks/engine/types.ts";
import { stage } from "../engine/stage.ts";

const NOTHING = { blocked: false, reason: null, blockedBy: null, context: [], warnings: [] };

/** An engine that writes down every event. */
function recorded() {
  const s = stage();
  const events: HookEvent[] = [];
  for (const hook of PORTABLE_HOOKS) {
    s.engine.register(hook, (event) => void events.push({ ...event }), { priority: -1 });
  }
  return { ...s, events, hooks: agentHooks(s.engine, { session: "ses_1", branch: "main" }) };
}

test("B-002 B-005 each point of a loop fires its hook, with what it is about", async () => {
  const { hooks, events } = recorded();
  await hooks.onStart();
  await hooks.onPrompt("Hello");
  await hooks.beforeTool("shell", { cmd: "ls" }, { usedTokens: 1, effectiveLimit: 10 });
  await hooks.afterTool({ name: "shell", input: { cmd: "ls" }, output: "a.txt", durationMs: 5 });
  await hooks.onSubagent({ phase: "start", name: "researcher", input: "look" });
  await hooks.onSubagent({ phase: "stop", name: "researcher", output: "found", depth: 2, durationMs: 9 });
  await hooks.onError({ message: "no model" }, { step: "model" });
  await hooks.beforeCompact({ trigger: "threshold", window: ["m"], before: { tokens: 10 } });
  await hooks.afterCompact({ trigger: "threshold", window: [], before: { tokens: 10 }, after: { tokens: 1 } });
  await hooks.onEnd();
  const at = { timestamp: "2026-01-01T00:00:00.000Z", sessionId: "ses_1", agent: "primary", branch: "main" };
  const subagent = { name: "researcher", parent: "primary" };
  const trigger = "threshold";
  assert.deepEqual(events, [
    { hook: "SessionStart", ...at },
    { hook: "UserPromptSubmitted", ...at, input: "Hello" },
    {
      hook: "PreToolUse",
      ...at,
      tool: { name: "shell" },
      input: { cmd: "ls" },
      budget: { usedTokens: 1, effectiveLimit: 10 },
    },
    {
      hook: "PostToolUse",
      ...at,
      tool: { name: "shell", success: true, durationMs: 5 },
      input: { cmd: "ls" },
      output: "a.txt",
    },
    { hook: "SubagentStart", ...at, subagent: { ...subagent, depth: 1 }, input: "look" },
    { hook: "SubagentStop", ...at, subagent: { ...subagent, depth: 2 }, output: "found", details: { durationMs: 9 } },
    { hook: "OnError", ...at, error: { message: "no model" }, details: { step: "model" } },
    { hook: "PreCompact", ...at, input: ["m"], details: { trigger, before: { tokens: 10 } } },
    { hook: "PostCompact", ...at, output: [], details: { trigger, before: { tokens: 10 }, after: { tokens: 1 } } },
    { hook: "SessionEnd", ...at, details: { reason: "end" } },
  ]);
});

test("B-002 PostToolUse fires on success and on failure, and a failure fires OnError before it", async () => {
  const { hooks, events, engine } = recorded();
  engine.register("PostToolUse", () => ({ action: "modify", modifiedOutput: "cleaned", warnings: ["w1"] }));
  engine.register("OnError", () => ({ action: "injectContext", additionalContext: ["try again"], warnings: ["w2"] }));
  const error = { message: "exit 1", code: "E1" };
  assert.deepEqual(await hooks.afterTool({ name: "shell", output: "raw", error }), {
    ...NOTHING,
    context: ["try again"],
    warnings: ["w2", "w1"],
    output: "cleaned",
  });
  assert.deepEqual(events.map(({ hook, output, error }) => [hook, output, error?.code]), [
    ["OnError", "raw", "E1"],
    ["PostToolUse", "raw", "E1"],
  ]);
  assert.equal((await hooks.afterTool({ name: "shell", output: "raw" })).output, "cleaned");
  assert.equal(events.length, 3);
});

test("B-002 a prompt may be blocked or modified, and stays a text", async () => {
  const { hooks, engine } = recorded();
  const end = engine.register("UserPromptSubmitted", ({ input }) => ({ action: "modify", modifiedInput: `${input}!` }));
  assert.deepEqual(await hooks.onPrompt("Hi"), { ...NOTHING, input: "Hi!" });
  end();
  const endObject = engine.register("UserPromptSubmitted", () => ({ action: "modify", modifiedInput: { text: "x" } }));
  const { input, warnings } = await hooks.onPrompt("Hi");
  assert.deepEqual([input, warnings], ["Hi", ["A modified prompt was left out: it is no text"]]);
  endObject();
  engine.register("UserPromptSubmitted", function policy() {
    return { action: "block", reason: "Not here" };
  });
  const blocked = { ...NOTHING, blocked: true, reason: "Not here", blockedBy: "policy", input: "Hi" };
  assert.deepEqual(await hooks.onPrompt("Hi"), blocked);
});

test("B-002 B-019 a budget fires once at each threshold it crosses upwards, and again after it was below", async () => {
  const { hooks, events } = recorded();
  for (const usedTokens of [10, 69, 70, 75, 80, 95, 50, 72, 99]) {
    await hooks.onBudget({ usedTokens, effectiveLimit: 100 });
  }
  assert.deepEqual(events.map(({ budget, details }) => [budget?.usedTokens, details?.threshold]), [
    [70, 0.7],
    [80, 0.8],
    [72, 0.7],
    [99, 0.8],
  ]);
  assert.throws(() => agentHooks(stage().engine, { session: "s", thresholds: { warnAt: 0.9 } }), RangeError);
});

test("B-014 a full session rotates: large loads blocked, saved, ended, started afresh, verified", async () => {
  const { hooks, events, engine } = recorded();
  engine.add(budgetGuard({ isLargeLoad: ({ tool }) => tool?.name === "read_all" }));
  engine.register("SessionStart", ({ details }) => {
    return { action: "injectContext", additionalContext: [`follows ${details?.rotatedFrom}`] };
  });
  engine.register("PostCompact", ({ output }) => {
    const additionalContext = String(output).includes("#145") ? [] : ["issue #145"];
    return { action: "injectContext", additionalContext };
  });
  const full = { usedTokens: 82, effectiveLimit: 100 };
  const { rotate, reason } = await hooks.onBudget(full);
  assert.equal(rotate, true);
  assert.match(reason!, /82 % of the effective limit: rotate/);
  assert.equal((await hooks.beforeTool("read_all", {}, full)).blocked, true);
  assert.equal((await hooks.beforeTool("read_line", {}, full)).blocked, false);
  events.length = 0;
  const rotated = await rotateSession(engine, hooks, { session: "ses_2", window: ["old"] });
  assert.deepEqual(events.map(({ hook, sessionId, details }) => [hook, sessionId, details]), [
    ["PreCompact", "ses_1", { trigger: "rotation" }],
    ["SessionEnd", "ses_1", { nextSessionId: "ses_2", reason: "rotation" }],
    ["SessionStart", "ses_2", { rotatedFrom: "ses_1" }],
    ["PostCompact", "ses_2", { trigger: "rotation" }],
  ]);
  assert.deepEqual([rotated.hooks.at.session, rotated.window], ["ses_2", "follows ses_1\n\nissue #145"]);
});

test("B-014 a block of PreCompact keeps the session", async () => {
  const { hooks, events, engine } = recorded();
  engine.register("PreCompact", () => ({ action: "block", reason: "not saved yet" }));
  const rotated = await rotateSession(engine, hooks, { session: "ses_2", window: ["old"] });
  assert.deepEqual([rotated.blocked, rotated.reason, rotated.window], [true, "not saved yet", ["old"]]);
  assert.equal(rotated.hooks, hooks);
  assert.deepEqual(events.map(({ hook }) => hook), ["PreCompact"]);
});

test("N-004 a step takes whatever a tool threw or returned, and shows it to handlers as JSON", async () => {
  class Money {
    readonly amount = 5n;
    readonly currency = "EUR";
  }
  const circle: Record<string, unknown> = { name: "loop" };
  circle["self"] = circle;
  const output = {
    when: new Date(0),
    bytes: new Uint8Array([1, 2, 250]),
    money: new Money(),
    map: new Map([["a", new Set([1, NaN])]]),
    pairs: new Map([[1, "one"]]),
    list: [undefined, () => 1, Symbol("s")],
    circle,
    url: new URL("https://example.com/x"),
    run: () => 1,
  };
  const plain = {
    when: "1970-01-01T00:00:00.000Z",
    bytes: { $base64: "AQL6" },
    money: { amount: "5", currency: "EUR" },
    map: { a: [1, null] },
    pairs: [[1, "one"]],
    list: [null, null, null],
    circle: { name: "loop", self: "[circular]" },
    url: "https://example.com/x",
  };
  const { hooks, events } = recorded();
  assert.equal((await hooks.afterTool({ name: "t", input: output, output })).output, output, "the loop's own value");
  assert.equal((await hooks.beforeTool("t", output)).input, output);
  assert.deepEqual(events.splice(0).map(({ input }) => input), [plain, plain]);
  const failure = Object.assign(new Error("no such file"), { code: "ENOENT" });
  await hooks.afterTool({ name: "t", error: failure });
  await hooks.onError(failure, { at: new Date(0) });
  await hooks.onError("just a text");
  await hooks.onError({ status: 500 });
  assert.deepEqual(events.map(({ hook, error }) => [hook, error]), [
    ["OnError", { message: "no such file", code: "ENOENT" }],
    ["PostToolUse", { message: "no such file", code: "ENOENT" }],
    ["OnError", { message: "no such file", code: "ENOENT" }],
    ["OnError", { message: "just a text" }],
    ["OnError", { message: '{"status":500}' }],
  ]);
  assert.deepEqual(events[0]?.tool, { name: "t", success: false });
});

test("N-004 modify counts at every moment that has an input or an output", async () => {
  const { hooks, engine } = recorded();
  const modify = (answer: object) => () => ({ action: "modify" as const, ...answer });
  for (const hook of ["SessionStart", "UserPromptSubmitted", "PreToolUse", "SubagentStart", "PreCompact"]) {
    engine.register(hook, modify({ modifiedInput: "new input" }));
  }
  for (const hook of ["PostToolUse", "SubagentStop", "PostCompact", "OnError"]) {
    engine.register(hook, modify({ modifiedOutput: "new output" }));
  }
  assert.equal((await hooks.onStart({}, "You are kind")).input, "new input");
  assert.equal((await hooks.onStart()).input, "new input");
  assert.equal((await hooks.onPrompt("p")).input, "new input");
  assert.equal((await hooks.beforeTool("t", {})).input, "new input");
  assert.equal((await hooks.onSubagent({ phase: "start", name: "s", input: "i" })).input, "new input");
  assert.equal((await hooks.beforeCompact({ trigger: "t", window: ["m"] })).input, "new input");
  assert.equal((await hooks.afterTool({ name: "t", output: "o" })).output, "new output");
  assert.equal((await hooks.onSubagent({ phase: "stop", name: "s", output: "o" })).output, "new output");
  assert.equal((await hooks.afterCompact({ trigger: "t", window: ["m"] })).output, "new output");
  assert.equal((await hooks.onError(new Error("e"))).output, "new output");
  const rotated = await rotateSession(engine, hooks, { session: "ses_2", window: ["old"] });
  assert.equal(rotated.window, "new output");
});

test("N-004 what OnError makes of a failed call is what PostToolUse is given, and the loop in the end", async () => {
  const { hooks, engine } = recorded();
  engine.register("OnError", ({ error }) => ({ action: "modify", modifiedOutput: { failed: error?.message } }));
  engine.register("PostToolUse", ({ output }) => ({ action: "modify", modifiedOutput: { seen: output } }));
  const { output } = await hooks.afterTool({ name: "t", error: new Error("exit 1") });
  assert.deepEqual(output, { seen: { failed: "exit 1" } });
});

test("B-019 rotate stays true from call to call, until the session has rotated or the budget is low again", async () => {
  const { hooks, engine, events } = recorded();
  engine.add(budgetGuard());
  const at = async (usedTokens: number) => await hooks.onBudget({ usedTokens, effectiveLimit: 100 });
  assert.deepEqual([(await at(60)).rotate, (await at(75)).rotate], [false, false]);
  const first = await at(82);
  const again = await at(85);
  assert.deepEqual([first.rotate, again.rotate, (await at(90)).rotate], [true, true, true]);
  assert.deepEqual([again.blocked, again.reason, again.blockedBy], [true, first.reason, "budget-guard"]);
  assert.deepEqual([(await at(50)).rotate, (await at(81)).rotate], [false, true]);
  assert.equal(events.filter(({ hook }) => hook === "OnBudgetExceeded").length, 3);
  const rotated = await rotateSession(engine, hooks, { session: "ses_2" });
  assert.equal((await rotated.hooks.onBudget({ usedTokens: 10, effectiveLimit: 100 })).rotate, false);
  assert.equal((await at(82)).rotate, false, "the old session has rotated");
});

test("X-17 a loop fires Stop at the end of each turn, is asked to go on, and ends without it", async () => {
  const { hooks, events, engine } = recorded();
  let isRed = true;
  engine.register("Stop", function tests({ details }) {
    if (isRed) return { action: "block", reason: "the tests are red" };
    return { action: "passThrough", warnings: [`active: ${details?.["stopHookActive"]}`] };
  });
  const cleaned: unknown[] = [];
  engine.register("SessionEnd", ({ details }) => void cleaned.push(details?.["reason"]));
  await hooks.onPrompt("go");
  const { goOn, reason, blockedBy } = await hooks.onStop();
  assert.deepEqual([goOn, reason, blockedBy], [true, "the tests are red", "tests"]);
  isRed = false;
  const second = await hooks.onStop();
  assert.deepEqual([second.goOn, second.warnings], [false, ["active: true"]]);
  await hooks.onPrompt("more");
  assert.deepEqual((await hooks.onStop()).warnings, ["active: false"]);
  assert.deepEqual(cleaned, []);
  isRed = true;
  assert.deepEqual(await hooks.onEnd(), NOTHING);
  assert.deepEqual([cleaned, events.at(-1)?.details], [["end"], { reason: "end" }]);
  const unstopped = agentHooks(engine, { session: "ses_2" });
  const end = await unstopped.onEnd();
  assert.deepEqual([end.blocked, end.reason, cleaned], [true, "the tests are red", ["end", "end"]]);
});

test("N-002 around a tool that fires its own hooks, a step passes through and no handler hears it", async () => {
  const s = stage({ isGatedTool: (tool, agent) => agent === "primary" && tool.startsWith("mail.") });
  const heard: string[] = [];
  for (const hook of PORTABLE_HOOKS) s.engine.register(hook, ({ tool }) => void heard.push(`${hook} ${tool?.name}`));
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const input = { to: "a@example.com" };
  const error = new Error("refused");
  assert.deepEqual(await hooks.beforeTool("mail.send", input), { ...NOTHING, input });
  assert.deepEqual(await hooks.afterTool({ name: "mail.send", output: "sent" }), { ...NOTHING, output: "sent" });
  assert.deepEqual(await hooks.afterTool({ name: "mail.send", error }), { ...NOTHING, output: undefined });
  assert.deepEqual(await hooks.onError(error, { tool: "mail.send" }), { ...NOTHING, output: undefined });
  assert.deepEqual(heard, []);
  await hooks.beforeTool("own_tool", input);
  await agentHooks(s.engine, { session: "ses_1", agent: "primary.subagents.x" }).beforeTool("mail.send", input);
  assert.deepEqual(heard, ["PreToolUse own_tool", "PreToolUse mail.send"]);
});

test("B-004 a call that handlers ask about is put to a person once, after the chain, with its arguments as they are then", async () => {
  const steps: unknown[] = [];
  const s = stage({
    onAsk(step) {
      steps.push(step);
      return Promise.resolve({ decision: "allow", input: { command: "ls -l", edited: true } });
    },
  });
  const asks = { kind: "code", id: "asks" } as const;
  s.engine.register("PreToolUse", ({ ask }) => ask({ reason: "It lists" }), { source: asks });
  s.engine.register("PreToolUse", function widens() {
    return { action: "modify", modifiedInput: { command: "ls -l" }, additionalContext: ["hint"], warnings: ["w"] };
  });
  const hooks = agentHooks(s.engine, { session: "ses_1", agent: "primary.subagents.x" });
  const before = { command: "ls" };
  assert.deepEqual(await hooks.beforeTool("shell", before), {
    ...NOTHING,
    context: ["hint"],
    warnings: ["w"],
    input: { command: "ls -l", edited: true },
  });
  assert.deepEqual(steps, [{
    tool: "shell",
    agent: "primary.subagents.x",
    sessionId: "ses_1",
    input: { command: "ls -l" },
    before,
    changedBy: ["widens"],
    asked: [{ source: asks, reason: "It lists" }],
  }]);
});

test("B-004 a person's no is a block with who and why, and so is a failure to ask", async () => {
  const verdicts: [() => unknown, string, string | RegExp][] = [
    [() => Promise.resolve({ decision: "deny", by: "cli", reason: "Not today" }), "cli", "Not today"],
    [() => Promise.reject(new Error("no desk")), "onAsk", /asking failed: no desk/],
    [
      () => {
        throw new Error("no desk");
      },
      "onAsk",
      /asking failed: no desk/,
    ],
    [() => Promise.resolve({ decision: "perhaps" }), "onAsk", /neither allow nor deny/],
    [() => Promise.resolve(undefined), "onAsk", /asking failed/],
  ];
  for (const [onAsk, by, why] of verdicts) {
    const s = stage({ onAsk: onAsk as never });
    s.engine.register("PreToolUse", () => ({ action: "ask", reason: "sure?", additionalContext: ["hint"] }));
    const { blocked, blockedBy, reason, context } = await agentHooks(s.engine, { session: "ses_1" }).beforeTool(
      "a",
      {},
    );
    assert.deepEqual([blocked, blockedBy, context], [true, by, ["hint"]]);
    if (typeof why === "string") assert.equal(reason, why);
    else assert.match(reason ?? "", why);
  }
});

test("B-004 nobody is asked about a call that is blocked, asked about by none, or made where nobody can be asked", async () => {
  const onAsk = () => assert.fail("a person was asked");
  const s = stage({ onAsk });
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  s.engine.register("PreToolUse", ({ tool, ask }) => tool?.name === "a" ? ask({ reason: "sure?" }) : null);
  s.engine.register("PreToolUse", ({ tool }) => tool?.name === "a" ? { action: "block", reason: "Never" } : null);
  assert.equal((await hooks.beforeTool("a", {})).reason, "Never");
  assert.equal((await hooks.beforeTool("b", {})).blocked, false);
  const unheard = stage();
  unheard.engine.register("PreToolUse", function asks() {
    return { action: "ask", reason: "sure?" };
  });
  const { blocked, blockedBy, reason } = await agentHooks(unheard.engine, { session: "ses_1" }).beforeTool("a", {});
  assert.deepEqual([blocked, blockedBy], [true, "asks"]);
  assert.equal(reason, "It needs a person's yes, and nobody is asked here: sure?");
});

test("N-038 details of a loop are details of every event, under those of the event itself", async () => {
  const { engine, events } = recorded();
  const hooks = agentHooks(engine, { session: "ses_1", details: { model: "large", source: "startup" } });
  await hooks.onStart({ source: "resume" });
  await hooks.beforeTool("shell", {});
  assert.deepEqual(events.map(({ details }) => details), [
    { model: "large", source: "resume" },
    { model: "large", source: "startup" },
  ]);
});
