/**
 * Lines on their way out: the writes of one tick joined into a few, what is queued kept within bounds.
 *
 * @module
 */
import type { Bytes } from "../ports/ports.ts";
import type { Wire } from "./connection_types.ts";

/** Text joined beyond this is written at once: half of what a pipe takes, so that its reader can begin. */
const JOINED_CHARS = 32 * 1024;
/**
 * The calls of one tick are written in parts, each as soon as it is the fourth of all calls in flight: the other side
 * works on the first ones while this side still makes the others. Parts grow with the calls, so there are few of them.
 */
const PARTS = 4;
/** The least that is written as a part: a write of less costs more than it gains. */
const PART_CHARS = 1024;
/** Most bytes one UTF-16 unit takes in UTF-8. */
const MAX_BYTES_PER_CHAR = 3;

/** Collects lines and writes them to a wire. */
export class Outbox {
  readonly #wire: Wire;
  readonly #bytes: Bytes;
  readonly #onFlushed: () => void;
  #text = "";
  #lines = 0;
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

  /**
   * Sends a line, newline included, with the others of this tick.
   *
   * @param calls For the line of a call: how many calls wait for an answer, this one included.
   */
  push(line: string, calls: number = Infinity): void {
    this.#text += line;
    this.#lines++;
    const { length } = this.#text;
    if (length > JOINED_CHARS || (length >= PART_CHARS && this.#lines * PARTS >= calls)) return this.flush();
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(this.#flushLater);
  }

  /** Writes what was collected. */
  flush(): void {
    if (this.#text === "") return;
    const text = this.#text;
    this.#text = "";
    this.#lines = 0;
    this.#wire.write(text);
    this.#onFlushed();
  }

  readonly #flushLater = (): void => {
    this.#scheduled = false;
    this.flush();
  };
}
