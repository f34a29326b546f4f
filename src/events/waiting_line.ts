/**
 * First come, first served.
 *
 * @module
 */

/** Places of values already taken that are kept until they are cleared away together. */
const MAX_LEFT = 1024;

/** A queue that is cheap at both ends, and lets go of values that were taken even when it is never empty. */
export class WaitingLine<T> {
  readonly #places: T[] = [];
  #first = 0;

  get length(): number {
    return this.#places.length - this.#first;
  }

  /** Places in memory, those of values already taken included. */
  get places(): number {
    return this.#places.length;
  }

  push(value: T): void {
    this.#places.push(value);
  }

  /** Removes and returns the first value; there must be one. */
  take(): T {
    const places = this.#places;
    const value = places[this.#first++]!;
    if (this.#first === places.length) {
      places.length = 0;
      this.#first = 0;
    } else if (this.#first > MAX_LEFT && this.#first * 2 > places.length) {
      places.splice(0, this.#first);
      this.#first = 0;
    }
    return value;
  }
}
