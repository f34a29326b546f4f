/**
 * The official MCP SDK, loaded when it is asked for: hosts that speak no MCP need not have it.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { McpServer } from "./sdk_types.ts";

/** The parts of the SDK that a server is made of. */
export interface ServerSdk {
  /** Makes a server of the low level: schemas pass through it unchanged. */
  readonly Server: new (info: { name: string; version: string }, options: object) => McpServer;
  /** Names the requests a server handles. */
  readonly requests: { readonly listTools: unknown; readonly callTool: unknown };
  /** An error that reaches the client as one of the protocol. */
  readonly McpError: new (code: number, message: string, data?: unknown) => Error;
}

/** Loads the parts of a server. Rejects with `mcp.sdk_missing`. */
export async function loadServerSdk(): Promise<ServerSdk> {
  const [{ Server }, { ListToolsRequestSchema: listTools, CallToolRequestSchema: callTool, McpError }] = await load(
    () =>
      Promise.all([
        import("@modelcontextprotocol/sdk/server/index.js"),
        import("@modelcontextprotocol/sdk/types.js"),
      ]),
  );
  return { Server: Server as unknown as ServerSdk["Server"], requests: { listTools, callTool }, McpError };
}

/** Runs an import of the SDK; a failure names the package to install. */
export async function load<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new HostError("mcp.sdk_missing", "Cannot speak MCP: @modelcontextprotocol/sdk cannot be loaded", {
      cause,
      hint: "Run npm install @modelcontextprotocol/sdk beside @kaged/plugin-host",
    });
  }
}
