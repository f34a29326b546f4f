/**
 * How the tools of two versions of a server differ.
 *
 * @module
 */
import type { PluginInfo } from "../../core/supervisor/types.ts";
import { canonicalText } from "../../core/values/canonical_text.ts";

/** Names of tools by what happened to them. */
export interface ToolDifference {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Tools with another description or schema. */
  readonly changed: readonly string[];
}

/** Compares the tools of two versions by name and definition. */
export function toolDifference(before: PluginInfo["tools"], after: PluginInfo["tools"]): ToolDifference {
  const old = new Map(before.map((tool) => [tool.name, canonicalText(tool)]));
  const now = new Map(after.map((tool) => [tool.name, canonicalText(tool)]));
  return {
    added: [...now.keys()].filter((name) => !old.has(name)),
    removed: [...old.keys()].filter((name) => !now.has(name)),
    changed: [...now].filter(([name, text]) => old.has(name) && old.get(name) !== text).map(([name]) => name),
  };
}
