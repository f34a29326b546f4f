/**
 * Collects the output of a command, up to a size.
 *
 * @module
 */

/** The output of a command so far. */
export interface OutputBuffer {
  /** Takes a chunk; bytes beyond the size are dropped. */
  readonly add: (chunk: Uint8Array) => void;
  readonly end: () => void;
  /** Resolves at the first byte, or at the end without one. */
  readonly first: Promise<void>;
  /** Returns the kept bytes as text; those that are no UTF-8 become U+FFFD. */
  text(): string;
}

/** Returns an empty buffer; `onExcess` is called once, when more comes than it keeps. */
export function outputBuffer(maxBytes: number, onExcess: () => void = () => {}): OutputBuffer {
  const kept = new Uint8Array(maxBytes);
  let size = 0;
  let isOver = false;
  let begin = (): void => {};
  const first = new Promise<void>((resolve) => begin = resolve);
  return {
    add(chunk) {
      if (chunk.length > 0) begin();
      const room = maxBytes - size;
      kept.set(chunk.length > room ? chunk.subarray(0, room) : chunk, size);
      size += Math.min(room, chunk.length);
      if (chunk.length <= room || isOver) return;
      isOver = true;
      onExcess();
    },
    end: () => begin(),
    first,
    text: () => new TextDecoder().decode(kept.subarray(0, size)),
  };
}
