/**
 * Lines on their way out: the writes of one tick joined into one, what is queued kept within bounds.
 *
 * @module
 */
import type { Bytes } from "../ports/ports.ts";
import type { Wire } from "./connection_types.ts";

/**
 * Text joined beyond this is written at once. Less than the answers to a few hundred calls take would be too little:
 * the pieces wake the other side one by one, and calls come to wait for each other.
 */
const JOINED_CHARS = 256 * 1024;
/** Most bytes one UTF-16 unit takes in UTF-8. */
const MAX_BYTES_PER_CHAR = 3;

/** Collects lines and writes them to a wire. */
export class Outbox {
  readonly #wire: Wire;
  readonly #bytes: Bytes;
  readonly #onFlushed: () => void;
  #text = "";
  #scheduled = false;

  /** Makes an outbox that calls `onFlushed` after each write. */
  constructor(wire: Wire, bytes: Bytes, onFlushed: () => void) {
    this.#wire = wire;
    this.#bytes = bytes;
    this.#onFlushed = onFlushed;
  }

  /** Whether `line`, its newline not counted, is at most `limitBytes` long. */
  isWithin(line: string, limitBytes: number): boolean {
    // Measuring costs a walk over the text: most lines are far too short to need it.
    return line.length * MAX_BYTES_PER_CHAR <= limitBytes || this.#bytes.byteLength(line) - 1 <= limitBytes;
  }

  /** Whether everything queued, with `line` added, takes at most `limitBytes`. */
  hasRoom(line: string, limitBytes: number): boolean {
    const room = limitBytes - this.#wire.bufferedBytes();
    if ((this.#text.length + line.length) * MAX_BYTES_PER_CHAR <= room) return true;
    return this.#bytes.byteLength(this.#text) + this.#bytes.byteLength(line) <= room;
  }

  /** Sends a line, newline included, with the others of this tick. */
  push(line: string): void {
    this.#text += line;
    if (this.#text.length > JOINED_CHARS) return this.flush();
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(this.#flushLater);
  }

  /** Writes what was collected. */
  flush(): void {
    if (this.#text === "") return;
    const text = this.#text;
    this.#text = "";
    this.#wire.write(text);
    this.#onFlushed();
  }

  readonly #flushLater = (): void => {
    this.#scheduled = false;
    this.flush();
  };
}
