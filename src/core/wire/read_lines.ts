/**
 * Bytes to lines: UTF-8, `\n`, a cap counted in bytes while reading.
 *
 * @module
 */
import type { Bytes } from "../ports/ports.ts";

/** Callbacks of a {@link LineReader}, called in the order of the bytes. */
export interface LineListeners {
  /**
   * A line: `text` from `start` to `end`, without its newline and a trailing `\r`; never empty. The rest of `text` belongs
   * to other lines: cutting out every line would cost more than reading it in place.
   */
  line(text: string, start: number, end: number): void;
  /** Whether others wait for their lines too. Called for a text of many lines, which is then handed out in parts. */
  isCrowded?(): boolean;
  /** A part of such a text has been handed out, and the rest comes at once unless the reader is paused. */
  part?(): void;
  /** A line that is not UTF-8, with its first bytes decoded loosely. */
  undecodable(start: string): void;
  /** A line went over the cap. Called once; nothing comes after it. */
  oversize(): void;
}

/** How a {@link LineReader} is set up. */
export interface LineReaderOptions {
  readonly bytes: Bytes;
  /** Longest line in bytes, its newline not counted. */
  readonly maxLineBytes: number;
}

/** Chunks below this size are copied together, so that a line sent byte by byte costs its bytes and not an object each. */
const SMALL_CHUNK_BYTES = 4096;
const SLAB_BYTES = 16 * 1024;
/** Length of a part: some fifty short answers, each of which leads to its caller's next call. */
const PART_CHARS = 2048;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/** Cuts a stream of chunks into lines. Can be paused between two lines of one chunk without losing either. */
export class LineReader {
  readonly #bytes: Bytes;
  readonly #maxLineBytes: number;
  readonly #listeners: LineListeners;
  /** Chunks not looked at yet. */
  #waiting: Uint8Array[] = [];
  /** Whole lines, decoded together and not handed out yet: each ends with a newline. */
  #text = "";
  #textAt = 0;
  /** Whole lines that must be decoded one by one. */
  #raw: Uint8Array | null = null;
  #rawAt = 0;
  /** Pieces of the line whose end has not come, joined once when it does. */
  #pieces: Uint8Array[] = [];
  #slab: Uint8Array | null = null;
  #slabUsed = 0;
  #partialBytes = 0;
  #paused = false;
  #running = false;
  #ended = false;

  /** Makes a reader that calls `listeners`. */
  constructor(listeners: LineListeners, { bytes, maxLineBytes }: LineReaderOptions) {
    this.#listeners = listeners;
    this.#bytes = bytes;
    this.#maxLineBytes = maxLineBytes;
  }

