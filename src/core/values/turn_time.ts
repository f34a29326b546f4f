/**
 * The time of a turn: work that is done in one go, such as the answers of one chunk, shares one look at the clock, which
 * would cost as much as the rest of it.
 *
 * @module
 */

/** Uses of one look: what they do takes some tens of microseconds together. */
const MAX_USES = 32;
const RESOLVED: Promise<void> = Promise.resolve();

/** Clocks that are read once a turn. */
export class TurnTime {
  readonly #clock: { now(): number; monotonic(): number };
  #left = 0;
  #monotonicMs = 0;
  #nowMs = NaN;
  #text = "";

  constructor(clock: { now(): number; monotonic(): number }) {
    this.#clock = clock;
  }

  /** Milliseconds of the monotonic clock. */
  get monotonicMs(): number {
    if (this.#left-- <= 0) this.#look();
    return this.#monotonicMs;
  }

  /** The time as ISO 8601, as it was at the last look: ask for {@link monotonicMs} first. */
  get stamp(): string {
    return this.#text;
  }

  #look(): void {
    this.#left = MAX_USES;
    this.#monotonicMs = this.#clock.monotonic();
    const nowMs = this.#clock.now();
    if (nowMs !== this.#nowMs) {
      this.#nowMs = nowMs;
      this.#text = new Date(nowMs).toISOString();
    }
    RESOLVED.then(this.#forget);
  }

  readonly #forget = (): void => void (this.#left = 0);
}
