/**
 * The hook map of an `mcp.json`: tools of MCP servers that answer moments (B-007).
 *
 * @module
 */
import { formatPath } from "../../core/documents/document_report.ts";
import { Fields, NUMBER, SOME_TEXT, TEXT } from "../../core/documents/fields.ts";
import { isMap, mapOf } from "../../core/values/plain_data.ts";
import { DEFAULT_PRIORITY } from "../dispatch/order.ts";
import { eventLists, portableMoment } from "./parse_hook_map.ts";
import type { McpHook, McpServerEntry } from "./types.ts";

const HINT = 'Write { "tool": "server.tool", "priority": 50 }';

/** Reads the tools of a map; none when the file names servers only. */
export function readMcpTools(root: Fields): McpHook[] {
  const { report } = root;
  if (!root.has("hooks")) return [];
  return eventLists(root, portableMoment, "mcp").flatMap(({ nativeName, event, entries }) =>
    entries.flatMap(({ entry: value, path }): McpHook[] => {
      const entry = new Fields(value, path, report, { hint: HINT });
      const tool = entry.require("tool", SOME_TEXT, { hint: HINT });
      const priority = entry.has("priority") ? entry.get("priority", NUMBER) : DEFAULT_PRIORITY;
      entry.expectKeys(["tool", "priority"], "warn");
      if (tool === undefined || priority === undefined) return [];
      const { line } = report.placeOf(path, "value");
      return [{ tool, priority, hook: event.hook, nativeName, file: report.file, line, path: formatPath(path) }];
    })
  );
}

/** Reads the servers of a file, under either name they go by. An entry that is no program stays, without a command. */
export function readMcpServers(data: Readonly<Record<string, unknown>>): McpServerEntry[] {
  const named = { ...mapOf(data, "servers"), ...mapOf(data, "mcpServers") };
  return Object.entries(named).flatMap(([name, entry]): McpServerEntry[] => {
    if (!isMap(entry)) return [];
    const { command, args = [] } = entry;
    const isProgram = typeof command === "string" && command !== "" && Array.isArray(args) &&
      [command, ...args].every((word) => TEXT.fits(word) && !word.includes("\0"));
    const env = Object.fromEntries(Object.entries(mapOf(entry, "env")).filter(([, value]) => TEXT.fits(value)));
    return [{ name, command: isProgram ? [command, ...args] : null, env: env as Record<string, string> }];
  });
}
