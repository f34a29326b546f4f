/**
 * Reads the beginning of a connection piece by piece, and then hands the connection on.
 *
 * @module
 */
import type { Socket } from "../../ports/ports.ts";
import { joined, latin1Text } from "./bytes.ts";

const LF = 0x0a;
const CR = 0x0d;

/** Why a head could not be read. */
export type HeadFailure = "too-large" | "malformed" | "ended";

/** A connection with what was read of it and not yet used. */
export class ByteReader {
  readonly #socket: Socket;
  #held: Uint8Array = new Uint8Array(0);
  #filling: Promise<boolean> | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** The next byte, left in place; null when the connection ended. */
  async peek(): Promise<number | null> {
    if (this.#held.length === 0 && !await this.#fill()) return null;
    return this.#held[0] ?? null;
  }

  /** Exactly so many bytes. Rejects with a `TypeError` when the connection ends before. */
  async take(count: number): Promise<Uint8Array> {
    while (this.#held.length < count) if (!await this.#fill()) throw new TypeError("The connection ended early");
    const taken = this.#held.subarray(0, count);
    this.#held = this.#held.subarray(count);
    return taken;
  }

  /** The text before the first empty line, one character per byte. Lines end with CR LF and nothing less. */
  async head(maxBytes: number): Promise<{ readonly text: string } | { readonly failure: HeadFailure }> {
    for (let at = 0;;) {
      for (; at < this.#held.length; at++) {
        if (this.#held[at] !== LF) continue;
        if (this.#held[at - 1] !== CR) return { failure: "malformed" };
        if (this.#held[at - 2] === LF && this.#held[at - 3] === CR) {
          if (at + 1 > maxBytes) return { failure: "too-large" };
          const text = latin1Text(this.#held.subarray(0, at - 3));
          this.#held = this.#held.subarray(at + 1);
          return { text };
        }
      }
      if (this.#held.length > maxBytes) return { failure: "too-large" };
      if (!await this.#fill()) return { failure: "ended" };
    }
  }

  /** Returns the next bytes: first those held back, then those of the connection; null at its end. */
  async read(): Promise<Uint8Array | null> {
    if (this.#held.length === 0 && !await this.#fill()) return null;
    const held = this.#held;
    this.#held = new Uint8Array(0);
    return held;
  }

  /** Puts bytes back in front of those still to be read. */
  unread(bytes: Uint8Array): void {
    this.#held = this.#held.length === 0 ? bytes : joined([bytes, this.#held]);
  }

  /** Waits for more bytes, together with everyone else who does: a socket is read once at a time. */
  #fill(): Promise<boolean> {
    return this.#filling ??= this.#socket.read().then((chunk) => {
      if (chunk !== null) this.#held = this.#held.length === 0 ? chunk : joined([this.#held, chunk]);
      return chunk !== null;
    }).finally(() => this.#filling = null);
  }
}
