/**
 * TLS over a connection that is already there, at the pace of whoever reads and writes it: the sockets that runtimes
 * make for TLS take all that comes, on Deno however long nobody reads, on Bun and Deno however slowly it can be sent.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { Duplex } from "node:stream";
import { setImmediate } from "node:timers";
import type { TLSSocket } from "node:tls";
import type { Socket } from "../../core/ports/ports.ts";
import { adopt } from "./adopt_socket.ts";

/** Bytes that TLS may take in before anybody reads: more than one record (RFC 8446 §5.2). */
const MAX_AHEAD_BYTES = 64 * 1024;

/** A connection as a stream for TLS, which gets bytes out of it while its reader wants some. */
export interface PulledStream {
  readonly stream: Duplex;
  /** Says whether the reader waits for bytes: from the beginning it does, because of the handshake. */
  want(isWanted: boolean): void;
}

/** Makes a stream of Node's kind over a socket of the port. */
export function pulledStream(socket: Socket): PulledStream {
  let isWanted = true;
  let ahead = 0;
  let isHeld = false;
  const pull = (): void => {
    isHeld = !isWanted && ahead >= MAX_AHEAD_BYTES;
    if (isHeld) return;
    socket.read().then((chunk) => {
      if (!isWanted) ahead += chunk?.length ?? 0;
      stream.push(chunk && Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    }, (error: Error) => stream.destroy(error));
  };
  const stream: Duplex = new Duplex({
    read: pull,
    write: (chunk: Uint8Array, _encoding, done) => void socket.write(chunk).then(() => done(), done),
    final(done) {
      socket.end();
      done();
    },
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  return {
    stream,
    want(isNow): void {
      isWanted = isNow;
      if (!isNow) return;
      ahead = 0;
      if (isHeld) pull();
    },
  };
}

/** Makes a socket of the port from TLS over such a stream, once both sides have agreed on it. */
export function adoptSecure(secure: TLSSocket, { stream, want }: PulledStream): Socket {
  want(false);
  const adopted = adopt(secure, { onWait: want });
  return {
    ...adopted,
    async write(bytes): Promise<void> {
      await adopted.write(bytes);
      await drained(stream);
    },
  };
}

/** Resolves when TLS is agreed on; rejects when it fails, the connection ends before, or the signal says so. */
export function shaken(
  secure: TLSSocket,
  { stream, event, signal }: { readonly stream: Duplex; readonly event: string; readonly signal: AbortSignal },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: unknown): void => {
      signal.removeEventListener("abort", abort);
      secure.destroy();
      stream.destroy();
      reject(reason);
    };
    const abort = (): void => fail(signal.reason);
    // A turn later: an error of TLS, which says more, ends the stream first.
    const early = (): void => void setImmediate(fail, new Error("The connection ended before TLS was agreed on"));
    signal.addEventListener("abort", abort, { once: true });
    // For good: an error that nobody listens to, at any time, would end the process.
    for (const each of [secure, stream]) each.on("error", () => {});
    stream.once("close", () => secure.destroy());
    // Node emits "error" in its place only on sockets that a server of its own has accepted.
    secure.once("_tlsError", (error: Error) => secure.destroy(error));
    secure.once("error", fail).once("close", early);
    stream.once("end", early).once("close", early); // No runtime reports on TLS whose stream ends this early.
    secure.once(event, () => {
      signal.removeEventListener("abort", abort);
      secure.off("error", fail).off("close", early);
      stream.off("end", early).off("close", early);
      secure.pause();
      resolve();
    });
  });
}

function drained(stream: Duplex): Promise<void> {
  if (!stream.writableNeedDrain || stream.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      stream.off("drain", done).off("close", done);
      resolve();
    };
    stream.on("drain", done).on("close", done);
  });
}
