/**
 * Puts some bytes in the place of others in a stream, also where they are split over two pieces of it.
 *
 * @module
 */
import { indexOfBytes, isAt, joined } from "../bytes.ts";

/** Bytes to find, and those that take their place. */
export interface Swap {
  /** At least one byte. */
  readonly find: Uint8Array;
  /** Returns the replacement. Throws where the bytes may not pass at all. */
  put(): Uint8Array;
}

/** Swaps in one stream of bytes. */
export class ByteSwapper {
  readonly #swaps: readonly Swap[];
  readonly #leastHeld: number;
  /** The end of the stream so far that may be the beginning of a find, and how many bytes of it have gone on. */
  #tail: Uint8Array = new Uint8Array(0);
  #passed = 0;

  /**
   * An end of fewer than `leastHeld` bytes is not held back, so that what somebody waits for comes whole. If it was the
   * beginning of a find, the replacement follows it. Default 1: nothing passes that could be.
   */
  constructor(swaps: readonly Swap[], { leastHeld = 1 }: { readonly leastHeld?: number } = {}) {
    this.#swaps = swaps;
    this.#leastHeld = leastHeld;
  }

  /** Takes the next bytes and returns those that can go on: an end that may be the beginning of a find is held back. */
  push(bytes: Uint8Array): Uint8Array {
    return this.#run(bytes, false);
  }

  /** Returns the bytes held back: no more will come. */
  finish(): Uint8Array {
    return this.#run(new Uint8Array(0), true);
  }

  #run(bytes: Uint8Array, isLast: boolean): Uint8Array {
    const whole = this.#tail.length === 0 ? bytes : joined([this.#tail, bytes]);
    const next = this.#swaps.map(({ find }) => indexOfBytes(whole, find, 0));
    const out: Uint8Array[] = [];
    let at = this.#passed;
    let tail = isLast ? whole.length : this.#tailOf(whole, 0);
    for (;;) {
      const first = this.#earliest(next);
      // A find that begins after the tail waits: the tail may turn out to be a longer one around it.
      if (first === null || next[first]! >= tail) break;
      const { find, put } = this.#swaps[first]!;
      out.push(whole.subarray(at, Math.max(at, next[first]!)), put());
      at = next[first]! + find.length;
      if (tail < at) tail = this.#tailOf(whole, at);
      for (const [index, swap] of this.#swaps.entries()) {
        const found = next[index]!;
        if (found >= 0 && found < at) next[index] = indexOfBytes(whole, swap.find, at);
      }
    }
    const end = whole.length - tail < this.#leastHeld ? whole.length : Math.max(at, tail);
    this.#tail = whole.slice(tail);
    this.#passed = end - tail;
    return joined([...out, whole.subarray(at, end)]);
  }

  /** Index of the swap whose find comes first; of two that begin at one place, the longer. */
  #earliest(next: readonly number[]): number | null {
    let best: number | null = null;
    for (const [index, found] of next.entries()) {
      if (found < 0) continue;
      const rival = best === null ? -1 : next[best]!;
      const isLonger = best !== null && this.#swaps[index]!.find.length > this.#swaps[best]!.find.length;
      if (best === null || found < rival || (found === rival && isLonger)) best = index;
    }
    return best;
  }

  /** Where the earliest end begins, at or after `from`, that is the beginning of a find. */
  #tailOf(whole: Uint8Array, from: number): number {
    let tail = whole.length;
    for (const { find } of this.#swaps) {
      for (let at = Math.max(from, whole.length - find.length + 1); at < tail; at++) {
        if (isAt(whole, find.subarray(0, whole.length - at), at)) tail = at;
      }
    }
    return tail;
  }
}

/** Swaps in bytes that are whole. */
export function swapAll(bytes: Uint8Array, swaps: readonly Swap[]): Uint8Array {
  if (swaps.length === 0) return bytes;
  const swapper = new ByteSwapper(swaps);
  return joined([swapper.push(bytes), swapper.finish()]);
}
