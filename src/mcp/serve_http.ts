/**
 * A host as an MCP server over Streamable HTTP, for every revision of the protocol at one address.
 *
 * @module
 */
import { asHostError, HostError } from "../core/errors/host_error.ts";
import type { HttpConnection, HttpHandler } from "../core/ports/http.ts";
import type { Clock, Runtime } from "../core/ports/ports.ts";
import { printWarning } from "../core/values/printable.ts";
import { closeServer } from "../http/close_server.ts";
import { checkOrigin, checkToken, type Guard, guarded } from "../http/guard.ts";
import { failureResponse, problemResponse } from "../http/problem.ts";
import { readJson } from "../http/read_input.ts";
import { listenAt } from "../http/serve_host.ts";
import { IDLE_MS, legacySessions } from "./serve_http_legacy.ts";
import { modernRequests } from "./serve_http_modern.ts";
import { loadHttpSdk, type McpSeat } from "./serve_http_sdk.ts";

/** Options of {@link mcpApp}. */
export interface McpAppOptions {
  /** Opens a session of the host: one for each client that shakes hands, one for all others. */
  readonly open: () => Promise<McpSeat>;
  readonly clock: Clock;
  readonly guard: Guard;
  /** Most sessions of clients that shake hands. Default 100. */
  readonly maxSessions?: number;
  /** Milliseconds without a request or an open stream after which a session ends. Default: 30 minutes. */
  readonly idleMs?: number;
  /** Receives failures that are the host's own mistakes. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
}

/** An MCP server without a listener. */
export interface McpApp {
  /** Answers a request; never rejects, for failures are answers too. */
  readonly fetch: HttpHandler;
  /** Ends every session and every stream. */
  close(): Promise<void>;
}

/** The path that clients use. */
export const MCP_PATH = "/mcp";

/** Returns an MCP server as one function. Rejects with `mcp.sdk_missing` where the SDK is not installed. */
export async function mcpApp(options: McpAppOptions): Promise<McpApp> {
  const { open, clock, guard, maxSessions, idleMs = IDLE_MS, onWarning: warn = printWarning } = options;
  const sdk = await loadHttpSdk();
  const legacy = legacySessions({ sdk, clock, open, idleMs, ...(maxSessions !== undefined && { maxSessions }) });
  const modern = modernRequests({ sdk, clock, open, idleMs });

  async function answer(request: Request, { signal }: HttpConnection): Promise<Response> {
    const body = request.method === "POST" ? await readJson(request, clock) : undefined;
    const isLegacy = await sdk.isLegacyRequest(withoutBody(request), body);
    return await (isLegacy ? legacy.fetch(withoutBody(request), body) : modern.fetch(request, body, signal));
  }

  return {
    async fetch(request, connection) {
      const refusal = refused(request, guard);
      if (refusal) return guarded(refusal);
      return guarded(await answer(request, connection).catch((error) => rpcFailure(error, warn)));
    },
    async close() {
      await Promise.all([legacy.close(), modern.close()]);
    },
  };
}

/** Returns the answer to a request that must not reach the protocol, or null. */
function refused(request: Request, guard: Guard): Response | null {
  try {
    checkOrigin(request, guard);
    checkToken(request, guard);
  } catch (error) {
    const failure = asHostError(error);
    const isKnown = request.headers.has("authorization");
    const challenge = `Bearer realm="kaged"${isKnown ? ', error="invalid_token"' : ""}`;
    return problemResponse(failure, failure.http === 401 ? { "WWW-Authenticate": challenge } : {});
  }
  const { pathname } = new URL(request.url);
  if (pathname === MCP_PATH) return METHODS.includes(request.method) ? null : notTaken();
  const message = `There is nothing at "${pathname.slice(0, 200)}"`;
  return problemResponse(new HostError("http.not_found", message, { hint: `MCP clients use ${MCP_PATH}` }));
}

const METHODS: readonly string[] = ["GET", "POST", "DELETE"];

function notTaken(): Response {
  const allow = METHODS.join(", ");
  const error = new HostError("http.method_not_allowed", `"${MCP_PATH}" takes ${allow}`, { data: { allow: METHODS } });
  return problemResponse(error, { Allow: allow });
}

/** A failure in the shape that MCP clients read. */
function rpcFailure(thrown: unknown, warn: (message: string) => void): Response {
  if (!(thrown instanceof HostError)) return failureResponse(thrown, warn);
  const { code, message, hint, http: status, rpc } = thrown;
  const error = { code: rpc, message, data: { code, ...(hint !== undefined && { hint }) } };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status });
}

/** A request whose body was read. The SDK is handed one of the runtime's own class. */
function withoutBody({ url, method, headers }: Request): Request {
  return new Request(url, { method, headers });
}

/** Options of {@link serveMcp}. */
export interface ServeMcpOptions extends Omit<McpAppOptions, "clock"> {
  readonly runtime: Runtime;
  readonly hostname: string;
  /** Port, or 0 for any free one. */
  readonly port: number;
}

/** A running MCP server. */
export interface ServedMcp {
  /** The address that clients use, such as `http://127.0.0.1:4718/mcp`. */
  readonly url: string;
  /** Stops listening and ends every session. */
  close(): Promise<void>;
}

/** Serves at an address. Throws `http.port_taken` or `http.listen_failed`, `mcp.sdk_missing`. */
export async function serveMcp({ runtime, hostname, port, ...options }: ServeMcpOptions): Promise<ServedMcp> {
  const app = await mcpApp({ ...options, clock: runtime.clock });
  const { address, server } = await listenAt({ hostname, port, handler: app.fetch, runtime }).catch(async (error) => {
    await app.close();
    throw error;
  });
  return {
    url: `${address}${MCP_PATH}`,
    async close() {
      await app.close();
      await closeServer(server, runtime.clock);
    },
  };
}
