/**
 * Sessions of a host as seats for MCP clients.
 *
 * @module
 */
import { foundTool } from "./offered_tools.ts";
import type { McpSeat } from "./serve_http_sdk.ts";
import { serveSession, type ServeSessionOptions } from "./served_session.ts";

/** Opens a session of the host that is served until it is closed. Rejects with `mcp.sdk_missing`. */
export async function openSeat(options: Omit<Required<ServeSessionOptions>, "session">): Promise<McpSeat> {
  const session = options.host.openSession();
  try {
    const served = await serveSession({ ...options, session: session.id });
    return {
      ...served,
      inputSchema: (tool) => foundTool(options, tool).tool?.parametersSchema,
      async close() {
        await served.close();
        await session.close();
      },
    };
  } catch (error) {
    await session.close();
    throw error;
  }
}
