/**
 * Choices drawn from a list of numbers: the same list makes the same choices, and a shorter one simpler ones.
 *
 * @module
 */

/** Makes choices. */
export interface RandomSource {
  /** A number from 0 up to `limit`, exclusive. */
  below(limit: number): number;
  /** True once in `odds`. */
  chance(odds: number): boolean;
  /** One of `items`. */
  pick<T>(items: readonly T[]): T;
}

/** Makes a source that uses up `numbers` and then starts again at their beginning. */
export function createRandomSource(numbers: readonly number[]): RandomSource {
  let at = 0;
  const next = (): number =>
    numbers.length === 0 ? 0 : numbers[at++ % numbers.length]! + Math.floor(at / numbers.length);
  const below = (limit: number): number => next() % limit;
  return {
    below,
    chance: (odds) => below(odds) === odds - 1,
    pick: (items) => items[below(items.length)]!,
  };
}
