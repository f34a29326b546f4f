import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyEvent, EventSource } from "../../src/addons/mod.ts";
import { hosted } from "../support/hosted.ts";
import { TOLD, toldEvents } from "../support/told_events.ts";

/** What each agent has cost, from calls of models alone. */
function createCostMeter(source: EventSource, pricePerToken: Readonly<Record<string, number>>) {
  const cost = new Map<string, number>();
  const end = source.on("model:call", ({ agentName, model, promptTokens, completionTokens }) => {
    const price = (promptTokens + completionTokens) * (pricePerToken[model] ?? 0);
    cost.set(agentName, (cost.get(agentName) ?? 0) + price);
  });
  return { cost, end };
}

interface Score {
  readonly agentName: string;
  readonly conversationId: string;
  readonly score: number;
  /** What people said of the answer, added when they say it. */
  thumbs?: "up" | "down";
}

/** Judges every answer, and joins what people say of it. */
function createEvals(source: EventSource, judge: (input: string, output: string) => number) {
  const scores: Score[] = [];
  source.on("agent:end", ({ agentName, conversationId, input, output }) => {
    scores.push({ agentName, conversationId, score: judge(input, output) });
  });
  const feedback = (conversationId: string, thumbs: "up" | "down"): void => {
    const latest = scores.findLast((score) => score.conversationId === conversationId);
    if (latest) latest.thumbs = thumbs;
  };
  return { scores, feedback };
}

/** Counts and durations per minute and event. */
function createAnalytics(source: EventSource) {
  const rows = new Map<string, { count: number; totalMs: number }>();
  source.on("*", (event: AnyEvent) => {
    const key = `${event.timestamp.slice(0, 16)} ${event.type}`;
    const { count, totalMs } = rows.get(key) ?? { count: 0, totalMs: 0 };
    rows.set(key, { count: count + 1, totalMs: totalMs + ("duration" in event ? event.duration : 0) });
  });
  return rows;
}

test("T-015 costs, evals, feedback and analytics are built on events alone", async () => {
  const { emitter, tell, clock } = toldEvents();
  const { cost, end } = createCostMeter(emitter, { "m-1": 0.001 });
  const { scores, feedback } = createEvals(emitter, (input, output) => output.length / input.length);
  const analytics = createAnalytics(emitter);
  await tell("model:call", "model:call", "agent:end");
  clock.advance(60_000);
  end();
  await tell("model:call", "agent:error");
  feedback("ses_1", "down");
  assert.deepEqual(Object.fromEntries(cost), { "email-checker": 2 * 1.247 });
  assert.deepEqual(scores, [{
    agentName: "email-checker",
    conversationId: "ses_1",
    score: "the answer".length / "the question".length,
    thumbs: "down",
  }]);
  assert.deepEqual(Object.fromEntries(analytics), {
    "2026-01-01T00:00 model:call": { count: 2, totalMs: 900 },
    "2026-01-01T00:00 agent:end": { count: 1, totalMs: 2340 },
    "2026-01-01T00:01 model:call": { count: 1, totalMs: 450 },
    "2026-01-01T00:01 agent:error": { count: 1, totalMs: 450 },
  });
});

test("T-015 an add-on hears a host as it hears an emitter, and breaks neither", async () => {
  const warnings: string[] = [];
  await using h = await hosted({ events: { level: "trace" }, onWarning: (message) => warnings.push(message) });
  const { cost } = createCostMeter(h.host, { "m-1": 0.001 });
  createEvals(h.host, () => {
    throw new Error("The judge is out");
  });
  h.host.emit("model:call", TOLD["model:call"]);
  h.host.emit("agent:end", TOLD["agent:end"]);
  await new Promise(setImmediate);
  assert.deepEqual([...cost.keys()], ["email-checker"]);
  assert.equal(warnings.length, 1);
});
