/**
 * The next state of a plugin instance. Pure: the driver owns the timers and the process, and does what the state says.
 *
 * @module
 */
import type { PluginStatus } from "./types.ts";

/** How failures are answered. */
export interface RestartPolicy {
  /** Wait before the first restart; each further one doubles it. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** This many failures inside {@link windowMs} end the attempts. */
  readonly maxFailures: number;
  /** The window; that long without a failure, and the count starts anew. */
  readonly windowMs: number;
}

/** The documented policy: 1, 2, 4 … 60 s; five failures in ten minutes are final. */
export const RESTART_POLICY: RestartPolicy = {
  firstDelayMs: 1_000,
  maxDelayMs: 60_000,
  maxFailures: 5,
  windowMs: 600_000,
};

/** The state of an instance, with the failures behind it. */
export interface InstanceState {
  /** Status shown to everyone. */
  readonly status: PluginStatus;
  /** Failures since the last calm spell, newest last: when each happened, monotonic ms. */
  readonly failures: readonly number[];
  /** How long a crashed instance waits before its next start. */
  readonly delayMs: number;
  /** Starts after the first, since it was enabled. */
  readonly restarts: number;
}

/** An event in the life of an instance. */
export type InstanceEvent =
  /** The operator, or the host at its start, wants it running; earlier failures are forgotten. */
  | { readonly type: "enabled" }
  /** The handshake is complete. */
  | { readonly type: "ready" }
  /** The process ended, or never came up, and may be tried again. */
  | { readonly type: "failed"; readonly atMs: number }
  /** It failed in a way that another try cannot mend. */
  | { readonly type: "refused" }
  /** The wait of a crashed instance is over. */
  | { readonly type: "delayElapsed" }
  /** It may do without a process until it is needed. */
  | { readonly type: "rested" }
  /** A call or a hook needs a process; earlier failures count on. */
  | { readonly type: "woken" }
  /** Another process, ready already, has taken over; earlier failures are forgotten. */
  | { readonly type: "replaced" }
  /** It was stopped on purpose. */
  | { readonly type: "stopped" }
  /** The operator does not want it running. */
  | { readonly type: "disabled" };

/** An instance nobody has started. */
export const FRESH: InstanceState = { status: "disabled", failures: [], delayMs: 0, restarts: 0 };
/** One that rests and has never failed: most of a thousand share this state. */
const RESTING: InstanceState = { ...FRESH, status: "resting" };

/** Returns the state that follows `state` when `event` happens. An event out of turn changes nothing. */
export function nextState(state: InstanceState, event: InstanceEvent, policy: RestartPolicy): InstanceState {
  const { status } = state;
  const isUp = status === "spawning" || status === "running";
  switch (event.type) {
    case "enabled":
      return isUp ? state : { ...FRESH, status: "spawning" };
    case "ready":
      return status === "spawning" ? { ...state, status: "running" } : state;
    case "rested":
      return status === "running" ? { ...state, status: "resting" } : isUp ? state : RESTING;
    case "woken":
      return status === "resting" ? { ...state, status: "spawning" } : state;
    case "replaced":
      return status === "stopped" || status === "disabled" ? state : { ...FRESH, status: "running" };
    case "failed":
      return isUp ? afterFailure(state, event.atMs, policy) : state;
    case "refused":
      return isUp ? { ...state, status: "failed", delayMs: 0 } : state;
    case "delayElapsed":
      return status === "crashed" ? { ...state, status: "spawning", delayMs: 0, restarts: state.restarts + 1 } : state;
    case "stopped":
      return isUp || status === "crashed" || status === "resting" ? { ...state, status: "stopped", delayMs: 0 } : state;
    case "disabled":
      return { ...state, status: "disabled", delayMs: 0 };
  }
}

function afterFailure(state: InstanceState, atMs: number, policy: RestartPolicy): InstanceState {
  const last = state.failures.at(-1);
  const wasCalm = last !== undefined && atMs - last >= policy.windowMs;
  // Enough for the window and for the longest delay; a plugin that crashes for years must not grow the list.
  const failures = wasCalm ? [atMs] : [...state.failures, atMs].slice(-Math.max(policy.maxFailures, 16));
  const recent = failures.filter((at) => atMs - at < policy.windowMs).length;
  if (recent >= policy.maxFailures) return { ...state, status: "failed", failures, delayMs: 0 };
  const delayMs = Math.min(policy.firstDelayMs * 2 ** (failures.length - 1), policy.maxDelayMs);
  return { ...state, status: "crashed", failures, delayMs };
}
