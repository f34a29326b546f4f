/**
 * This process's standard input and output as the wire to an MCP client.
 *
 * @module
 */
import process from "node:process";
import type { McpTransport } from "../core/mcp/sdk_types.ts";
import { loadConnection } from "./load_server_sdk.ts";

/** Returns a transport that closes when the input ends. Rejects with `mcp.sdk_missing`. */
export async function stdioTransport(): Promise<McpTransport> {
  const { StdioServerTransport } = await loadConnection();
  const transport = new StdioServerTransport();
  const close = transport.close.bind(transport);
  transport.close = async () => {
    await close();
    process.stdin.destroy(); // A pipe that is still open would keep the process alive.
  };
  return transport;
}
