/**
 * HTTP on Node: `node:http` under Hono's adapter, WebSockets by `ws`. Both are loaded with the first server.
 *
 * @module
 */
import { chmod, rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { WebSocketServer } from "ws";
import type {
  HttpConnection,
  HttpHandler,
  HttpListenOptions,
  HttpServer,
  HttpServers,
  WebSocketUpgrade,
} from "../../core/ports/http.ts";
import { listening } from "../shared/network.ts";
import { withShortPath } from "../shared/short_path.ts";

/** HTTP servers on Node; see {@link HttpServers}. */
export const httpServers: HttpServers = {
  async listen({ at, handler, background = false }: HttpListenOptions): Promise<HttpServer> {
    const [{ getRequestListener }, { WebSocketServer }] = await Promise.all([
      import("@hono/node-server"),
      import("ws"),
    ]);
    const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_MESSAGE, perMessageDeflate: false });
    // The server forgets connections that ask for an upgrade: it neither waits for them nor ends them.
    const detached = new Set<Duplex>();
    // The global Request and Response stay the runtime's own: this is not our program.
    const options = { overrideGlobalObjects: false };
    const server = createServer(getRequestListener((request) => handler(request, plain(request)), options));
    server.on("upgrade", (request, socket, head) => {
      detached.add(socket);
      socket.once("close", () => detached.delete(socket));
      void upgrade(request, socket, head, { handler, sockets });
    });
    if ("path" in at) {
      await withShortPath(at.path, (path) => listening(server, path));
      await chmod(at.path, 0o600);
    } else await listening(server, at);
    if (background) server.unref();
    const stopped = new Promise<void>((resolve) => server.once("close", resolve));
    return {
      port: "path" in at ? null : (server.address() as AddressInfo).port,
      async stop() {
        server.close();
        if ("path" in at) await rm(at.path, { force: true });
        await stopped;
      },
      destroy() {
        for (const socket of detached) socket.destroy();
        server.closeAllConnections();
        return Promise.resolve();
      },
    };
  },
};

/** Longest message a client may send: none is needed. */
const MAX_MESSAGE = 65_536;

/** The connection of a request that asks for no WebSocket. Its signal costs something: it is made when it is looked at. */
function plain(request: Request): HttpConnection {
  return {
    get signal() {
      return request.signal;
    },
    upgrade(): never {
      throw new TypeError("The request asks for no WebSocket");
    },
  };
}

/** Asks the handler about a request for a WebSocket, and either opens it or writes the handler's response. */
async function upgrade(
  incoming: IncomingMessage,
  socket: Duplex,
  head: Uint8Array,
  { handler, sockets }: { readonly handler: HttpHandler; readonly sockets: WebSocketServer },
): Promise<void> {
  socket.on("error", () => socket.destroy());
  let wanted: WebSocketUpgrade | null = null;
  try {
    const response = await handler(requestOf(incoming), {
      signal: null,
      upgrade: (upgrade) => void (wanted = upgrade),
    });
    if (wanted === null) return endWith(socket, await responseText(response));
  } catch {
    return endWith(socket, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
  }
  const { protocol, open, closed } = wanted as WebSocketUpgrade;
  sockets.options.handleProtocols = () => protocol ?? false;
  sockets.handleUpgrade(incoming, socket, head as never, (peer) => {
    peer.on("error", () => {}); // Its close follows.
    peer.on("close", closed);
    open({
      send: (text) => peer.readyState === peer.OPEN && peer.send(text),
      bufferedBytes: () => peer.bufferedAmount,
      close: (code, reason) => peer.close(code, reason),
    });
  });
}

/** Ends both ways: a client that holds its half open would hold the server's stop up. */
function endWith(socket: Duplex, text: string): void {
  socket.end(text, () => socket.destroy());
}

function requestOf(
  { url = "/", method = "GET", rawHeaders, headers: { host = "localhost" } }: IncomingMessage,
): Request {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  return new Request(new URL(url, `http://${host}`), { method, headers });
}

async function responseText(response: Response): Promise<string> {
  const body = await response.text();
  const headers = [...response.headers, ["connection", "close"], ["content-length", `${new Blob([body]).size}`]];
  const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return `HTTP/1.1 ${response.status} ${response.statusText || "Refused"}\r\n${head}\r\n${body}`;
}
