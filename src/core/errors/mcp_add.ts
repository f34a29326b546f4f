/**
 * Failures of taking MCP servers in with `kaged mcp add`, and mistakes in the configuration files of MCP clients.
 *
 * @module
 */
import { type ErrorRow, jsonRows, row, rows, tomlRows } from "./row.ts";

export const MCP_ADD_ERRORS: Readonly<Record<string, ErrorRow>> = {
  ...rows("mcp_add", -32602, 422, {
    source_invalid: ["The text names no MCP server", "Name an npm package, a folder or a .mcpb file"],
    entry_refused: ["An entry cannot be taken over", "Follow the next step that the message names"],
    no_program: ["The package names no program to start", "Name one of its programs with --bin"],
    not_a_server: ["The program did not start as an MCP server", "Read its own words, and give it what it lacks"],
    value_missing: ["Nothing says the value of a setting", "Pass it with --env"],
    secret_in_argument: ["An argument of the server holds a secret", "Use the variable that the server reads it from"],
    secret_hosts_unknown: [
      "Nothing says which hosts a secret may go to",
      "Name them with --host, or let the server see the secret with --expose",
    ],
    agent_unknown: ["The project has no such agent", "Name an agent of the project"],
    not_mcp: ["The installed plugin is no MCP server", "Use the commands under kaged plugin"],
  }),
  ...rows("mcp_add", -32602, 413, {
    bundle_invalid: ["The bundle cannot be unpacked safely", "Ask its author for a bundle that follows the format"],
  }),
  "mcp_add.edit_refused": row(
    -32603,
    409,
    "The change cannot be written without touching something else",
    "Edit project.yaml by hand",
  ),
  "mcp_add.npm_missing": row(-32603, 500, "There is no npm or bun to fetch with", "Install npm, or name a folder"),
  "mcp_add.npm_old": row(
    -32603,
    500,
    "The npm that is there cannot be kept from git repositories, whose settings start programs",
    "Install npm 11.10 or newer (npm install -g npm), or bun",
  ),
  "mcp_add.fetch_failed": row(-32603, 502, "The package could not be fetched", "Read what npm says, and try again"),
  ...tomlRows("mcp_config", "The configuration file"),
  ...jsonRows("mcp_config"),
  ...rows("mcp_config", -32602, 400, {
    too_deep: ["The configuration file is nested too deeply", "Keep every structure in it within 64 levels"],
    forbidden_key: ["A key has a name that is never allowed", "Choose another name"],
    no_servers: ["The file names no MCP servers", "Name the file that your MCP client reads"],
  }),
  "mcp_config.missing": row(-32602, 404, "No file is at the path", "Name the file that your MCP client reads"),
};
