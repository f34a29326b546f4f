/**
 * A clock that stands still until a test moves it.
 *
 * @module
 */
import type { Clock } from "../../src/core/ports/ports.ts";

/** A {@link Clock} under the test's hand. */
export interface FakeClock extends Clock {
  /**
   * Moves time forward by `ms`, running what falls due on the way, in order of time and then of arrival. A timer that
   * is set meanwhile runs too when it falls due within the span. Runs no microtasks in between.
   */
  advance(ms: number): void;
  /** How many timers wait. */
  readonly waiting: number;
  /** How many of them would keep a process alive. */
  readonly keepingAlive: number;
  /** Milliseconds until the next timer, or null when none waits. */
  readonly nextInMs: number | null;
  /** Whether a timer falls due in exactly `ms`. */
  isDueIn(ms: number): boolean;
}

interface Timer {
  readonly dueMs: number;
  readonly run: () => void;
  readonly keepAlive: boolean;
  readonly isCounted: boolean;
}

/**
 * Makes a clock that shows `startMs` (default: 2026-01-01T00:00:00Z) and whose monotonic time starts at 0. Timers of
 * `uncountedMs` run like all others, and are not counted among those that wait.
 */
export function createFakeClock(
  startMs: number = Date.UTC(2026, 0, 1),
  { uncountedMs }: { readonly uncountedMs?: number } = {},
): FakeClock {
  const timers = new Map<number, Timer>();
  const counted = (): Timer[] => [...timers.values()].filter(({ isCounted }) => isCounted);
  let elapsedMs = 0;
  let lastTimer = 0;

  const nextDue = (): { id: number; dueMs: number; run: () => void } | null => {
    let next: { id: number; dueMs: number; run: () => void } | null = null;
    for (const [id, timer] of timers) if (!next || timer.dueMs < next.dueMs) next = { id, ...timer };
    return next;
  };

  return {
    now: () => startMs + elapsedMs,
    monotonic: () => elapsedMs,
    after(ms: number, run: () => void, { keepAlive = false } = {}): () => void {
      const id = ++lastTimer;
      timers.set(id, { dueMs: elapsedMs + Math.max(0, ms), run, keepAlive, isCounted: ms !== uncountedMs });
      return () => void timers.delete(id);
    },
    advance(ms: number): void {
      const endMs = elapsedMs + ms;
      for (let due = nextDue(); due && due.dueMs <= endMs; due = nextDue()) {
        timers.delete(due.id);
        elapsedMs = Math.max(elapsedMs, due.dueMs);
        due.run();
      }
      elapsedMs = endMs;
    },
    isDueIn: (ms: number): boolean => counted().some(({ dueMs }) => dueMs === elapsedMs + ms),
    get waiting(): number {
      return counted().length;
    },
    get keepingAlive(): number {
      return counted().filter(({ keepAlive }) => keepAlive).length;
    },
    get nextInMs(): number | null {
      const next = Math.min(...counted().map(({ dueMs }) => dueMs));
      return Number.isFinite(next) ? next - elapsedMs : null;
    },
  };
}
