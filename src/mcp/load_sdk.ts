/**
 * The official MCP SDK, loaded when it is asked for: hosts that speak no MCP need not have it.
 *
 * @module
 */
import { HostError } from "../core/errors.ts";

/** What a server needs of the SDK. */
export interface ServerSdk {
  /** A server of the low level: schemas pass through it unchanged. */
  readonly Server: typeof import("@modelcontextprotocol/sdk/server/index.js").Server;
  /** Messages and errors. */
  readonly types: typeof import("@modelcontextprotocol/sdk/types.js");
}

/** What a client needs of the SDK. */
export interface ClientSdk {
  /** A client. */
  readonly Client: typeof import("@modelcontextprotocol/sdk/client/index.js").Client;
}

/** Loads what a server needs. Rejects with `mcp.sdk_missing`. */
export async function loadServerSdk(): Promise<ServerSdk> {
  const [{ Server }, types] = await orMissing(() =>
    Promise.all([
      import("@modelcontextprotocol/sdk/server/index.js"),
      import("@modelcontextprotocol/sdk/types.js"),
    ])
  );
  return { Server, types };
}

/** Loads what a client needs. Rejects with `mcp.sdk_missing`. */
export async function loadClientSdk(): Promise<ClientSdk> {
  const { Client } = await orMissing(() => import("@modelcontextprotocol/sdk/client/index.js"));
  return { Client };
}

/** Runs an import of the SDK; one that fails says what to install. */
export async function orMissing<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new HostError("mcp.sdk_missing", "Cannot speak MCP: @modelcontextprotocol/sdk cannot be loaded", {
      cause,
      hint: "Run npm install @modelcontextprotocol/sdk beside @kaged/plugin-host",
    });
  }
}
