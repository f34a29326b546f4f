/**
 * A connection whose other side is the test: it sees what is written and sends what it likes.
 *
 * @module
 */
import { createConnection } from "../../../src/core/wire/connection.ts";
import type { Connection, ConnectionOptions, Irregularity } from "../../../src/core/wire/connection_types.ts";
import { portableBytes } from "../../support/portable_bytes.ts";
import { createFakeClock, type FakeClock } from "../../support/fake_clock.ts";

/** A connection in the hands of a test. */
export interface RawPeer {
  readonly connection: Connection;
  readonly clock: FakeClock;
  /** What each write carried. */
  readonly writes: string[];
  readonly irregularities: Irregularity[];
  readonly notifications: { method: string; params: unknown }[];
  /** Bytes the wire claims to hold. */
  buffered: number;
  /** Whether the connection asked the wire to stop. */
  paused: boolean;
  /** Sends lines: text as it is, anything else as JSON. */
  send(...lines: unknown[]): void;
  /** Every message written so far. */
  sent(): Promise<Record<string, unknown>[]>;
}

/** Makes a connection over a wire that only remembers. */
export function createRawPeer(options: Partial<ConnectionOptions> = {}): RawPeer {
  const clock = createFakeClock();
  const peer: RawPeer = {
    clock,
    writes: [],
    irregularities: [],
    notifications: [],
    buffered: 0,
    paused: false,
    connection: createConnection({
      wire: {
        write: (text) => void peer.writes.push(text),
        bufferedBytes: () => peer.buffered,
        pause: () => void (peer.paused = true),
        resume: () => void (peer.paused = false),
      },
      clock,
      bytes: portableBytes,
      onRequest: ({ params }) => params,
      onNotification: (method, params) => void peer.notifications.push({ method, params }),
      onIrregularity: (irregularity) => void peer.irregularities.push(irregularity),
      ...options,
    }),
    send: (...lines) => peer.connection.receive(bytesOf(...lines)),
    async sent() {
      await flushed();
      return peer.writes.join("").split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    },
  };
  return peer;
}

/** Bytes of whole lines: text as it is, anything else as JSON. */
export function bytesOf(...lines: unknown[]): Uint8Array {
  const text = lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join("");
  return new TextEncoder().encode(text);
}

/** Resolves once the microtasks under way have run. */
export async function flushed(): Promise<void> {
  for (let hop = 0; hop < 8; hop++) await null;
}

/** A request of the other side. */
export function request(id: unknown, method: string, params?: unknown): Record<string, unknown> {
  return { jsonrpc: "2.0", id, method, params };
}

/** A successful answer of the other side. */
export function result(id: unknown, value: unknown): Record<string, unknown> {
  return { jsonrpc: "2.0", id, result: value };
}

/** What a call rejects with, or null when it does not. */
export function rejection(call: Promise<unknown>): Promise<Error & Record<string, unknown> | null> {
  return call.then(() => null, (error) => error);
}
