/**
 * This process's standard input and output as the wire to an MCP client.
 *
 * @module
 */
import process from "node:process";
import { load } from "../core/mcp/load_sdk.ts";
import type { McpTransport } from "../core/mcp/sdk_types.ts";

/** Returns a transport that closes when the input ends. Rejects with `mcp.sdk_missing`. */
export async function stdioTransport(): Promise<McpTransport> {
  const { StdioServerTransport } = await load(() => import("@modelcontextprotocol/sdk/server/stdio.js"));
  const { stdin } = process;
  const transport = new StdioServerTransport() as McpTransport;
  const close = transport.close.bind(transport);
  const end = () => void transport.close();
  stdin.once("end", end);
  stdin.once("close", end);
  let isClosed = false;
  transport.close = async () => {
    if (isClosed) return;
    isClosed = true;
    stdin.off("end", end);
    stdin.off("close", end);
    await close();
    stdin.destroy(); // A pipe that is still open would keep the process alive.
  };
  return transport;
}
