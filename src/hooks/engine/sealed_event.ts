/**
 * The event as handlers get it: a copy of the caller's, frozen all the way down. One copy serves them all, since none
 * can change what another sees.
 *
 * @module
 */
import { copyField, type JsonWalk, openWalk } from "../../core/values/json_copy.ts";
import { errorFacts } from "./error_facts.ts";
import type { HookEvent, HookMoment, PortableHookName } from "./types.ts";

/** A sealed event, and the reason why it lacks a part of the caller's. */
export interface SealedEvent {
  readonly event: HookEvent;
  /** Null when handlers see the event whole. */
  readonly cut: string | null;
}

type GivenEvent = Omit<HookEvent, "hook" | "timestamp" | "error"> & { readonly error?: unknown };
type Draft = { -readonly [Field in keyof HookEvent]: HookEvent[Field] };

/** A window of a large model fits. */
const LIMITS = { frozen: true, maxChars: 64 * 1024 * 1024 };

/** Returns the sealed event; fields that events do not have are left out. Never throws. */
export function sealEvent(given: GivenEvent, hook: HookMoment, timestamp: string): SealedEvent {
  const { sessionId, agent } = given;
  const event: Draft = { hook: hook as PortableHookName, timestamp, sessionId, agent };
  let walk = openWalk(LIMITS);
  try {
    copyFields(given, event, walk);
  } catch {
    // Something in it is no JSON, which is rare: only then the copy goes the slower way.
    walk = openWalk({ ...LIMITS, normalises: true });
    copyFields(given, event, walk);
  }
  return { event: Object.freeze(event), cut: walk.cut };
}

/** Field by field, not in a loop: the shapes are few, and engines of the language are quick with those. */
function copyFields(given: GivenEvent, event: Draft, walk: JsonWalk): void {
  const { repository, branch, budget, tool, input, output, error, subagent, details } = given;
  if (repository !== undefined) event.repository = copyField("repository", repository, walk);
  if (branch !== undefined) event.branch = copyField("branch", branch, walk);
  if (budget !== undefined) event.budget = copyField("budget", budget, walk);
  if (tool !== undefined) event.tool = copyField("tool", tool, walk);
  if (input !== undefined) event.input = copyField("input", input, walk) ?? null;
  if (output !== undefined) event.output = copyField("output", output, walk) ?? null;
  if (hasFailed(error)) event.error = copyField("error", errorFacts(error), walk);
  if (subagent !== undefined) event.subagent = copyField("subagent", subagent, walk);
  if (details !== undefined) event.details = copyField("details", details, walk);
}

/** Whether the `error` of an event or of a tool call stands for a failure. */
export function hasFailed(error: unknown): boolean {
  return error !== undefined && error !== null;
}
