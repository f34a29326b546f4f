/**
 * The hook map of an `mcp.json`: tools of MCP servers that answer moments (B-007).
 *
 * @module
 */
import { typeName } from "../../core/project/values.ts";
import { isMap } from "../../core/values/plain_data.ts";
import { shown } from "../../core/values/shown_value.ts";
import { type DocumentPath, type DocumentReport, formatPath } from "../../core/documents/document_report.ts";
import { DEFAULT_PRIORITY } from "../dispatch/order.ts";
import { eventLists } from "./parse_hook_map.ts";
import type { McpHook, McpServerEntry } from "./types.ts";

/** Reads the tools of a map; none when the file names servers only. */
export function readMcpTools(data: Readonly<Record<string, unknown>>, file: string, report: DocumentReport): McpHook[] {
  if (data["hooks"] === undefined) return [];
  return eventLists(data["hooks"], ["hooks"], { report, dialect: "mcp" }).flatMap((
    { nativeName, event, entries, path },
  ) =>
    entries.flatMap((entry, index): McpHook[] => {
      const at = [...path, index];
      const tool = readTool(entry, at, report);
      if (tool === null) return [];
      const { line } = report.placeOf(at, "value");
      return [{ ...tool, hook: event.hook, nativeName, file, line, path: formatPath(at) }];
    })
  );
}

function readTool(entry: unknown, at: DocumentPath, report: DocumentReport): Pick<McpHook, "tool" | "priority"> | null {
  if (!isMap(entry)) {
    report.error("hook.wrong_type", at, { message: `Expected a map with a tool, got ${typeName(entry)}` });
    return null;
  }
  const { tool, priority = DEFAULT_PRIORITY } = entry;
  if (typeof tool !== "string" || tool.trim() === "") {
    const message = tool === undefined ? "An entry names no tool" : `${shown(tool)} is no name of a tool`;
    const hint = 'Write { "tool": "server.tool", "priority": 50 }';
    report.error(tool === undefined ? "hook.missing_field" : "hook.wrong_type", [...at, "tool"], { message, hint });
    return null;
  }
  if (typeof priority !== "number" || !Number.isFinite(priority)) {
    report.error("hook.wrong_type", [...at, "priority"], { message: `Expected a number, got ${shown(priority)}` });
    return null;
  }
  for (const key of Object.keys(entry)) {
    if (key === "tool" || key === "priority") continue;
    report.warn("hook.unknown_key", [...at, key], { message: `The key ${shown(key)} is not read`, part: "key" });
  }
  return { tool, priority };
}

/** Reads the servers of a file, under either name they go by. An entry that is no program stays, without a command. */
export function readMcpServers(data: Readonly<Record<string, unknown>>): McpServerEntry[] {
  const named = { ...mapIn(data, "servers"), ...mapIn(data, "mcpServers") };
  return Object.entries(named).flatMap(([name, entry]): McpServerEntry[] => {
    if (!isMap(entry)) return [];
    const { command, args = [] } = entry;
    const isProgram = typeof command === "string" && command !== "" && Array.isArray(args) &&
      [command, ...args].every((word) => typeof word === "string" && !word.includes("\0"));
    const env = Object.entries(mapIn(entry, "env")).filter((one): one is [string, string] =>
      typeof one[1] === "string"
    );
    return [{ name, command: isProgram ? [command, ...args] : null, env: Object.fromEntries(env) }];
  });
}

function mapIn(data: Readonly<Record<string, unknown>>, key: string): Record<string, unknown> {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  return isMap(value) ? value : {};
}
