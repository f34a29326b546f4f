/**
 * The result of firing a hook, and the trace of each handler on the way.
 *
 * @module
 */
import type { HookMoment, HookResponse, HookSource } from "./types.ts";

/**
 * The outcome of one handler: it had something to say (`ran`), or nothing (`quiet`); it failed (`broke`); it was not for
 * this event (`skipped`); or another one had blocked before it.
 */
export type HookTraceOutcome = "ran" | "quiet" | "broke" | "skipped" | `blocked by ${string}`;

/** One handler's part in a firing. */
export interface HookTrace {
  /** The moment that was fired. */
  readonly hook: HookMoment;
  /** Id of the session. */
  readonly session: string;
  /** Path of the agent, such as `primary`. */
  readonly agent: string;
  /** The handler: where it comes from. */
  readonly source: HookSource;
  /** Whether it was asked, and how that ended. */
  readonly outcome: HookTraceOutcome;
  /** Milliseconds it took. Without a listener of traces, only the time it was waited for counts. */
  readonly durationMs: number;
  /** The action of its answer, when it ran. */
  readonly action?: HookResponse["action"];
  /** Whether its block, change or ask did not count: it is advisory, or for telemetry. */
  readonly hadNoSay?: boolean;
  /** Why it blocked or asked, why it was skipped, how it broke. */
  readonly reason?: string;
  /** The parts of the event that it changed. */
  readonly changed?: readonly ("input" | "output")[];
  /** Bytes of text it injected. */
  readonly injectedBytes?: number;
  /** Whether its text was cut to the budget. */
  readonly cut?: boolean;
  /** The name it gives itself in `metadata.hookId`. */
  readonly hookId?: string;
}

/** A handler of `PreToolUse` that wants a person's yes. */
export interface HookAsk {
  /** The handler: where it comes from. */
  readonly source: HookSource;
  /** Why a person is to decide, in the handler's words. */
  readonly reason: string;
}

/** The result of a firing. */
export interface HookResult {
  /** The moment that was fired. */
  readonly hook: HookMoment;
  /** Whether the action may not go on. */
  readonly blocked: boolean;
  /** Id of the handler that blocked, or null. */
  readonly blockedBy: string | null;
  /** The reason it gave, or null. */
  readonly reason: string | null;
  /** The caller's own input, or the one that handlers left in its place. */
  readonly input: unknown;
  /** The caller's own output, or the one that handlers left in its place. */
  readonly output: unknown;
  /** Text for the next step of reasoning, in the order of the handlers. */
  readonly context: readonly string[];
  /**
   * The handlers that want a person's yes, in their order. Unless the event was fired with `canAsk`, the first of them has
   * blocked it.
   */
  readonly asked: readonly HookAsk[];
  /** Notices that block nothing. */
  readonly warnings: readonly string[];
  /** Set when a handler of this hook fired it again: no handler was asked. */
  readonly isRecursive?: true;
  /** One for each handler, in order. */
  readonly trace: readonly HookTrace[];
}
