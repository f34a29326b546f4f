/**
 * Finds the end of a request's body in the bytes that pass, so that nothing after it is sent on.
 *
 * @module
 */
import type { BodyFraming } from "./request_head.ts";

/** Longest line between two chunks, in bytes. */
const MAX_LINE = 1024;
/** Most bytes of fields after the last chunk. */
const MAX_TRAILER = 16 * 1024;

/** Takes a body piece by piece. */
export interface BodyCounter {
  /** Whether the body has come to its end. */
  readonly done: boolean;
  /**
   * Takes bytes and returns how many of them belong to the body; `onContent` receives those that are not framing.
   * Throws a `TypeError` when the body is malformed.
   */
  take(bytes: Uint8Array, onContent?: (content: Uint8Array) => void): number;
}

/** Returns a counter for one body. */
export function bodyCounter(framing: BodyFraming): BodyCounter {
  return framing.kind === "length" ? lengthCounter(framing.bytes) : new ChunkCounter();
}

function lengthCounter(total: number): BodyCounter {
  let left = total;
  return {
    get done(): boolean {
      return left === 0;
    },
    take(bytes, onContent): number {
      const taken = Math.min(left, bytes.length);
      left -= taken;
      if (taken > 0) onContent?.(bytes.subarray(0, taken));
      return taken;
    },
  };
}

/** Follows chunks (RFC 9112 §7.1): a line with a size, so many bytes, an empty line; after size 0 fields, then the end. */
class ChunkCounter implements BodyCounter {
  #state: "size" | "data" | "after" | "trailer" | "done" = "size";
  #left = 0;
  #line = "";
  #trailerBytes = 0;

  get done(): boolean {
    return this.#state === "done";
  }

  take(bytes: Uint8Array, onContent?: (content: Uint8Array) => void): number {
    let at = 0;
    while (at < bytes.length && this.#state !== "done") {
      if (this.#state === "data") {
        const taken = Math.min(this.#left, bytes.length - at);
        this.#left -= taken;
        onContent?.(bytes.subarray(at, at + taken));
        at += taken;
        if (this.#left === 0) this.#state = "after";
      } else {
        this.#character(String.fromCharCode(bytes[at++] ?? 0));
      }
    }
    return at;
  }

  #character(char: string): void {
    this.#line += char;
    if (this.#line.length > MAX_LINE) throw new TypeError("A line between chunks is too long");
    if (char !== "\n") return;
    if (!this.#line.endsWith("\r\n")) throw new TypeError("A line between chunks ends without CR");
    const line = this.#line.slice(0, -2);
    if (line.includes("\r")) throw new TypeError("A line between chunks holds a CR");
    this.#line = "";
    this.#onLine(line);
  }

  #onLine(line: string): void {
    if (this.#state === "after") {
      if (line !== "") throw new TypeError("A chunk is longer than its size");
      this.#state = "size";
    } else if (this.#state === "trailer") {
      this.#trailerBytes += line.length + 2;
      if (this.#trailerBytes > MAX_TRAILER) throw new TypeError("There are too many fields after the last chunk");
      if (line === "") this.#state = "done";
    } else {
      // Extensions are allowed after a semicolon and mean nothing to anyone.
      const size = /^([0-9a-fA-F]{1,12})(?:[ \t]*;.*)?$/.exec(line)?.[1];
      if (size === undefined) throw new TypeError("A chunk has no size");
      this.#left = parseInt(size, 16);
      this.#state = this.#left === 0 ? "trailer" : "data";
    }
  }
}
