/**
 * Lifecycle events of agents: their fields, and the emitter that hands them out. A host emits them when it is given
 * `events: { level }`; subscribe with `host.on`.
 *
 * @example Hear every run that ends
 * ```ts
 * import assert from "node:assert/strict";
 * import { createEmitter } from "@kaged/plugin-host/events";
 *
 * const emitter = createEmitter({ level: "summary", clock: Date });
 * const heard: string[] = [];
 * const end = emitter.on("agent:error", ({ agentName, error }) => heard.push(`${agentName}: ${error}`));
 * const run = { agentName: "primary", input: "hello", duration: 40, conversationId: "ses_1" };
 * emitter.emit("agent:error", { ...run, error: "no answer" });
 * await Promise.resolve(); // Subscribers run after the work they hear of.
 * assert.deepEqual(heard, ["primary: no answer"]);
 * end();
 * ```
 *
 * @module
 */
export { createEmitter, type Emitter, type EmitterOptions, type EventProblem } from "./emitter.ts";
export {
  type AgentFields,
  type AnyEvent,
  type DelegateFields,
  type EmittedEvents,
  type EmittedName,
  EVENT_NAMES,
  type EventLevel,
  type EventName,
  type Events,
  type JobFields,
  levelOf,
  type RunFields,
  type SummaryEvents,
  type TokenUsage,
  type TraceEvents,
} from "./types.ts";
export type { Size } from "../core/compaction/messages.ts";
