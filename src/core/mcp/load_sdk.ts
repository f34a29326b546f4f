/**
 * Packages of the official MCP SDK, loaded when they are asked for: hosts that speak no MCP need not have them.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";

/** Runs an import of a package of the SDK; a failure names the package to install. */
export async function load<T>(work: () => Promise<T>, name = "@modelcontextprotocol/server"): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new HostError("mcp.sdk_missing", `Cannot speak MCP: ${name} cannot be loaded`, {
      cause,
      hint: `Run npm install ${name} beside @kaged/plugin-host`,
    });
  }
}
