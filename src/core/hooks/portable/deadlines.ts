/**
 * Many deadlines, few timers: most handlers are done long before theirs, and a timer each would cost more than they do.
 *
 * @module
 */
import type { Clock } from "../../ports.ts";

/** Deadlines that are waited for. */
export interface Deadlines {
  /** Calls `run` in `ms`, unless the returned function is called before. */
  set(ms: number, run: () => void): () => void;
}

interface Deadline {
  readonly dueMs: number;
  readonly run: () => void;
}

/** Returns deadlines that share the timers of `clock`: one is set at a time, two when a nearer one comes. */
export function createDeadlines(clock: Pick<Clock, "monotonic" | "after">): Deadlines {
  const waiting = new Set<Deadline>();
  let nextMs = Infinity; // When the nearest timer rings; those further away find nothing to do and set none.

  function arm(dueMs: number, nowMs: number): void {
    if (dueMs >= nextMs) return;
    nextMs = dueMs;
    clock.after(dueMs - nowMs, ring);
  }

  function ring(): void {
    const nowMs = clock.monotonic();
    if (nowMs >= nextMs) nextMs = Infinity;
    const due = [...waiting].filter(({ dueMs }) => dueMs <= nowMs);
    for (const deadline of due) waiting.delete(deadline);
    for (const { run } of due) run();
    let nearest = Infinity;
    for (const { dueMs } of waiting) nearest = Math.min(nearest, dueMs);
    if (nearest < Infinity) arm(nearest, nowMs);
  }

  return {
    set(ms, run) {
      const nowMs = clock.monotonic();
      const deadline = { dueMs: nowMs + ms, run };
      waiting.add(deadline);
      arm(deadline.dueMs, nowMs);
      return () => void waiting.delete(deadline);
    },
  };
}
