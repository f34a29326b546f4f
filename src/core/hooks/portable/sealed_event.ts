/**
 * The event as handlers get it: a copy of the caller's, frozen all the way down. One copy serves them all, since none
 * can change what another sees.
 *
 * @module
 */
import { jsonCopy } from "../dispatch/json_copy.ts";
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
  // Field by field, not in a loop: the shapes are few, and engines of the language are quick with those.
  if (repository !== undefined) event.repository = sealed("repository", repository);
  if (branch !== undefined) event.branch = sealed("branch", branch);
  if (budget !== undefined) event.budget = sealed("budget", budget);
  if (tool !== undefined) event.tool = sealed("tool", tool);
  if (input !== undefined) event.input = sealed("input", input);
  if (output !== undefined) event.output = sealed("output", output);
  if (error !== undefined) event.error = sealed("error", error);
  if (subagent !== undefined) event.subagent = sealed("subagent", subagent);
  if (details !== undefined) event.details = sealed("details", details);
  return Object.freeze(event);
}

/** Returns the sealed event with another input or output, which nobody else holds. */
export function changeEvent(event: HookEvent, change: Pick<HookEvent, "input" | "output">): HookEvent {
  return Object.freeze({ ...event, ...jsonCopy(change, LIMITS) });
}

function sealed<T>(field: string, value: T): T {
  if (typeof value === "string") return value;
  try {
    return jsonCopy(value, LIMITS);
  } catch (error) {
    throw new TypeError(`In "${field}": ${(error as Error).message}`);
  }
}
