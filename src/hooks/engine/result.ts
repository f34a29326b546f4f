/**
 * What comes of firing a hook, and what is told of each handler on the way.
 *
 * @module
 */
import type { HookMoment, HookResponse, HookSource } from "./types.ts";

/**
 * What came of one handler: it had something to say (`ran`), or nothing (`quiet`); it failed (`broke`); it was not for
 * this event (`skipped`); or another one had blocked before it.
 */
export type HookTraceOutcome = "ran" | "quiet" | "broke" | "skipped" | `blocked by ${string}`;

/** One handler's part in a firing. */
export interface HookTrace {
  /** The moment. */
  readonly hook: HookMoment;
  /** The session. */
  readonly sessionId: string;
  /** Agent path. */
  readonly agent: string;
  /** The handler. */
  readonly source: HookSource;
  /** What came of it. */
  readonly outcome: HookTraceOutcome;
  /** How long it took; while nobody listens to traces, what it took before it had to be waited for does not count. */
  readonly durationMs: number;
  /** What it asked for, when it ran. */
  readonly action?: HookResponse["action"];
  /** Whether what it asked for was only told: it is advisory, or for telemetry. */
  readonly hadNoSay?: boolean;
  /** Why it blocked, why it was skipped, how it broke. */
  readonly reason?: string;
  /** What it changed. */
  readonly changed?: readonly ("input" | "output")[];
  /** Bytes it injected. */
  readonly injectedBytes?: number;
  /** Whether its text was cut to the budget. */
  readonly cut?: boolean;
  /** Its own name for itself. */
  readonly hookId?: string;
}

/** What came of a firing. */
export interface HookResult {
  /** The moment. */
  readonly hook: HookMoment;
  /** Whether the action may not go on. */
  readonly blocked: boolean;
  /** Who blocked, or null. */
  readonly blockedBy: string | null;
  /** Why, or null. */
  readonly reason: string | null;
  /** The input as the handlers left it. */
  readonly input: unknown;
  /** The output as the handlers left it. */
  readonly output: unknown;
  /** Text for the next step of reasoning, in the order of the handlers. */
  readonly context: readonly string[];
  /** Notices that block nothing. */
  readonly warnings: readonly string[];
  /** What came of each handler, in order. */
  readonly trace: readonly HookTrace[];
}
