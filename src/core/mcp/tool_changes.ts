/**
 * What differs between two lists of tools, for the audit: a server may change what it said of a tool at any time.
 *
 * @module
 */
import type { AuditData } from "../audit/events.ts";
import type { ToolListing } from "./list_tools.ts";
import type { McpTool } from "./mcp_tool.ts";

/** Names in one part of an event. */
const TOLD = 50;

/** Returns what the event of a new list carries. */
export function toolChanges(
  before: readonly McpTool[],
  { tools, leftOut }: ToolListing,
): AuditData["plugin.tools_listed"] {
  const old = new Map(before.map((tool) => [tool.name, tool]));
  const kept = new Set(tools.map(({ name }) => name));
  const names = (some: readonly McpTool[]): string[] => some.slice(0, TOLD).map(({ name }) => name);
  return {
    count: tools.length,
    added: names(tools.filter(({ name }) => !old.has(name))),
    removed: names(before.filter(({ name }) => !kept.has(name))),
    changed: names(tools.filter((tool) => old.has(tool.name) && old.get(tool.name) !== tool)),
    left_out: leftOut.slice(0, TOLD).map((one) => ({ ...one })),
  };
}
