/**
 * Packages of the official MCP SDK, loaded when they are asked for: hosts that speak no MCP need not have them.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";

/**
 * Returns what an import of a package of the SDK does with its failure: it names the package to install. It stands as
 * `.catch()` right behind the `import()`, because bundlers then leave a package that is not installed to run time.
 */
export function sdkMissing(name = "@modelcontextprotocol/server"): (cause: unknown) => never {
  return (cause) => {
    throw new HostError("mcp.sdk_missing", `Cannot speak MCP: ${name} cannot be loaded`, {
      cause,
      hint: `Run npm install ${name} beside @kaged/plugin-host`,
    });
  };
}
