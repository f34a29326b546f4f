/**
 * Refuses fields in the manifest of an MCP server that only make sense on the plugin wire.
 *
 * @module
 */
import type { DocumentReport } from "../documents/document_report.ts";
import { isMap } from "../values/plain_data.ts";
import { stringsOf } from "./listed_items.ts";

/** Field → why an MCP server has no use for it. */
const FIELDS: Readonly<Record<string, string>> = {
  tools: "An MCP server lists its tools itself, when it starts",
  methods: "An MCP server has no methods beside its tools",
  notifications: "An MCP server has no notifications of its own",
  hooks: "An MCP server is not called at hooks",
  role: "An MCP server has no role beside its tools",
  roles: "An MCP server has no role beside its tools",
  knobs: "An MCP server takes no config, so there is nothing to turn",
  config_schema: "An MCP server takes no config: give it what it needs in env and command",
  system_config_schema: "An MCP server takes no config: give it what it needs in env and command",
};

/** Checks a manifest whose `runtime` is `mcp_stdio`. */
export function checkMcpRules(data: Record<string, unknown>, report: DocumentReport): void {
  if (data.runtime !== "mcp_stdio") return;
  for (const [field, message] of Object.entries(FIELDS)) {
    if (!isEmpty(data[field])) report.error("manifest.mcp_contradiction", [field], { message, part: "key" });
  }
  for (const [capability, path] of stringsOf(data, "capabilities")) {
    if (!capability.startsWith("kaged:")) continue;
    const message = "An MCP server cannot ask the host for anything";
    report.error("manifest.mcp_contradiction", path, { message });
  }
  if (typeof data.name === "string" && data.name.length === 1) report.error("manifest.short_tool_owner", ["name"]);
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isMap(value) && Object.keys(value).length === 0;
}
