/**
 * Chance that can be repeated: everything a test leaves to chance follows from one seed. KAGED_SEED=n tries other cases.
 *
 * @module
 */
import process from "node:process";

/** The seed of this run; the same every time unless KAGED_SEED says otherwise. */
export const SEED: number = Number(process.env["KAGED_SEED"] ?? 20_261_116);

/** A repeatable source of chance. */
export interface Dice {
  /** Returns a whole number from 0 to `count - 1`. */
  below(count: number): number;
  pick<T>(choices: readonly T[]): T;
}

/** Returns dice that fall the same way for the same seed (mulberry32). */
export function createDice(seed: number = SEED): Dice {
  const next = (): number => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const below = (count: number): number => Math.floor(next() * count);
  return { below, pick: (choices) => choices[below(choices.length)]! };
}
