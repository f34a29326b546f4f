/**
 * One after the other, without waiting where there is nothing to wait for.
 *
 * @module
 */
import type { MaybePromise } from "./types.ts";

/** Whether a value has to be waited for. */
export function isPromise<T>(value: MaybePromise<T>): value is Promise<T> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/**
 * Calls `step` for each item once the one before is done, until one answers true. As long as every step answers at
 * once, so does this.
 */
export function inTurn<T>(items: readonly T[], step: (item: T) => MaybePromise<boolean | void>): MaybePromise<void> {
  for (let index = 0; index < items.length; index++) {
    const stop = step(items[index]!);
    if (stop === true) return;
    if (isPromise(stop)) return wait(items, index, stop, step);
  }
}

async function wait<T>(
  items: readonly T[],
  index: number,
  first: Promise<boolean | void>,
  step: (item: T) => MaybePromise<boolean | void>,
): Promise<void> {
  if (await first) return;
  while (++index < items.length) {
    const stop = step(items[index]!);
    if (stop === true || (isPromise(stop) && await stop)) return;
  }
}
