/**
 * Tells of each thing once a minute.
 *
 * @module
 */
import type { Clock } from "../../ports/ports.ts";

const MINUTE_MS = 60_000;
/** Different things told within a minute: a plugin may ask for a new host with each request. */
const MAX_THINGS = 100;

/** Returns a function that says whether a thing is to be told now. */
export function onceAMinute(clock: Clock): (thing: string) => boolean {
  const toldAtMs = new Map<string, number>();
  return (thing) => {
    const nowMs = clock.monotonic();
    // In the order in which they were told: the oldest come first.
    for (const [old, atMs] of toldAtMs) {
      if (nowMs - atMs < MINUTE_MS) break;
      toldAtMs.delete(old);
    }
    if (toldAtMs.has(thing) || toldAtMs.size >= MAX_THINGS) return false;
    toldAtMs.set(thing, nowMs);
    return true;
  };
}
