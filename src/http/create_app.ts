/**
 * The HTTP API of a host: one function from a request to its response.
 *
 * @module
 */
import { Hono } from "hono";
import { HostError } from "../core/errors/host_error.ts";
import type { Host } from "../host/types.ts";
import type { HttpConnection, HttpHandler } from "../core/ports/http.ts";
import type { Clock } from "../core/ports/ports.ts";
import { printWarning } from "../core/values/printable.ts";
import { addRoutes, type RouteApp } from "./add_routes.ts";
import { CONSOLE_FILES } from "./generated/console_files.ts";
import { checkOrigin, checkToken, guarded } from "./guard.ts";
import { observe } from "./observe.ts";
import { failureResponse, type Hide, problemResponse } from "./problem.ts";
import { ROUTES } from "./routes/routes.ts";
import { Tickets } from "./tickets.ts";

/** Options of {@link createApp}. */
export interface AppOptions {
  /** A host from `createHost()`, started or not. */
  readonly host: Host;
  /** The token that clients must send; null where the connection itself is proof, as with a socket of this user. */
  readonly token: string | null;
  /** Host names that requests may name, beside addresses and `localhost`. Default: none. */
  readonly allowedHosts?: readonly string[];
  /** Calls of plugins' methods per second. Default 200. */
  readonly callsPerSecond?: number;
  /**
   * Whether the header `X-Kaged-User-Id` names the operator of a request, for the audit and for plugins' `_context`. Only
   * behind a proxy that sets it and lets no client set it. Default false.
   */
  readonly trustUserHeader?: boolean;
  /** More apps, behind the same token. Default: none. */
  readonly mount?: readonly MountedApp[];
  /** Receives failures that are the host's own mistakes. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
}

/** An app that answers below a path, where the API itself has no route. */
export interface MountedApp {
  /** The path, such as `/api/v1`; the app sees requests without it. */
  readonly path: string;
  /** A Hono app, or anything with such a `fetch`. */
  readonly app: { fetch(request: Request): Response | Promise<Response> };
}

/** The API of a host, without a server. */
export interface App {
  /** Answers a request; never rejects, for failures are answers too. */
  readonly fetch: HttpHandler;
  /** Ends every stream. Other requests are still answered. */
  close(): void;
}

const CALLS_PER_SECOND = 200;
const OPEN: ReadonlySet<string> = new Set(ROUTES.filter(({ isOpen }) => isOpen).map(({ path }) => path));
const PATTERNS: readonly { readonly method: string; readonly pattern: RegExp }[] = ROUTES.map(({ method, path }) => ({
  method,
  pattern: new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{\w+\}/g, "[^/]+")}$`),
}));

/** Returns the API of a host. Its streams can go back to the events since this call. */
export function createApp(options: AppOptions): App {
  const { host, token, allowedHosts = [], callsPerSecond = CALLS_PER_SECOND, mount = [], trustUserHeader = false } =
    options;
  const warn = options.onWarning ?? printWarning;
  const observed = observe(host);
  const hide: Hide = (value) => host.view.hide(value);
  const tickets = new Tickets(host.view.clock);
  const api = { host, tickets, ...observed };
  const takeCall = callLimit(callsPerSecond, host.view.clock);
  const guard = token === null ? null : { token, allowedHosts: allowedHosts.map((name) => name.toLowerCase()) };

  const hono: RouteApp = new Hono();
  addRoutes(hono, ROUTES, {
    clock: host.view.clock,
    hide,
    warn,
    api(route) {
      if (route.isCall) takeCall();
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
      if (!OPEN.has(pathname) && !CONSOLE_FILES.has(pathname)) {
        const admitted = tickets.admitted(request);
        if (admitted) return await hono.fetch(admitted, connection);
        checkToken(request, guard);
      }
    }
    return await hono.fetch(request, connection);
  }

  /** Everything that a request causes is audited under its id. */
  async function serveCaller(request: Request, requestId: string, work: () => Promise<Response>): Promise<Response> {
    const operatorId = trustUserHeader ? operatorIn(request) : null;
    return await host.view.serve({ requestId, operatorId }, work);
  }

  return {
    async fetch(request, connection) {
      const requestId = host.view.ids.create("req");
      const response = guarded(
        await serveCaller(request, requestId, () => answer(request, connection))
          .catch((error) => failureResponse(error, warn, hide)),
      );
      response.headers.set("X-Request-Id", requestId);
      observed.metrics.answered(response.status);
      return response;
    },
    close: () => observed.close(),
  };
}

const USER_HEADER = "x-kaged-user-id";

/** Returns the operator that a proxy names. Throws `http.input_invalid` for a name that is none. */
function operatorIn({ headers }: Request): string | null {
  const name = headers.get(USER_HEADER);
  if (name === null || /^[\w.@+:-]{1,128}$/.test(name)) return name;
  throw new HostError("http.input_invalid", "X-Kaged-User-Id is no name of an operator", {
    data: { issues: [{ at: "header", path: USER_HEADER, message: "It is no name" }] },
    hint: "Let the proxy send 1 to 128 letters, digits and . _ @ + : -",
  });
}

/** The page loads files of this server only, has no inline script, and cannot be framed. */
const CONSOLE_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Returns the console's file at the path of a request, or null. */
function consoleResponse(request: Request): Response | null {
  const file = CONSOLE_FILES.get(new URL(request.url).pathname);
  if (!file || (request.method !== "GET" && request.method !== "HEAD")) return null;
  return new Response(request.method === "HEAD" ? null : file.text, {
    headers: { "Content-Type": file.type, "Content-Security-Policy": CONSOLE_POLICY, "Cache-Control": "no-cache" },
  });
}

/**
 * Returns a function that counts one call, and throws `http.rate_limited` beyond the limit. It is a token bucket: after a
 * quiet second, a whole second's worth of calls may come at once.
 */
function callLimit(perSecond: number, clock: Clock): () => void {
  let left = perSecond;
  let atMs = clock.monotonic();
  return () => {
    const nowMs = clock.monotonic();
    left = Math.min(perSecond, left + (nowMs - atMs) * perSecond / 1000);
    atMs = nowMs;
    if (left < 1) {
      throw new HostError("http.rate_limited", `More than ${perSecond} calls arrived in a second`, {
        data: { calls_per_second: perSecond },
        hint: "Wait a second, or raise calls_per_second under [http] in config.toml",
      });
    }
    left--;
  };
}

/** The path exactly as it was sent: only a path that is spelled like an open one needs no token. */
function pathOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? "";
}

/** Methods that servers hand over although the constructor of `Request` refuses them (Fetch, forbidden methods). */
const UNSENDABLE: ReadonlySet<string> = new Set(["CONNECT", "TRACE", "TRACK"]);

/** Asks the mounted apps in turn; a 404 that is not JSON comes from an app without the route, so the next one is asked. */
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
  const allow = PATTERNS.filter(({ pattern }) => pattern.test(pathname)).map(({ method }) => method);
  if (allow.length === 0) {
    const message = `There is nothing at "${pathname.slice(0, 200)}"`;
    return problemResponse(new HostError("http.not_found", message, { hint: "See /openapi.json" }));
  }
  const error = new HostError("http.method_not_allowed", `"${pathname}" takes ${allow.join(", ")}`, {
    data: { allow },
  });
  return problemResponse(error, { Allow: allow.join(", ") });
}
