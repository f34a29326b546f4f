/**
 * How many notifications a plugin may send.
 *
 * @module
 */

/** What to do with one more event. */
export type RateVerdict = "take" | "drop" | "dropAndTell";

/** Counts events per second; of those above the limit, the first in each second is worth telling. */
export interface RateLimit {
  /** Judges one event that happens at `atMs`. */
  judge(atMs: number): RateVerdict;
  /** Events seen in the current second. */
  readonly rate: number;
}

/** Returns a limit of `perSecond` events. */
export function rateLimit(perSecond: number): RateLimit {
  let startMs = -Infinity;
  let count = 0;
  return {
    judge(atMs) {
      if (atMs - startMs >= 1000) {
        startMs = atMs;
        count = 0;
      }
      count++;
      if (count <= perSecond) return "take";
      return count === perSecond + 1 ? "dropAndTell" : "drop";
    },
    get rate() {
      return count;
    },
  };
}
