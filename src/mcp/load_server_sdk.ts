/**
 * The server of the official MCP SDK, loaded when a host is served.
 *
 * @module
 */
import { sdkMissing } from "../core/mcp/load_sdk.ts";
import type { McpTransport } from "../core/mcp/sdk_types.ts";
import type { ServeConnection, ServerSdk } from "./sdk_types.ts";

/** Loads the parts of a server. Rejects with `mcp.sdk_missing`. */
export async function loadServerSdk(): Promise<ServerSdk> {
  return await import("@modelcontextprotocol/server").catch(sdkMissing()) as unknown as ServerSdk;
}

/** Loads what serves one connection of either era. Rejects with `mcp.sdk_missing`. */
export async function loadConnection(): Promise<{
  readonly serveStdio: ServeConnection;
  readonly StdioServerTransport: new () => McpTransport;
}> {
  return await import("@modelcontextprotocol/server/stdio").catch(sdkMissing()) as never;
}
