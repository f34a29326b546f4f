/**
 * Two connections joined in memory: bytes and bounds as over pipes, no process.
 *
 * @module
 */
import type { Clock } from "../../src/core/ports/ports.ts";
import { createConnection } from "../../src/core/wire/connection.ts";
import type { Connection, ConnectionOptions, Wire } from "../../src/core/wire/connection_types.ts";
import { portableBytes } from "./portable_bytes.ts";

/** One side of a {@link ConnectionPair}: what it does with what comes, and its limits. */
export type SideOptions = Partial<Omit<ConnectionOptions, "wire" | "clock">>;

/** How a {@link ConnectionPair} is set up. */
export interface PairOptions {
  /** Time, for both sides. */
  readonly clock: Clock;
  /** One side. By default it knows no method and ignores the rest. */
  readonly left?: SideOptions;
  /** The other side. */
  readonly right?: SideOptions;
  /** Cuts written bytes into the chunks they arrive in. Default: as written. */
  readonly chunk?: (bytes: Uint8Array) => Iterable<Uint8Array>;
}

/** Two connections, each the other's other side. */
export interface ConnectionPair {
  /** One side. */
  readonly left: Connection;
  /** The other side. */
  readonly right: Connection;
  /** Sends raw bytes to a side, as if its other side had written them. */
  inject(to: "left" | "right", bytes: Uint8Array): void;
}

/** Makes two connections joined in memory. Bytes arrive in later microtasks, in order. */
export function createConnectionPair({ clock, left = {}, right = {}, chunk }: PairOptions): ConnectionPair {
  const toLeft = new MemoryPipe(chunk);
  const toRight = new MemoryPipe(chunk);
  const leftSide = createConnection({ ...QUIET, ...left, clock, wire: wireOf(toRight, toLeft) });
  const rightSide = createConnection({ ...QUIET, ...right, clock, wire: wireOf(toLeft, toRight) });
  toLeft.connect(leftSide, rightSide);
  toRight.connect(rightSide, leftSide);
  return {
    left: leftSide,
    right: rightSide,
    inject: (to, bytes) => (to === "left" ? toLeft : toRight).push(bytes),
  };
}

const QUIET: Omit<ConnectionOptions, "wire" | "clock"> = {
  bytes: portableBytes,
  onRequest: () => null,
  onNotification: () => {},
  onIrregularity: () => {},
};

function wireOf(out: MemoryPipe, back: MemoryPipe): Wire {
  return {
    write: (text) => out.push(new TextEncoder().encode(text)),
    bufferedBytes: () => out.bytes,
    pause: () => back.pause(),
    resume: () => back.resume(),
  };
}

class MemoryPipe {
  readonly #chunk: (bytes: Uint8Array) => Iterable<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #next = 0;
  #reader: Connection | null = null;
  #writer: Connection | null = null;
  #paused = false;
  #scheduled = false;
  bytes = 0;

  constructor(chunk: (bytes: Uint8Array) => Iterable<Uint8Array> = (bytes) => [bytes]) {
    this.#chunk = chunk;
  }

  connect(reader: Connection, writer: Connection): void {
    this.#reader = reader;
    this.#writer = writer;
  }

  push(bytes: Uint8Array): void {
    for (const chunk of this.#chunk(bytes)) {
      this.#chunks.push(chunk);
      this.bytes += chunk.length;
    }
    this.#schedule();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#scheduled || this.#paused || this.#chunks.length === 0) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    while (this.#next < this.#chunks.length && !this.#paused) {
      const chunk = this.#chunks[this.#next++]!;
      this.bytes -= chunk.length;
      this.#reader?.receive(chunk);
    }
    if (this.#next < this.#chunks.length) return;
    this.#chunks = [];
    this.#next = 0;
    this.#writer?.drained();
  }
}
