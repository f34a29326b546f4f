/**
 * Many deadlines, few timers: most handlers are done long before theirs, and a timer each would cost more than they do.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** Something that may not take for ever. */
export interface Awaited {
  /** When it is given up, on the monotonic clock. It may change; tell {@link Deadlines.move} then. */
  readonly dueMs: number;
  /** Gives it up. */
  expire(): void;
}

/** Deadlines that are waited for. */
export interface Deadlines {
  /** Watches from now on. */
  watch(awaited: Awaited, nowMs: number): void;
  /** Goes on watching, with a new `dueMs`. */
  move(awaited: Awaited, nowMs: number): void;
  /** Watches no longer. */
  forget(awaited: Awaited): void;
}

/** Returns deadlines that share the timers of `clock`: one is set at a time, two when a nearer one comes. */
export function createDeadlines(clock: Pick<Clock, "monotonic" | "after">): Deadlines {
  const waiting = new Set<Awaited>();
  let nextMs = Infinity; // When the nearest timer rings; those further away find nothing to do and set none.

  function arm(dueMs: number, nowMs: number): void {
    if (dueMs >= nextMs) return;
    nextMs = dueMs;
    clock.after(dueMs - nowMs, ring);
  }

  function ring(): void {
    const nowMs = clock.monotonic();
    if (nowMs >= nextMs) nextMs = Infinity;
    for (const awaited of [...waiting]) if (awaited.dueMs <= nowMs && waiting.has(awaited)) awaited.expire();
    let nearest = Infinity;
    for (const { dueMs } of waiting) nearest = Math.min(nearest, dueMs);
    if (nearest < Infinity) arm(nearest, nowMs);
  }

  return {
    watch(awaited, nowMs) {
      waiting.add(awaited);
      arm(awaited.dueMs, nowMs);
    },
    move: ({ dueMs }, nowMs) => arm(dueMs, nowMs),
    forget: (awaited) => void waiting.delete(awaited),
  };
}
