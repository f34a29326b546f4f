/**
 * HTTP on Deno: `Deno.serve`.
 *
 * @module
 */
import { chmod, rm } from "node:fs/promises";
import type { HttpListenOptions, HttpServer, HttpServers, WebSocketUpgrade } from "../../core/ports/http.ts";
import { withShortPath } from "../shared/short_path.ts";

/** The members of `Deno` that are used: its own types would reach the published declarations. */
interface DenoHttp {
  serve(
    options: Record<string, unknown>,
    handler: (request: Request, info: { readonly completed: Promise<void> }) => Promise<Response>,
  ): { readonly addr: { readonly port?: number }; readonly finished: Promise<void>; ref(): void; unref(): void };
  upgradeWebSocket(request: Request): { readonly socket: WebSocket; readonly response: Response };
}

/** HTTP servers on Deno; see {@link HttpServers}. */
export const httpServers: HttpServers = {
  async listen({ at, handler, background = false }: HttpListenOptions): Promise<HttpServer> {
    const { serve, upgradeWebSocket } = (globalThis as unknown as { Deno: DenoHttp }).Deno;
    const controller = new AbortController();
    const sockets = new Set<WebSocket>();
    // Not Deno's own shutdown(): after it nothing can drop a connection that does not end.
    let underWay = 0;
    let drained = (): void => {};
    let isStopping = false;
    const done = (): void => {
      if (--underWay === 0) drained();
    };
    const answer = async (request: Request, { completed }: { completed: Promise<void> }): Promise<Response> => {
      if (isStopping) return new Response(null, { status: 503, headers: { Connection: "close" } });
      underWay++;
      void completed.then(done, done);
      let wanted: WebSocketUpgrade | null = null;
      const client = clientOf(request);
      const response = await handler(request, {
        get signal() {
          return client.signal();
        },
        upgrade: (upgrade) => void (wanted = upgrade),
      });
      client.answered();
      if (wanted === null) return response;
      const { protocol, open, closed } = wanted as WebSocketUpgrade;
      const upgraded = upgradeWebSocket(request);
      // Not as an option: Deno finds it only among protocols that are joined by a comma and a space.
      if (protocol !== null) upgraded.response.headers.set("Sec-WebSocket-Protocol", protocol);
      const { socket } = upgraded;
      sockets.add(socket);
      socket.onopen = () =>
        open({
          send: (text) => socket.readyState === socket.OPEN && socket.send(text),
          bufferedBytes: () => socket.bufferedAmount,
          close: (code, reason) => socket.close(code, reason),
        });
      socket.onerror = (event) => event.preventDefault?.(); // Its close follows.
      socket.onclose = () => {
        sockets.delete(socket);
        closed();
      };
      return upgraded.response;
    };
    const start = (where: object) =>
      serve({ ...where, signal: controller.signal, onListen: () => {}, onError: () => FAILED() }, answer);
    // It throws at once when it cannot listen, with the system's code.
    const server = "path" in at
      ? await withShortPath(at.path, (path) => Promise.resolve(start({ path })))
      : start({ hostname: at.hostname, port: at.port });
    if ("path" in at) await chmod(at.path, 0o600);
    if (background) server.unref();
    const close = async (): Promise<void> => {
      server.ref(); // Its end is waited for.
      if (!controller.signal.aborted) controller.abort();
      await server.finished;
    };
    return {
      port: server.addr.port ?? null,
      async stop() {
        isStopping = true;
        if ("path" in at) await rm(at.path, { force: true });
        if (underWay > 0) await new Promise<void>((resolve) => drained = resolve);
        await close();
      },
      async destroy() {
        for (const socket of sockets) socket.close();
        await close();
        drained();
      },
    };
  },
};

/**
 * Returns the client of a request: its signal aborts when it leaves before it is answered. The signal of Deno's request
 * aborts after good answers too, and Deno prints a warning for whoever looks at it: it is looked at only when it is asked
 * for.
 */
function clientOf(request: Request): { signal(): AbortSignal; answered(): void } {
  let controller: AbortController | null = null;
  const abort = (): void => controller?.abort(request.signal.reason);
  return {
    signal() {
      if (controller === null) {
        controller = new AbortController();
        if (request.signal.aborted) abort();
        else request.signal.addEventListener("abort", abort, { once: true });
      }
      return controller.signal;
    },
    answered() {
      if (controller !== null) request.signal.removeEventListener("abort", abort);
    },
  };
}

const FAILED = (): Response => new Response(null, { status: 500 });
