/**
 * The HTTP API of a host: one function from a request to its response.
 *
 * @module
 */
import { Hono } from "hono";
import { HostError } from "../core/errors/host_error.ts";
import type { Host } from "../host/types.ts";
import type { HttpConnection, HttpHandler } from "../core/ports/http.ts";
import { addRoutes, type RouteApp } from "./add_routes.ts";
import { callLimit } from "./call_limit.ts";
import { consoleResponse, isConsolePath } from "./console.ts";
import { checkOrigin, checkToken } from "./guard.ts";
import { observe } from "./observe.ts";
import { failureResponse, problemResponse } from "./problem.ts";
import type { Api } from "./route.ts";
import { ROUTES } from "./routes/routes.ts";

/** How an app is set up. */
export interface AppOptions {
  /** The host. */
  readonly host: Host;
  /** What a client must carry; null when whoever can connect may ask, as with a socket only this user may open. */
  readonly token: string | null;
  /** Names under which the server may be asked, beside addresses and `localhost`. */
  readonly allowedHosts?: readonly string[];
  /** Calls of plugins' methods that are taken in a second. Default 200. */
  readonly callsPerSecond?: number;
  /** More apps; the token guards them too. */
  readonly mount?: readonly MountedApp[];
  /** Hears of failures that are the host's own mistake. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
}

/** An app that answers for what lies below a path, where the API itself has no route. */
export interface MountedApp {
  /** The path, such as `/api/v1`; it is left out of what the app is asked. */
  readonly path: string;
  /** A Hono app, or anything like it. */
  readonly app: { fetch(request: Request): Response | Promise<Response> };
}

/** The API. */
export interface App {
  /** Answers a request. Never rejects. */
  readonly fetch: HttpHandler;
  /** Ends every stream. Requests are still answered. */
  close(): void;
}

const CALLS_PER_SECOND = 200;
const OPEN: ReadonlySet<string> = new Set(ROUTES.filter(({ isOpen }) => isOpen).map(({ path }) => path));
const PATTERNS: readonly { readonly method: string; readonly pattern: RegExp }[] = ROUTES.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
}));

/** Returns the API of a host. It keeps events for its streams from now on. */
export function createApp(options: AppOptions): App {
  const { host, token, allowedHosts = [], callsPerSecond = CALLS_PER_SECOND, mount = [] } = options;
  const warn = options.onWarning ?? ((message: string) => console.error(message));
  const observed = observe(host);
  const api: Api = { host, ...observed };
  const limit = callLimit(callsPerSecond, host.view.clock);
  const guard = token === null ? null : { token, allowedHosts: allowedHosts.map((name) => name.toLowerCase()) };

  const hono: RouteApp = new Hono();
  addRoutes(hono, ROUTES, {
    clock: host.view.clock,
    warn,
    api(route) {
      if (route.isCall) limit.take();
      return api;
    },
  });
  hono.notFound(async ({ req: { raw }, env }) =>
    consoleResponse(raw) ?? await mountedResponse(raw, mount, env) ?? notFound(raw)
  );

  async function answer(request: Request, connection: HttpConnection): Promise<Response> {
    if (guard) {
      checkOrigin(request, guard);
      const pathname = pathOf(request.url);
      if (!OPEN.has(pathname) && !isConsolePath(pathname)) checkToken(request, guard);
    }
    return await hono.fetch(request, connection);
  }

  return {
    async fetch(request, connection) {
      const response = await answer(request, connection).catch((error) => failureResponse(error, warn));
      for (const [name, value] of Object.entries(HEADERS)) {
        if (!response.headers.has(name)) response.headers.set(name, value);
      }
      observed.metrics.answered(response.status);
      return response;
    },
    close: () => observed.close(),
  };
}

/** What every answer says, where it says nothing else: not to be guessed at, kept, framed or told of elsewhere. */
const HEADERS: Readonly<Record<string, string>> = {
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** The path of an address as it was sent: what is not spelt like an open path is not one. */
function pathOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? "";
}

/** Methods that no `Request` can be made with (Fetch, forbidden methods), though servers hand them over. */
const UNSENDABLE: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

/** Asks the mounted apps in turn; one that knows nothing of the path leaves it to the next. */
async function mountedResponse(
  request: Request,
  mount: readonly MountedApp[],
  { signal }: HttpConnection,
): Promise<Response | null> {
  const url = new URL(request.url);
  if (UNSENDABLE.has(request.method)) return null;
  for (const { path, app } of mount) {
    if (!url.pathname.startsWith(`${path}/`)) continue;
    const inner = new URL(url.pathname.slice(path.length) + url.search, url.origin);
    const { method, headers, body } = request;
    const sent = body && { body, duplex: "half" };
    const asked = new Request(inner, { method, headers, ...sent, ...(signal && { signal }) } as RequestInit);
    const response = await app.fetch(asked);
    const isUnknown = response.status === 404 && !response.headers.get("content-type")?.includes("json");
    if (!isUnknown) return new Response(response.body, response);
  }
  return null;
}

function notFound(request: Request): Response {
  const { pathname } = new URL(request.url);
  const methods = PATTERNS.filter(({ pattern }) => pattern.test(pathname)).map(({ method }) => method);
  if (methods.length === 0) {
    return problemResponse(
      new HostError("http.not_found", `There is nothing at "${pathname.slice(0, 200)}"`, { hint: "See /openapi.json" }),
    );
  }
  const allow = methods.join(", ");
  return problemResponse(
    new HostError("http.method_not_allowed", `"${pathname}" takes ${allow}`, { data: { allow: methods } }),
    { Allow: allow },
  );
}