  /** Takes the next chunk, which must not be changed afterwards. */
  push(chunk: Uint8Array): void {
    if (this.#ended || chunk.length === 0) return;
    this.#waiting.push(chunk);
    this.#run();
  }

  /** Hands out no further line until {@link resume}. */
  pause(): void {
    this.#paused = true;
  }

  /** Goes on where {@link pause} stopped. */
  resume(): void {
    this.#paused = false;
    this.#run();
  }

  /** Forgets what it holds and ignores what comes. */
  end(): void {
    this.#ended = true;
    this.#waiting = [];
    this.#text = "";
    this.#textAt = 0;
    this.#raw = null;
    this.#forgetPartial();
  }

  #run(): void {
    if (this.#running) return;
    this.#running = true;
    // A listener that throws leaves the reader fit to go on with the next line.
    try {
      while (!this.#paused && !this.#ended) {
        if (this.#textAt < this.#text.length) this.#handOutText();
        else if (this.#raw) this.#handOutRaw();
        else {
          const chunk = this.#waiting.shift();
          if (!chunk) break;
          this.#take(chunk);
        }
      }
    } finally {
      this.#running = false;
    }
  }

  #take(chunk: Uint8Array): void {
    const isWhole = this.#partialBytes === 0 && chunk[chunk.length - 1] === NEWLINE;
    const first = isWhole ? 0 : this.#bytes.indexOfNewline(chunk, 0);
    if (first === -1) return this.#keepPartial(chunk);
    if (this.#partialBytes > 0) {
      if (first + 1 < chunk.length) this.#waiting.unshift(chunk.subarray(first + 1));
      if (this.#partialBytes + first > this.#maxLineBytes) return this.#oversize();
      return this.#decodeLine(this.#joinPartial(chunk.subarray(0, first)));
    }
    const end = lastNewline(chunk) + 1;
    if (end < chunk.length) this.#waiting.unshift(chunk.subarray(end));
    const whole = end < chunk.length ? chunk.subarray(0, end) : chunk;
    // A chunk within the cap holds no line above it, so its lines can be decoded in one go.
    const text = whole.length <= this.#maxLineBytes ? this.#decode(whole) : null;
    if (text === null) {
      this.#raw = whole;
      this.#rawAt = 0;
    } else {
      this.#text = text;
      this.#textAt = 0;
    }
  }

  #handOutText(): void {
    const text = this.#text;
    const isLong = text.length - this.#textAt > PART_CHARS;
    const stop = isLong && this.#listeners.isCrowded?.() ? this.#textAt + PART_CHARS : text.length;
    while (this.#textAt < stop && !this.#paused && !this.#ended) {
      const start = this.#textAt;
      const end = text.indexOf("\n", start);
      this.#textAt = end + 1;
      if (this.#textAt === text.length) {
        this.#text = "";
        this.#textAt = 0;
        this.#handOut(text, start, end);
        return;
      }
      this.#handOut(text, start, end);
    }
    if (!this.#paused && !this.#ended) this.#listeners.part?.();
  }

  #handOutRaw(): void {
    const raw = this.#raw!;
    const start = this.#rawAt;
    const end = this.#bytes.indexOfNewline(raw, start);
    this.#rawAt = end + 1;
    if (this.#rawAt === raw.length) this.#raw = null;
    if (end - start > this.#maxLineBytes) return this.#oversize();
    this.#decodeLine(raw.subarray(start, end));
  }

  #decodeLine(line: Uint8Array): void {
    const text = this.#decode(line);
    if (text !== null) this.#handOut(text, 0, text.length);
    else this.#listeners.undecodable(new TextDecoder().decode(line.subarray(0, 1024)));
  }

  #handOut(text: string, start: number, end: number): void {
    if (end > start && text.charCodeAt(end - 1) === CARRIAGE_RETURN) end--;
    if (end > start) this.#listeners.line(text, start, end);
  }

  #decode(bytes: Uint8Array): string | null {
    try {
      return this.#bytes.decode(bytes);
    } catch {
      return null;
    }
  }

  #keepPartial(chunk: Uint8Array): void {
    this.#partialBytes += chunk.length;
    if (this.#partialBytes > this.#maxLineBytes) return this.#oversize();
    if (chunk.length >= SMALL_CHUNK_BYTES) {
      this.#closeSlab();
      this.#pieces.push(chunk);
      return;
    }
    if (this.#slab && this.#slab.length - this.#slabUsed < chunk.length) this.#closeSlab();
    this.#slab ??= new Uint8Array(SLAB_BYTES);
    this.#slab.set(chunk, this.#slabUsed);
    this.#slabUsed += chunk.length;
  }

  #closeSlab(): void {
    if (!this.#slab || this.#slabUsed === 0) return;
    this.#pieces.push(this.#slab.subarray(0, this.#slabUsed));
    this.#slab = null;
    this.#slabUsed = 0;
  }

  #joinPartial(tail: Uint8Array): Uint8Array {
    const line = new Uint8Array(this.#partialBytes + tail.length);
    let at = 0;
    for (const piece of this.#pieces) {
      line.set(piece, at);
      at += piece.length;
    }
    if (this.#slab) line.set(this.#slab.subarray(0, this.#slabUsed), at);
    line.set(tail, this.#partialBytes);
    // The slab's bytes are copied: it serves the next partial line.
    const slab = this.#slab;
    this.#forgetPartial();
    this.#slab = slab;
    return line;
  }

  #forgetPartial(): void {
    this.#pieces = [];
    this.#slab = null;
    this.#slabUsed = 0;
    this.#partialBytes = 0;
  }

  #oversize(): void {
    this.end();
    this.#listeners.oversize();
  }
}

/** Index of the last newline; there is one. Its line is most often the last of the chunk, so the search is short. */
function lastNewline(bytes: Uint8Array): number {
  let at = bytes.length - 1;
  while (bytes[at] !== NEWLINE) at--;
  return at;
}
