/**
 * An emitter and one event of each kind, for add-ons to hear.
 *
 * @module
 */
import { createEmitter, type Emitter } from "../../src/events/emitter.ts";
import type { EmittedEvents, EmittedName } from "../../src/events/types.ts";
import { createFakeClock, type FakeClock } from "./fake_clock.ts";

const run = { agentName: "email-checker", input: "the question", conversationId: "ses_1" };
const usage = { promptTokens: 1000, completionTokens: 247, totalTokens: 1247 };
const job = { jobId: "job_1", agentName: "email-checker" };
const step = { agentName: "email-checker", conversationId: "ses_1" };
const delegation = { parentAgent: "primary", childAgent: "email-checker", conversationId: "ses_1" };

/** One event of each kind, without its time. */
export const TOLD: { readonly [E in EmittedName]: Omit<EmittedEvents[E], "timestamp"> } = {
  "agent:start": run,
  "agent:end": { ...run, output: "the answer", toolsUsed: ["a", "b", "c"], usage, duration: 2340 },
  "agent:error": { ...run, agentName: "summarizer", error: "Rate limit exceeded", duration: 450 },
  "job:start": { ...job, input: "the question", conversationId: "ses_1" },
  "job:end": { ...job, output: "the answer", duration: 2340, usage },
  "job:error": { ...job, error: "Rate limit exceeded", duration: 450 },
  "job:cancelled": { ...job, duration: 450 },
  "cron:executed": {
    cronId: "nightly",
    agentName: "email-checker",
    executionId: "e1",
    status: "completed",
    duration: 450,
  },
  "tool:execute": {
    ...step,
    toolName: "searchEmails",
    input: { q: "the question" },
    output: ["the answer"],
    duration: 889.6,
  },
  "delegate:start": { ...delegation, input: "the question" },
  "delegate:end": { ...delegation, output: "the answer", duration: 450 },
  "model:call": { ...step, model: "m-1", promptTokens: 1000, completionTokens: 247, duration: 450 },
  "hook:execute": { ...step, plugin: "memory", hook: "pre_compact", outcome: "timeout", duration: 450 },
  "hook:metric": { ...step, hook: "PreToolUse", correlationId: "ses_1", figures: { checks: 2, blocked: false } },
  "compaction:execute": {
    ...step,
    trigger: "manual",
    by: "drop",
    before: { messages: 40, tokens: 12_000 },
    after: { messages: 8, tokens: 3000 },
    duration: 450,
  },
};

/** Something to hear, under the test's hand. */
export interface Told {
  readonly emitter: Emitter;
  readonly clock: FakeClock;
  /** Emits one event of each kind named and waits until it was heard. */
  tell(...names: EmittedName[]): Promise<void>;
}

/** Returns an emitter at the level `trace`, and ways to make it speak. */
export function toldEvents(): Told {
  const clock = createFakeClock();
  const emitter = createEmitter({ level: "trace", clock });
  return {
    emitter,
    clock,
    async tell(...names) {
      for (const name of names) emitter.emit(name, TOLD[name] as never);
      await new Promise(setImmediate);
    },
  };
}
