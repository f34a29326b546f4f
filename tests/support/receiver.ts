/**
 * A real HTTP server on loopback that takes webhooks, and misbehaves on request.
 *
 * @module
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import { AUTHORITY, CERTIFICATE, KEY } from "./tls_identity.ts";
import { until } from "./until.ts";

/** A request as it came in. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** An answer: a status with headers, or a way to misbehave. */
export type Manner =
  | number
  | { readonly status: number; readonly headers: Readonly<Record<string, string>> }
  /** Reads, and never answers. */
  | "stall"
  /** Reads, and hangs up. */
  | "hang up"
  /** Answers in something that is not HTTP. */
  | "babble"
  /** Sends more headers than anyone wants to read, and no end of them. */
  | "ramble"
  /** Sends early answers, then 200. */
  | "hint first";

/** A receiver for one test. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly received: Received[];
  /** How the next requests are answered, in order; the last one stays. */
  manners: Manner[];
  /** Resolves once so many requests came in. */
  got(count: number): Promise<void>;
  /** Certificates to trust, when it speaks TLS. */
  readonly trusted: readonly string[];
}

/** Starts a receiver that goes away with the test. */
export async function receiver(
  t: { after(run: () => void): void },
  { manners = [200], isSecure = false }: { manners?: Manner[]; isSecure?: boolean } = {},
): Promise<Receiver> {
  const received: Received[] = [];
  const sockets = new Set<Socket>();
  const own: Receiver = {
    url: "",
    port: 0,
    received,
    manners,
    trusted: isSecure ? [AUTHORITY] : [],
    async got(count) {
      await until(() => received.length >= count, () => `${count} requests; there were ${received.length}`, "turn");
    },
  };
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    received.push({ method: request.method ?? "", path: request.url ?? "", headers, body });
    answer(own.manners.length > 1 ? own.manners.shift()! : own.manners[0]!, response);
  };
  const handle = (request: IncomingMessage, response: ServerResponse): void => void take(request, response);
  const server = isSecure ? createSecureServer({ key: KEY, cert: CERTIFICATE }, handle) : createServer(handle);
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return Object.assign(own, { port, url: `http${isSecure ? "s" : ""}://127.0.0.1:${port}/hooks?key=abc` });
}

function answer(manner: Manner, response: ServerResponse): void {
  const { socket } = response;
  if (manner === "stall") return;
  if (manner === "hang up") return void socket?.destroy();
  if (manner === "babble") return void socket?.end("SSH-2.0-OpenSSH_9.9\r\n\r\n");
  if (manner === "ramble") {
    return void socket?.write(`HTTP/1.1 200 OK\r\n${`x-more: ${"x".repeat(1000)}\r\n`.repeat(64)}`);
  }
  if (manner === "hint first") {
    return void socket?.end("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
  }
  const { status, headers } = typeof manner === "number" ? { status: manner, headers: {} } : manner;
  response.writeHead(status, headers).end();
}
