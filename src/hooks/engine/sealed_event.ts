/**
 * The event as handlers get it: a copy of the caller's, frozen all the way down. One copy serves them all, since none
 * can change what another sees.
 *
 * @module
 */
import { copyField, openWalk } from "../dispatch/json_copy.ts";
import type { HookEvent, PortableHookName } from "./types.ts";

/** What a caller gives. */
type GivenEvent = Omit<HookEvent, "hook" | "timestamp">;
type Draft = { -readonly [Field in keyof HookEvent]: HookEvent[Field] };

/** A window of a large model fits. */
const LIMITS = { frozen: true, maxChars: 64 * 1024 * 1024 };

/**
 * Returns the sealed event; fields that events do not have are left out.
 *
 * @throws {TypeError} that says what in it is no JSON.
 */
export function sealEvent(given: GivenEvent, hook: PortableHookName, timestamp: string): HookEvent {
  const { sessionId, agent, repository, branch, budget, tool, input, output, error, subagent, details } = given;
  const event: Draft = { hook, timestamp, sessionId, agent };
  const walk = openWalk(LIMITS);
  // Field by field, not in a loop: the shapes are few, and engines of the language are quick with those.
  if (repository !== undefined) event.repository = copyField("repository", repository, walk);
  if (branch !== undefined) event.branch = copyField("branch", branch, walk);
  if (budget !== undefined) event.budget = copyField("budget", budget, walk);
  if (tool !== undefined) event.tool = copyField("tool", tool, walk);
  if (input !== undefined) event.input = copyField("input", input, walk);
  if (output !== undefined) event.output = copyField("output", output, walk);
  if (error !== undefined) event.error = copyField("error", error, walk);
  if (subagent !== undefined) event.subagent = copyField("subagent", subagent, walk);
  if (details !== undefined) event.details = copyField("details", details, walk);
  return Object.freeze(event);
}

/** Returns the sealed event with another input or output, which is sealed already. */
export function changeEvent(event: HookEvent, change: Pick<HookEvent, "input" | "output">): HookEvent {
  return Object.freeze({ ...event, ...change });
}
