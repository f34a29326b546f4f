/**
 * Sockets through `node:net`, which all three runtimes have.
 *
 * @module
 */
import { lookup } from "node:dns/promises";
import { chmod, rm } from "node:fs/promises";
import { createServer, isIP, type Server, Socket as NetSocket } from "node:net";
import { connect as connectTls, createSecureContext, rootCertificates, type SecureContext } from "node:tls";
import type { Network, Socket, SocketListener } from "../../core/ports/ports.ts";
import { adopt } from "./adopt_socket.ts";
import { acceptSecure } from "./accept_secure.ts";
import { adoptSecure, pulledStream, shaken } from "./secure_socket.ts";
import { withShortPath } from "./short_path.ts";

/** Sockets and names; see {@link Network}. */
export const network: Network = {
  async listen(path: string, onConnection: (socket: Socket) => void): Promise<SocketListener> {
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => onConnection(adopt(socket)));
    await withShortPath(path, (short) => listening(server, short));
    await chmod(path, 0o600);
    server.unref();
    return {
      close: async () => {
        // Does not wait for open connections: their owners close them.
        server.close();
        await rm(path, { force: true });
      },
    };
  },

  isDeserted(path: string): Promise<boolean> {
    return withShortPath(path, (short) =>
      new Promise((resolve) => {
        const socket = new NetSocket().connect(short);
        socket.once("connect", () => (socket.destroy(), resolve(false)));
        socket.once("error", ({ code }: { code?: string }) => resolve(code === "ECONNREFUSED"));
      }));
  },

  connect(address: string, port: number, signal: AbortSignal): Promise<Socket> {
    const open = (): NetSocket => new NetSocket({ allowHalfOpen: true }).connect({ host: address, port });
    return opened(open, "connect", signal);
  },

  async connectSecure(address, port, { name, signal, trusted = [], roots }): Promise<Socket> {
    // An address is no server name (RFC 6066 §3): without one the certificate must be for the address itself.
    const servername = isIP(name) === 0 ? { servername: name } : {};
    const ca = trusted.length > 0 ? { ca: [...rootCertificates, ...trusted] } : {};
    const believed = roots?.length ? { secureContext: contextOf(roots) } : ca;
    const pulled = pulledStream(await network.connect(address, port, signal));
    const { stream } = pulled;
    const secure = connectTls({ socket: stream, host: address, rejectUnauthorized: true, ...servername, ...believed });
    await shaken(secure, { stream, event: "secureConnect", signal });
    return adoptSecure(secure, pulled);
  },

  acceptSecure,

  resolve: async (name) => (await lookup(name, { all: true, verbatim: true })).map(({ address }) => address),

  relayProgram: async () => (await import("../generated/relay_program.ts")).RELAY_PROGRAM,
};

/** Opens a connection, and gives it up when the signal says so. */
function opened(open: () => NetSocket, event: string, signal: AbortSignal): Promise<Socket> {
  signal.throwIfAborted();
  const socket = open();
  return new Promise((resolve, reject) => {
    const abort = (): void => fail(signal.reason);
    const fail = (reason: unknown): void => {
      signal.removeEventListener("abort", abort);
      socket.destroy();
      reject(reason);
    };
    signal.addEventListener("abort", abort, { once: true });
    socket.once("error", fail);
    socket.once(event, () => {
      signal.removeEventListener("abort", abort);
      socket.off("error", fail);
      socket.pause();
      resolve(adopt(socket));
    });
  });
}

/** Resolves when `server` listens at a path or an address; rejects with the system's error. */
export function listening(
  server: Server,
  at: string | { readonly hostname: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const listens = (): void => (server.off("error", reject), resolve());
    if (typeof at === "string") server.listen(at, listens);
    else server.listen(at.port, at.hostname, listens);
  });
}

/** Lists of roots that were read: reading one takes ten times as long as a handshake. */
const contexts = new WeakMap<readonly string[], SecureContext>();

function contextOf(roots: readonly string[]): SecureContext {
  const context = contexts.get(roots) ?? createSecureContext({ ca: [...roots] });
  contexts.set(roots, context);
  return context;
}
