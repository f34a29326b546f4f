/**
 * A socket of `node:net` or `node:tls` as the port describes one.
 *
 * @module
 */
import type { Socket as NetSocket } from "node:net";
import type { Socket } from "../../core/ports/ports.ts";

/** Options of {@link adopt}. */
export interface AdoptOptions {
  /** Called with true when a reader waits and there is nothing for it, and with false when something has come. */
  readonly onWait?: (isWaiting: boolean) => void;
}

/** Makes a socket of the port from a paused one of Node's kind. */
export function adopt(socket: NetSocket, { onWait = () => {} }: AdoptOptions = {}): Socket {
  const waiting: Uint8Array[] = [];
  // It may have ended already: a client can send the end of a handshake and garbage at once.
  let failure: Error | null = socket.errored ?? null;
  let ended = socket.destroyed;
  let wake = (): void => {};

  socket.on("data", (chunk: Uint8Array) => {
    onWait(false);
    waiting.push(chunk);
    socket.pause();
    wake();
  });
  socket.on("end", () => (ended = true, wake()));
  socket.on("close", () => (ended = true, wake()));
  socket.on("error", (error) => (failure = error, wake()));

  return {
    async read(): Promise<Uint8Array | null> {
      for (;;) {
        const chunk = waiting.shift();
        if (chunk) return chunk;
        if (failure) throw failure;
        if (ended) return null;
        const woken = new Promise<void>((resolve) => wake = resolve);
        if (socket.readableLength === 0) onWait(true);
        socket.resume();
        await woken;
      }
    },
    write: (bytes) =>
      new Promise((resolve, reject) => {
        if (failure || socket.destroyed) return reject(failure ?? new Error("The connection is closed"));
        socket.write(bytes, (error) => error ? reject(error) : resolve());
      }),
    end: () => void (socket.destroyed || socket.end()),
    destroy: () => void socket.destroy(),
  };
}
