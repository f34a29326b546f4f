/**
 * A session of a host as an MCP server in this process.
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { McpTransport } from "../core/mcp/sdk_types.ts";
import { hostOf } from "../host/session_host.ts";
import type { Session } from "../host/types.ts";
import type { NameStyle } from "./offered_names.ts";
import { type ServedHost, serveHost } from "./serve_host.ts";

/** How a session is served. */
export interface McpServerOptions {
  /** Agent whose tools, resources and prompts are served. Default `primary`. */
  readonly agent?: string;
  /** Whether hooks that their hookspec exposes are tools too. Default true. */
  readonly hooks?: boolean;
  /**
   * `long`: every tool and prompt is `<plugin>__<name>`. `short`: it goes by its server's own name where only one plugin
   * of the agent has that. Default `long`.
   */
  readonly names?: NameStyle;
}

/** A session of a host as an MCP server. */
export interface McpHostServer extends AsyncDisposable {
  /** Serves the client at the other end of a transport of the official SDK, 1.x or 2.x, until it goes. */
  connect(transport: McpTransport): Promise<void>;
  /** Ends every connection; calls that still run are cancelled. The session stays open. */
  close(): Promise<void>;
}

/**
 * Serves a session to MCP clients in this process, whatever revision of the protocol they speak.
 *
 * @throws {HostError} `host.misuse` for a session of no host. `connect()` rejects with `mcp.sdk_missing` without the
 * package `@modelcontextprotocol/server`.
 */
export function mcpServer(session: Session, options: McpServerOptions = {}): McpHostServer {
  const host = hostOf(session);
  const { agent = PRIMARY, ...rest } = options;
  const open = new Set<ServedHost>();
  const close = async (): Promise<void> => {
    await Promise.all([...open].map((served) => served.close()));
  };
  return {
    async connect(transport) {
      const served = await serveHost({ ...rest, host, agent, session: session.id, transport });
      open.add(served);
      void served.closed.then(() => open.delete(served));
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
