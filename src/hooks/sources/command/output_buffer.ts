/**
 * Collects what a command prints, up to a size.
 *
 * @module
 */

/** What was printed so far. */
export interface OutputBuffer {
  /** Takes a chunk. What goes beyond the size is dropped. */
  readonly add: (chunk: Uint8Array) => void;
  /** Nothing more will come. */
  readonly end: () => void;
  /** Resolves at the first byte, or at the end without one. */
  readonly first: Promise<void>;
  /** What was kept, as text: bytes that are no UTF-8 become U+FFFD. */
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
