/**
 * HTTP on Bun: `Bun.serve`.
 *
 * @module
 */
import { chmod, rm } from "node:fs/promises";
import type { HttpListenOptions, HttpServer, HttpServers, WebSocketUpgrade } from "../../core/ports/http.ts";
import { withShortPath } from "../shared/short_path.ts";

/** A WebSocket as Bun hands it over. */
interface BunSocket {
  readonly data: WebSocketUpgrade;
  send(text: string): number;
  getBufferedAmount(): number;
  close(code: number, reason: string): void;
}

/** The members of `Bun` that are used: its own types break those of `node:` modules. */
interface BunHttp {
  serve(options: Record<string, unknown>): BunServer;
}

interface BunServer {
  readonly port?: number;
  stop(force?: boolean): Promise<void>;
  unref(): void;
  upgrade(request: Request, options: object): boolean;
}

/** HTTP servers on Bun; see {@link HttpServers}. */
export const httpServers: HttpServers = {
  async listen({ at, handler, background = false }: HttpListenOptions): Promise<HttpServer> {
    const { serve } = (globalThis as unknown as { Bun: BunHttp }).Bun;
    const start = (where: object): BunServer =>
      serve({
        ...where,
        idleTimeout: 0, // A stream may be quiet, and a plugin may take its time.
        development: false,
        reusePort: false, // Outside of development Bun would share the port with whoever has it.
        error: () => new Response(null, { status: 500 }),
        async fetch(request: Request, server: BunServer): Promise<Response | undefined> {
          let wanted: WebSocketUpgrade | null = null;
          const response = await handler(request, {
            signal: request.signal,
            upgrade: (upgrade) => void (wanted = upgrade),
          });
          if (wanted === null) return response;
          const { protocol } = wanted as WebSocketUpgrade;
          const headers = protocol === null ? {} : { "Sec-WebSocket-Protocol": protocol };
          if (server.upgrade(request, { data: wanted, headers })) return undefined;
          return new Response(null, { status: 400 });
        },
        websocket: {
          open: (socket: BunSocket) =>
            socket.data.open({
              send: (text) => void socket.send(text),
              bufferedBytes: () => socket.getBufferedAmount(),
              close: (code, reason) => socket.close(code, reason),
            }),
          message() {},
          close: (socket: BunSocket) => socket.data.closed(),
        },
      });
    const server = "path" in at
      ? await withShortPath(at.path, (path) => Promise.resolve(start({ unix: path })))
      : start({ hostname: at.hostname, port: at.port });
    if ("path" in at) await chmod(at.path, 0o600);
    if (background) server.unref();
    return {
      port: "path" in at ? null : server.port ?? null,
      async stop() {
        if ("path" in at) await rm(at.path, { force: true });
        await server.stop();
      },
      async destroy() {
        await server.stop(true);
      },
    };
  },
};
