/**
 * The errors of calls that handlers of hooks keep from their tool, or their output from the caller.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { HookResult } from "../hooks/engine/result.ts";

const MAX_REASON = 500;

/** The error of a call that a handler blocked, before it was made or afterwards; `cause` is the tool's own failure. */
export function blockedError(
  tool: string,
  { hook, blockedBy, reason: whole }: HookResult,
  cause?: HostError | null,
): HostError {
  const [by, reason] = [blockedBy ?? "", (whole ?? "").slice(0, MAX_REASON)];
  const subject = hook === "PreToolUse" ? `The call of "${tool}"` : `The output of "${tool}"`;
  return new HostError("tool.blocked", `${subject} was blocked by ${by}: ${reason}`, {
    data: { tool, hook, by, reason },
    hint: hook === "PreToolUse" ? "The tool was not called" : "The tool was called; its output is withheld",
    ...(cause && { cause }),
  });
}

/** The error of a call that a handler of `PreToolUse` makes while it is being asked: nobody else could judge it. */
export function recursionError({ name: tool }: { readonly name: string }): HostError {
  const reason = "A handler of PreToolUse called a tool, and no handler can judge that call";
  return new HostError("tool.blocked", `The call of "${tool}" was blocked by the gate: ${reason}`, {
    data: { tool, hook: "PreToolUse", by: "gate", reason },
    hint: "Call tools once the handler has answered",
  });
}

/** The error of arguments that a handler of `PreToolUse` made unfit for the tool. */
export function changedArgumentsError(
  { name: tool }: { readonly name: string },
  { trace }: HookResult,
  cause: HostError,
): HostError {
  const changedBy = trace.filter(({ changed }) => changed?.includes("input")).map(({ source }) => source.id);
  return new HostError("tool.arguments_invalid", `${cause.message}, as ${changedBy.join(", ")} changed the arguments`, {
    data: { ...cause.data as object, tool, changed_by: changedBy },
    hint: "Correct the hook: its modifiedInput must fit the tool's schema",
    cause,
  });
}
