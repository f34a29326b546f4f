/**
 * First come, first served.
 *
 * @module
 */

/** Places of those who have left that are kept until they are cleared away together. */
const MAX_LEFT = 1024;

/** A line that is cheap at both ends, and holds on to those who wait alone, also where it is never empty. */
export class WaitingLine<T> {
  readonly #places: T[] = [];
  #first = 0;

  /** How many wait. */
  get length(): number {
    return this.#places.length - this.#first;
  }

  /** Places it has, those of who has left included. */
  get places(): number {
    return this.#places.length;
  }

  /** Adds one at the end. */
  push(value: T): void {
    this.#places.push(value);
  }

  /** Takes the first; there must be one. */
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
