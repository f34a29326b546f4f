/**
 * The server's half of TLS over a connection that is already there.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { Socket as NetSocket } from "node:net";
import { Duplex } from "node:stream";
import { createSecureContext, type SecureContext, TLSSocket } from "node:tls";
import type { SecureSocket, Socket, TlsIdentity } from "../../core/ports/ports.ts";
import { adopt } from "./adopt_socket.ts";

/** Keys and certificates that were read: an identity serves many connections. */
const contexts = new WeakMap<TlsIdentity, SecureContext>();

/** Ends TLS over a socket; see `Network.acceptSecure`. */
export async function acceptSecure(socket: Socket, identity: TlsIdentity, signal: AbortSignal): Promise<SecureSocket> {
  signal.throwIfAborted();
  const stream = streamOf(socket);
  const secure = new TLSSocket(stream as NetSocket, {
    isServer: true,
    secureContext: contextOf(identity),
    ALPNProtocols: ["http/1.1"],
  });
  await shaken(secure, stream, signal);
  const { servername } = secure as { servername?: string | false | null };
  return { ...adopt(secure), serverName: servername || null };
}

function shaken(secure: TLSSocket, stream: Duplex, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (reason: unknown): void => {
      signal.removeEventListener("abort", abort);
      secure.destroy();
      reject(reason);
    };
    const abort = (): void => fail(signal.reason);
    const early = (): void => fail(new Error("The connection ended before TLS was agreed on"));
    signal.addEventListener("abort", abort, { once: true });
    secure.once("error", fail).once("close", early);
    stream.once("end", early).once("close", early); // No runtime reports on TLS whose stream ends this early.
    secure.once("secure", () => {
      signal.removeEventListener("abort", abort);
      secure.off("error", fail).off("close", early);
      stream.off("end", early).off("close", early);
      secure.pause();
      resolve();
    });
  });
}

function contextOf(identity: TlsIdentity): SecureContext {
  const context = contexts.get(identity) ?? createSecureContext({ key: identity.key, cert: identity.certificate });
  contexts.set(identity, context);
  return context;
}

/** A stream of Node's kind over a socket of the port. */
function streamOf(socket: Socket): Duplex {
  const stream: Duplex = new Duplex({
    read: () =>
      void socket.read().then(
        (chunk) => stream.push(chunk && Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)),
        (error: Error) => stream.destroy(error),
      ),
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
  return stream;
}
