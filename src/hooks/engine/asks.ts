/**
 * Asks of handlers: a person's yes to a call of a tool, and what becomes of an ask that no person can answer.
 *
 * @module
 */
import type { HookAsk, HookResult, HookTrace } from "./result.ts";
import type { HookMoment } from "./types.ts";

/** A call that handlers of `PreToolUse` want a person's yes for. */
export interface AskedStep {
  /** The tool, as handlers know it. */
  readonly tool: string;
  /** Path of the agent, such as `primary`. */
  readonly agent: string;
  /** Id of the session. */
  readonly sessionId: string;
  /** The arguments as the tool would be given them. */
  readonly input: unknown;
  /** The arguments as the loop gave them. */
  readonly before: unknown;
  /** Ids of the handlers that changed them, in their order. */
  readonly changedBy: readonly string[];
  /** The handlers that ask, in their order; at least one. */
  readonly asked: readonly HookAsk[];
}

/** The answer to an {@link AskedStep}: go on with these arguments, or who said no and why. */
export type AskVerdict =
  | { readonly decision: "allow"; readonly input: unknown }
  | { readonly decision: "deny"; readonly by: string; readonly reason: string };

/** Shared by all firings in which nobody asks. */
export const NO_ASKS: readonly HookAsk[] = Object.freeze([]);

/** Returns the reason of a block that stands for an ask, where nobody can be asked. */
export function unansweredAsk(reason: string): string {
  return `It needs a person's yes, and nobody is asked here: ${reason}`;
}

/** Returns the reason of a block that stands for an ask at another moment than `PreToolUse`. */
export function misplacedAsk(hook: HookMoment, reason: string): string {
  return `It needs a person's yes, and only PreToolUse can ask, not ${hook}: ${reason}`;
}

/** Whether a firing is blocked only because nobody could be asked, by the reason of its block. */
export function isUnanswered({ asked, reason }: {
  readonly asked: readonly Pick<HookAsk, "reason">[];
  readonly reason: HookResult["reason"];
}): boolean {
  return asked.length > 0 && reason === unansweredAsk(asked[0]!.reason);
}

/** Returns the ids of the handlers that changed the input, in their order. */
export function changersOf(trace: readonly HookTrace[]): string[] {
  return trace.filter(({ changed }) => changed?.includes("input")).map(({ source }) => source.id);
}
