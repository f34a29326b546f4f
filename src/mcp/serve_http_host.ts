/**
 * Sessions of a host as seats for MCP clients.
 *
 * @module
 */
import type { McpSeat } from "./serve_http_sdk.ts";
import { serveSession, type ServeSessionOptions } from "./served_session.ts";

/** Opens a session of the host that is served until it is closed. Rejects with `mcp.sdk_missing`. */
export async function openSeat(options: Omit<ServeSessionOptions, "session">): Promise<McpSeat> {
  const session = options.host.openSession();
  try {
    const served = await serveSession({ ...options, session: session.id });
    return {
      ...served,
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
