/**
 * Built-in: an agent that goes round in circles is stopped, with the circle named.
 *
 * @module
 */
import type { HookEvent, HookRegistration, HookResponse } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { errorSignature } from "./error_signature.ts";
import { MAX_SESSIONS, perKey } from "./per_key.ts";
import { valueKey } from "./text_key.ts";

/** The counts at which it is a loop. */
export interface LoopDetectorOptions extends BuiltinOptions {
  /** Failures of one command with one error. Default 3. */
  readonly failures?: number;
  /** Rounds of two calls that bring nothing new. Default 3. */
  readonly rounds?: number;
  /** Compactions in a row that free less than a twentieth. Default 2. */
  readonly compactions?: number;
}

interface Call {
  readonly command: string;
  readonly outcome: string;
  readonly failed: boolean;
  readonly atMs: number;
}

interface SessionState {
  /** The latest calls, oldest first. */
  readonly calls: Call[];
  idleCompactions: number;
}

const MAX_CALLS = 60;
const USEFUL_SHARE = 0.95;

/** Returns the handlers: `PostToolUse` and `PostCompact`, priority 80. Keys of calls are kept, never their content. */
export function loopDetector(
  { failures = 3, rounds = 3, compactions = 2, ...options }: LoopDetectorOptions = {},
): HookRegistration[] {
  const stateOf = perKey<SessionState>(MAX_SESSIONS, () => ({ calls: [], idleCompactions: 0 }));
  return builtin("loop-detector", { priority: 80 }, options, {
    PostToolUse(event) {
      const { calls } = stateOf(event.sessionId);
      calls.push(callOf(event));
      if (calls.length > MAX_CALLS) calls.shift();
      return repeatedFailure(calls, failures, event) ?? alternation(calls, rounds);
    },
    PostCompact({ sessionId, details }) {
      const state = stateOf(sessionId);
      const [before, after] = [tokensOf(details?.before), tokensOf(details?.after)];
      if (before === null || after === null) return null;
      state.idleCompactions = after >= before * USEFUL_SHARE ? state.idleCompactions + 1 : 0;
      if (state.idleCompactions < compactions) return null;
      return block(
        `${state.idleCompactions} compactions in a row have freed next to nothing (${before} → ${after} tokens)`,
      );
    },
  });
}

function callOf({ agent, tool, input, output, error, timestamp }: HookEvent): Call {
  const failed = tool?.success === false || error !== undefined;
  return {
    command: `${agent} ${tool?.name} ${valueKey(input)}`,
    outcome: failed ? errorSignature(error?.message ?? textOf(output)) : valueKey(output),
    failed,
    atMs: Date.parse(timestamp),
  };
}

/** The same command, with the same error, and no success of it in between. */
function repeatedFailure(calls: readonly Call[], limit: number, { tool }: HookEvent): HookResponse | null {
  const last = calls.at(-1)!;
  if (!last.failed) return null;
  let count = 0;
  let firstMs = last.atMs;
  for (const { command, outcome, failed, atMs } of calls.toReversed()) {
    if (command !== last.command) continue;
    if (!failed || outcome !== last.outcome) break;
    count++;
    firstMs = atMs;
  }
  if (count < limit) return null;
  const minutes = Math.round((last.atMs - firstMs) / 60_000);
  const span = minutes > 0 ? ` in ${minutes} ${minutes === 1 ? "minute" : "minutes"}` : "";
  return block(`the same call of ${tool?.name ?? "a tool"} failed ${count} times${span} with the same error`);
}

/** A B A B A B, and neither brings anything it did not bring before. */
function alternation(calls: readonly Call[], rounds: number): HookResponse | null {
  const latest = calls.slice(-2 * rounds);
  if (latest.length < 2 * rounds) return null;
  const [first, second] = latest as [Call, Call];
  if (first.command === second.command) return null;
  const isSame = (call: Call, index: number): boolean => {
    const wanted = index % 2 === 0 ? first : second;
    return call.command === wanted.command && call.outcome === wanted.outcome;
  };
  return latest.every(isSame) ? block(`two calls alternate, ${rounds} times each, and bring nothing new`) : null;
}

function block(what: string): HookResponse {
  const reason = `Loop detected: ${what}. Change the strategy, or ask for help`;
  return { action: "block", reason, metadata: { hookId: "loop-detector" } };
}

function tokensOf(size: unknown): number | null {
  const tokens = (size as { tokens?: unknown } | null | undefined)?.tokens;
  return typeof tokens === "number" ? tokens : null;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}
