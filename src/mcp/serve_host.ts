/**
 * A host as an MCP server over one connection, of either era: any MCP client can use what an agent has, each plugin caged
 * as everywhere else.
 *
 * @module
 */
import type { McpTransport } from "../core/mcp/sdk_types.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { CallOptions } from "./host_server.ts";
import { loadConnection } from "./load_server_sdk.ts";
import { type ServedSession, serveSession, type ServeSessionOptions } from "./served_session.ts";

/** A session to serve, and the client's side of it. */
export interface ServeHostOptions extends ServeSessionOptions {
  /** Carries messages to and from the client. */
  readonly transport: McpTransport;
  /** For a client in this process, which answers and reports calls there. */
  readonly callOptions?: CallOptions;
}

/** A host that is being served. */
export interface ServedHost {
  /** Resolves when the client is gone, or {@link close} was called. */
  readonly closed: Promise<void>;
  /** Ends it: calls that still run are cancelled. */
  close(): Promise<void>;
}

/** Serves an agent over one connection. Rejects with `mcp.sdk_missing` where the SDK is not installed. */
export async function serveHost({ transport, callOptions, ...options }: ServeHostOptions): Promise<ServedHost> {
  const [{ serveStdio }, served] = await Promise.all([loadConnection(), serveSession(options, callOptions)]);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  const wire = watchedWire(transport, served, () => void served.close().finally(resolve));
  const connection = serveStdio(({ era }) => served.server(era), { transport: wire });
  return {
    closed,
    async close() {
      await connection.close();
      await closed;
    },
  };
}

/**
 * Returns a transport that also watches the resources which `subscriptions/listen` names: the SDK answers that request
 * by itself and asks no server.
 */
function watchedWire(transport: McpTransport, served: ServedSession, onEnd: () => void): McpTransport {
  const streams = new Map<unknown, () => void>();
  const wire: McpTransport = {
    start: () => transport.start(),
    send: (message, options) => transport.send(message, options),
    close: () => transport.close(),
  };
  transport.onmessage = (message, extra) => {
    const { id, method, params } = message as { id?: unknown; method?: unknown; params?: unknown };
    if (method === "subscriptions/listen" && !streams.has(id)) streams.set(id, served.watch(urisIn(params)));
    if (method === "notifications/cancelled" && isMap(params)) {
      streams.get(params.requestId)?.();
      streams.delete(params.requestId);
    }
    wire.onmessage?.(message, extra);
  };
  transport.onerror = (error) => wire.onerror?.(error);
  transport.onclose = () => {
    wire.onclose?.();
    onEnd();
  };
  return wire;
}

function urisIn(params: unknown): string[] {
  const { notifications } = isMap(params) ? params : {};
  const { resourceSubscriptions } = isMap(notifications) ? notifications : {};
  const uris = Array.isArray(resourceSubscriptions) ? resourceSubscriptions : [];
  return uris.filter((uri) => typeof uri === "string");
}
