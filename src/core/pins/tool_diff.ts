/**
 * Differences of tool definitions, for a person: texts of a server are made printable.
 *
 * @module
 */
import { type DiffLine, lineDiff } from "../values/line_diff.ts";
import { isMap } from "../values/plain_data.ts";
import { printable } from "../values/printable.ts";
import type { PinnedTool, VersionPins } from "./tool_pins.ts";

/** A tool that agents do not get until the operator approves it. */
export interface QuarantinedTool {
  /** Its name without the plugin's. */
  readonly tool: string;
  /** `new`: the operator never agreed to it; `changed`: it has another definition than the operator agreed to. */
  readonly kind: "new" | "changed";
  /** Hash of the definition that the operator agreed to; null for a new tool. */
  readonly pinned: string | null;
  /** Hash of the definition that the server lists: an approval names it. */
  readonly listed: string;
  /** Lines of the definition: ` ` as agreed to, `-` no longer there, `+` listed now. */
  readonly diff: readonly DiffLine[];
}

/** Returns the quarantined tools of a version, by name. */
export function quarantinedTools({ tools, quarantined }: VersionPins): QuarantinedTool[] {
  return Object.keys(quarantined).sort().map((tool) => {
    const before = Object.hasOwn(tools, tool) ? tools[tool]! : null;
    const after = quarantined[tool]!;
    const kind = before === null ? "new" : "changed";
    return { tool, kind, pinned: before?.sha256 ?? null, listed: after.sha256, diff: toolDiff(before, after) };
  });
}

/** Returns the lines by which two definitions differ, with a few around each. */
export function toolDiff(before: PinnedTool | null, after: PinnedTool | null): DiffLine[] {
  return lineDiff(definitionText(before), definitionText(after));
}

/** Returns a definition as lines: texts as they read, everything else as JSON with its keys in order. */
function definitionText(tool: PinnedTool | null): string {
  const lines = Object.entries(tool?.definition ?? {}).flatMap(([key, value]) =>
    typeof value === "string" ? textLines(key, value) : [`${key}:`, ...jsonLines(value)]
  );
  return lines.map((line) => `${printable(line)}\n`).join("");
}

function textLines(key: string, text: string): string[] {
  const lines = text.split(/\r?\n/);
  return lines.length === 1 ? [`${key}: ${text}`] : [`${key}:`, ...lines.map((line) => `  ${line}`)];
}

function jsonLines(value: unknown): string[] {
  const text = JSON.stringify(value, (_, part) => isMap(part) ? ordered(part) : part, 2) ?? "null";
  return text.split("\n").map((line) => `  ${line}`);
}

function ordered(part: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1));
}
