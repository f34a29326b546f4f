/**
 * First come, first served.
 *
 * @module
 */

/** A queue that is cheap at both ends, and lets go of a value as soon as it is taken. */
export class WaitingLine<T> {
  /** Those that came last, in order. */
  #last: T[] = [];
  /** Those that came first, the very first at the end. */
  #first: T[] = [];

  get length(): number {
    return this.#last.length + this.#first.length;
  }

  push(value: T): void {
    this.#last.push(value);
  }

  /** Removes and returns the first value; there must be one. */
  take(): T {
    if (this.#first.length === 0) {
      this.#first = this.#last.reverse();
      this.#last = [];
    }
    return this.#first.pop()!;
  }
}
