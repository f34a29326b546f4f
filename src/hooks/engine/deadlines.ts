/**
 * Many deadlines, few timers, and few looks at the clock: most handlers are done long before their time, many before the
 * program does anything else, and a timer or a look each would cost more than they do.
 *
 * @module
 */
import type { Clock } from "../../core/ports/ports.ts";

/** Something that may not take for ever. */
export interface Awaited {
  /** When it is given up, on the monotonic clock; {@link NOT_YET} until its time has begun. */
  readonly dueMs: number;
  /** Its place among those that are waited for; theirs to set who wait. */
  place: number;
  /** Its time begins: sets {@link dueMs}. */
  startTime(nowMs: number): void;
  /** Gives it up. */
  expire(): void;
}

/** The deadline of what has only just been asked. */
export const NOT_YET: number = Infinity;

/** Deadlines that are waited for. */
export interface Deadlines<T extends Awaited> {
  /** What is waited for. */
  readonly waiting: readonly T[];
  /** Waits for one from now on; its time begins when the program rests. */
  watch(awaited: T): void;
  /** Goes on with one whose `dueMs` is {@link NOT_YET} again. */
  renew(): void;
  /** Waits for it no longer. */
  forget(awaited: T): void;
}

/** Returns deadlines that share the timers of `clock`: one is set at a time, two when a nearer one comes. */
export function createDeadlines<T extends Awaited>(clock: Pick<Clock, "monotonic" | "after">): Deadlines<T> {
  const waiting: T[] = []; // In no order: a set would cost more than a small handler does.
  let isBeginning = false;
  let nextMs = Infinity; // When the nearest timer rings; those further away find nothing to do and set none.

  /** Runs when everything that could go on at once has: what still waits does wait. */
  function begin(): void {
    isBeginning = false;
    const nowMs = clock.monotonic();
    for (const awaited of waiting) if (awaited.dueMs === NOT_YET) awaited.startTime(nowMs);
    arm(nowMs);
  }

  function ring(): void {
    const nowMs = clock.monotonic();
    if (nowMs >= nextMs) nextMs = Infinity;
    for (const awaited of waiting.filter(({ dueMs }) => dueMs <= nowMs)) awaited.expire();
    arm(nowMs);
  }

  function arm(nowMs: number): void {
    let nearest = Infinity;
    for (const { dueMs } of waiting) nearest = Math.min(nearest, dueMs);
    if (nearest >= nextMs) return;
    nextMs = nearest;
    clock.after(nearest - nowMs, ring);
  }

  function renew(): void {
    if (isBeginning) return;
    isBeginning = true;
    clock.after(0, begin);
  }

  return {
    waiting,
    watch(awaited) {
      awaited.place = waiting.push(awaited) - 1;
      renew();
    },
    renew,
    forget({ place }) {
      const last = waiting.pop()!;
      if (last.place === place) return;
      waiting[place] = last;
      last.place = place;
    },
  };
}
