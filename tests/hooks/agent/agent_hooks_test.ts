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
  for (const hook of PORTABLE_HOOKS) s.engine.register(hook, (event) => void events.push(event), { priority: -1 });
  return { ...s, events, hooks: agentHooks(s.engine, { sessionId: "ses_1", branch: "main" }) };
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

test("B-002 PostToolUse fires on success and on failure, and a failure fires OnError after it", async () => {
  const { hooks, events, engine } = recorded();
  engine.register("PostToolUse", () => ({ action: "modify", modifiedOutput: "cleaned", warnings: ["w1"] }));
  engine.register("OnError", () => ({ action: "injectContext", additionalContext: ["try again"], warnings: ["w2"] }));
  const error = { message: "exit 1", code: "E1" };
  assert.deepEqual(await hooks.afterTool({ name: "shell", output: "raw", error }), {
    ...NOTHING,
    context: ["try again"],
    warnings: ["w1", "w2"],
    output: "cleaned",
  });
  assert.deepEqual(events.map(({ hook, output, error }) => [hook, output, error?.code]), [
    ["PostToolUse", "raw", "E1"],
    ["OnError", "cleaned", "E1"],
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
  assert.throws(() => agentHooks(stage().engine, { sessionId: "s", thresholds: { warnAt: 0.9 } }), RangeError);
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
  const rotated = await rotateSession(engine, hooks, { sessionId: "ses_2", window: ["old"] });
  assert.deepEqual(events.map(({ hook, sessionId, details }) => [hook, sessionId, details]), [
    ["PreCompact", "ses_1", { trigger: "rotation" }],
    ["SessionEnd", "ses_1", { nextSessionId: "ses_2", reason: "rotation" }],
    ["SessionStart", "ses_2", { rotatedFrom: "ses_1" }],
    ["PostCompact", "ses_2", { trigger: "rotation" }],
  ]);
  assert.deepEqual([rotated.hooks.at.sessionId, rotated.window], ["ses_2", "follows ses_1\n\nissue #145"]);
});

test("B-014 a block of PreCompact keeps the session", async () => {
  const { hooks, events, engine } = recorded();
  engine.register("PreCompact", () => ({ action: "block", reason: "not saved yet" }));
  const rotated = await rotateSession(engine, hooks, { sessionId: "ses_2", window: ["old"] });
  assert.deepEqual([rotated.blocked, rotated.reason, rotated.window], [true, "not saved yet", ["old"]]);
  assert.equal(rotated.hooks, hooks);
  assert.deepEqual(events.map(({ hook }) => hook), ["PreCompact"]);
});
