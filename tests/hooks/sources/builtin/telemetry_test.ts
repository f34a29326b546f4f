import assert from "node:assert/strict";
import { test } from "node:test";
import { createEmitter } from "../../../../src/events/emitter.ts";
import { agentHooks } from "../../../../src/hooks/agent/agent_hooks.ts";
import { rotateSession } from "../../../../src/hooks/agent/rotate_session.ts";
import { anchorCheck } from "../../../../src/hooks/sources/builtin/anchor_check.ts";
import { errorKnowledge } from "../../../../src/hooks/sources/builtin/error_knowledge.ts";
import { handoff } from "../../../../src/hooks/sources/builtin/handoff.ts";
import { memoryNotes } from "../../../../src/hooks/sources/builtin/notes.ts";
import { type HookMetric, telemetry } from "../../../../src/hooks/sources/builtin/telemetry.ts";
import { stage } from "../../engine/stage.ts";

const SECRET = "Fire Bob (bob@example.com) on Monday";

function measured() {
  const s = stage();
  const metrics: HookMetric[] = [];
  s.engine.add(telemetry({ emit: (metric) => metrics.push(metric), categorize: () => "question" }));
  const notes = memoryNotes();
  s.engine.add(handoff({ notes, summarize: () => "12345678" }));
  s.engine.add(anchorCheck({ anchors: () => [{ name: "issue", text: "#1" }] }));
  s.engine.add(errorKnowledge({ notes }).registrations);
  const hooks = agentHooks(s.engine, { session: "ses_1" });
  const figures = () => metrics.map((metric) => [metric.hook, metric.figures]);
  return { ...s, metrics, hooks, figures };
}

test("B-015 B-016 each hook has its figures", async () => {
  const { hooks, engine, clock, figures } = measured();
  await hooks.onStart({ bootstrapMs: 40, model: "some-model" });
  await hooks.onPrompt(SECRET);
  await hooks.onPrompt(SECRET);
  engine.register("PreToolUse", () => ({ action: "passThrough", warnings: ["careful"] }));
  await hooks.beforeTool("memory-markdown.recall", { query: SECRET });
  await hooks.afterTool({ name: "memory-markdown.recall", output: SECRET, durationMs: 12 });
  await hooks.afterTool({ name: "shell", error: { message: SECRET, code: "EACCES" } });
  await hooks.onSubagent({ phase: "start", name: "researcher", input: SECRET });
  clock.advance(50);
  await hooks.onSubagent({ phase: "stop", name: "researcher", output: SECRET });
  await hooks.beforeCompact({ trigger: "x", before: { tokens: 1000 }, window: [SECRET] });
  await hooks.afterCompact({ trigger: "x", before: { tokens: 1000 }, after: { tokens: 250 }, window: ["#1"] });
  await hooks.onBudget({ usedTokens: 75, effectiveLimit: 100 });
  await hooks.onEnd("end", { persistedFacts: 3 });
  const subagent = { subagent: "researcher", parent: "primary", depth: 1 };
  assert.deepEqual(figures(), [
    ["SessionStart", { memoryHits: 0, bootstrapMs: 40, model: "some-model" }],
    ["UserPromptSubmitted", { category: "question", phase: "first", blocked: false }],
    ["UserPromptSubmitted", { category: "question", phase: "later", blocked: false }],
    ["PreToolUse", { category: "memory-markdown", checks: 2, warnings: 1, blocked: false }],
    ["PostToolUse", { tool: "memory-markdown.recall", durationMs: 12, success: true, blocked: false }],
    ["OnError", { errorClass: "EACCES", tool: "shell", recurrence: 1 }],
    ["PostToolUse", { tool: "shell", success: false, blocked: false }],
    ["SubagentStart", { ...subagent, blocked: false }],
    ["SubagentStop", { ...subagent, durationMs: 50 }],
    ["PreCompact", { tokens: 1000, handoffBytes: 8, blocked: false }],
    ["PostCompact", { anchorsKept: 1, anchorsLost: 0, ratio: 0.25 }],
    ["OnBudgetExceeded", { threshold: 0.7, rotates: false, rotations: 0 }],
    ["SessionEnd", { durationMs: 50, toolCalls: 2, persistedFacts: 3 }],
  ]);
});

test("B-015 no prompt, file, error or person is in any figure, wherever it is put", async () => {
  const { engine, metrics } = measured();
  const hooks = agentHooks(engine, { session: "ses_1", agent: SECRET, repository: SECRET, branch: SECRET });
  await hooks.onStart({ model: SECRET, memoryHits: SECRET, bootstrapMs: SECRET });
  await hooks.onPrompt(SECRET, { category: SECRET });
  await hooks.beforeTool(SECRET, SECRET);
  await hooks.afterTool({ name: SECRET, input: SECRET, output: SECRET, error: { message: SECRET, code: SECRET } });
  await hooks.onSubagent({ phase: "start", name: SECRET });
  await hooks.onSubagent({ phase: "stop", name: SECRET, output: SECRET });
  await hooks.onError({ message: SECRET, code: SECRET }, { what: SECRET });
  await hooks.beforeCompact({ trigger: SECRET, window: SECRET });
  await hooks.afterCompact({ trigger: SECRET, window: SECRET });
  await hooks.onBudget({ usedTokens: 99, effectiveLimit: 100 });
  await hooks.onEnd(SECRET, { persistedFacts: SECRET });
  assert.equal(metrics.length, 12);
  assert.doesNotMatch(JSON.stringify(metrics), /Bob|bob|Monday/);
});

test("B-016 B-017 rotations are counted, and figures of one task share a correlation id", async () => {
  const { engine, hooks, metrics } = measured();
  await hooks.onStart();
  const { hooks: second } = await rotateSession(engine, hooks, { session: "ses_2" });
  const { hooks: third } = await rotateSession(engine, second, { session: "ses_3" });
  await third.onBudget({ usedTokens: 75, effectiveLimit: 100 });
  assert.deepEqual(metrics.at(-1)?.figures.rotations, 2);
  assert.deepEqual(new Set(metrics.map(({ correlationId }) => correlationId)), new Set(["ses_1"]));
  const started = metrics.filter(({ hook }) => hook === "SessionStart");
  assert.deepEqual(started.map(({ figures }) => figures.memoryHits), [0, 1, 1]);
});

test("B-015 figures go out as events, and a sink that fails changes nothing", async () => {
  const { engine, clock } = stage();
  const emitter = createEmitter({ level: "trace", clock });
  const heard: unknown[] = [];
  emitter.on("hook:metric", (event) => heard.push(event));
  engine.add(telemetry({ emit: (metric) => emitter.emit("hook:metric", metric) }));
  engine.add(telemetry({
    emit: () => {
      throw new Error("offline");
    },
  }));
  const { blocked, warnings } = await agentHooks(engine, { session: "ses_1" }).onEnd();
  assert.deepEqual([blocked, warnings], [false, ["Hook failed: offline"]]);
  await Promise.resolve();
  const at = { agentName: "primary", conversationId: "ses_1", hook: "SessionEnd", correlationId: "ses_1" };
  assert.deepEqual(heard, [{ ...at, figures: { toolCalls: 0 }, timestamp: "2026-01-01T00:00:00.000Z" }]);
});
