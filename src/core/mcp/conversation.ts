/**
 * The conversation with one MCP server, in the way of the revision that it speaks.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { CallEnd, CallOptions, Connection } from "../wire/connection_types.ts";
import type { McpCallOptions, McpLogLevel, McpServerInfo } from "./peer.ts";
import type { ServerRequests } from "./server_requests.ts";

/** Asks a server, whatever its revision. */
export interface McpConversation {
  readonly info: McpServerInfo;
  /**
   * Sends a request and answers its final result. Rejects with the server's error, `mcp.*` or `protocol.*`. `end` is
   * called once, as {@link Connection.call} does.
   */
  ask(
    method: string,
    params: Readonly<Record<string, unknown>>,
    options?: McpCallOptions,
    end?: CallEnd,
  ): Promise<unknown>;
  /** Resolves when the server shows that it is well. */
  checkAlive(options?: CallOptions): Promise<unknown>;
  /** Has it report changes of a resource. */
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  setLogLevel(level: McpLogLevel): Promise<void>;
  /** Says that the client's roots have changed. */
  rootsChanged(): void;
  /** Begins to listen to the server, once it is known to whoever passes on its notifications. */
  begin(): void;
  /** Takes a notification that only this revision has. Returns false when it is none of those. */
  onNotification(method: string, params: unknown): boolean;
  /** Called with the id under which each request goes out. */
  onSent(method: string, id: number): void;
}

/** Returns the conversation with a server of the revisions that begin with `initialize`. */
export function legacyConversation(
  connection: Connection,
  info: McpServerInfo,
  requests: Pick<ServerRequests, "isOffered">,
): McpConversation {
  return {
    info,
    ask: (method, params, options, end) => connection.call(method, params, options, end),
    checkAlive: (options) => connection.call("ping", {}, options),
    async subscribe(uri) {
      await connection.call("resources/subscribe", { uri });
    },
    async unsubscribe(uri) {
      await connection.call("resources/unsubscribe", { uri });
    },
    async setLogLevel(level) {
      await connection.call("logging/setLevel", { level });
    },
    rootsChanged() {
      if (requests.isOffered("roots/list")) connection.notify("notifications/roots/list_changed", {});
    },
    begin() {},
    onNotification: () => false,
    onSent() {},
  };
}

/** Throws `mcp.not_offered` unless the server has a part, such as `resources` or `resources.subscribe`. */
export function checkOffered({ capabilities, name }: McpServerInfo, part: string): void {
  let value: unknown = capabilities;
  for (const key of part.split(".")) value = (value as Record<string, unknown> | undefined)?.[key];
  if (value !== undefined && value !== null && value !== false) return;
  throw new HostError("mcp.not_offered", `The server "${name}" has no ${part}`, { data: { part } });
}
