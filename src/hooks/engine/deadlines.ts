/**
 * Many deadlines, one timer, and few looks at the clock: most handlers are done long before their time, many before the
 * program does anything else, and a timer or a look each would cost more than they do. The timer keeps the process
 * alive, and is cancelled as soon as no handler is waited for.
 *
 * @module
 */
import type { Clock } from "../../core/ports/ports.ts";

/** Something that may not take for ever. */
export interface Awaited {
  /** Milliseconds of the monotonic clock at which it is given up; {@link NOT_YET} until its time has begun. */
  readonly dueMs: number;
  /** Index among {@link Deadlines.waiting}, which the deadlines keep up to date; -1 while it is not among them. */
  place: number;
  /** Its time begins: sets {@link dueMs}. */
  startTime(nowMs: number): void;
  /** Called when its time is over. */
  expire(): void;
}

/** The deadline of a handler that was asked a moment ago. */
export const NOT_YET: number = Infinity;

/** Deadlines that are waited for. */
export interface Deadlines<T extends Awaited> {
  readonly waiting: readonly T[];
  /** Waits for one whose `dueMs` is {@link NOT_YET}, anew or again; its time begins when the program rests. */
  watch(awaited: T): void;
  /** Stops waiting for one that has ended, if it was waited for. */
  forget(awaited: T): void;
}

const KEEP_ALIVE = { keepAlive: true };

/** Returns deadlines that share one timer of `clock`. */
export function createDeadlines<T extends Awaited>(clock: Pick<Clock, "monotonic" | "after">): Deadlines<T> {
  const waiting: T[] = []; // In no order: a set would cost more than a small handler does.
  let isBeginning = false;
  let nextMs = Infinity; // When the timer rings.
  let cancel = (): void => {};

  /** Runs when everything that could go on at once has: handlers that still wait do wait. */
  function begin(): void {
    isBeginning = false;
    if (waiting.length === 0) return;
    const nowMs = clock.monotonic();
    for (const awaited of waiting) if (awaited.dueMs === NOT_YET) awaited.startTime(nowMs);
    arm(nowMs);
  }

  function ring(): void {
    nextMs = Infinity;
    const nowMs = clock.monotonic();
    for (const awaited of waiting.filter(({ dueMs }) => dueMs <= nowMs)) awaited.expire();
    arm(nowMs);
  }

  function arm(nowMs: number): void {
    let nearest = Infinity;
    for (const { dueMs } of waiting) nearest = Math.min(nearest, dueMs);
    if (nearest >= nextMs) return;
    cancel();
    nextMs = nearest;
    cancel = clock.after(nearest - nowMs, ring, KEEP_ALIVE);
  }

  return {
    waiting,
    watch(awaited) {
      if (awaited.place < 0) awaited.place = waiting.push(awaited) - 1;
      if (isBeginning) return;
      isBeginning = true;
      clock.after(0, begin, KEEP_ALIVE);
    },
    forget(awaited) {
      const { place } = awaited;
      if (place < 0) return;
      const last = waiting.pop()!;
      if (last !== awaited) {
        waiting[place] = last;
        last.place = place;
      }
      awaited.place = -1;
      if (waiting.length > 0 || nextMs === Infinity) return;
      cancel();
      nextMs = Infinity;
    },
  };
}
