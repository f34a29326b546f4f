/**
 * Tool definitions of an MCP server, pinned as the operator agreed to them: which of the tools that a server lists are
 * those, and which are held back.
 *
 * @module
 */
import type { McpTool } from "../mcp/mcp_tool.ts";
import { canonicalText } from "../values/canonical_text.ts";
import { sha256 } from "../values/sha256.ts";

/** The pinned part of a tool, and its hash: an approval names the hash of what was shown. */
export interface PinnedTool {
  /** `sha256:` and 64 hexadecimal digits, over the canonical JSON of {@link definition}. */
  readonly sha256: string;
  readonly definition: Readonly<Record<string, unknown>>;
}

/** Pinned tools by the name that agents call them by, without the plugin's. */
export type PinnedTools = Readonly<Record<string, PinnedTool>>;

/** The pins of one version of a plugin, and how the newest listing differs from them. */
export interface VersionPins {
  /** Content hash of the version, as in the record of the installed plugin. */
  readonly hash: string;
  /** Time of the first pin, ISO 8601. */
  readonly pinned_at: string;
  readonly tools: PinnedTools;
  /** Tools of the newest listing that are new, or other than pinned: agents do not get them. */
  readonly quarantined: PinnedTools;
  /** Pinned tools that the newest listing lacks. */
  readonly missing: readonly string[];
}

/** The tools of a listing, by whether they are as pinned. */
export interface JudgedTools {
  readonly kept: readonly McpTool[];
  /** New tools, and those with another definition. */
  readonly held: readonly McpTool[];
  /** Names of pinned tools that are not in the listing. */
  readonly missing: readonly string[];
}

/**
 * Fields that are pinned: all that a model reads or a host acts on. Icons and `_meta` are not: they reach no model, and
 * servers change them freely.
 */
const PINNED = ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution"];

/** Returns the part of a tool's definition that is pinned. */
export function pinnedPart(definition: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = PINNED.map((key) => [key, definition[key]]).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries);
}

/** Returns the pin of each tool, by its name. */
export async function pinsOf(tools: readonly Pick<McpTool, "name" | "definition">[]): Promise<PinnedTools> {
  const pins = tools.map(async ({ name, definition }): Promise<[string, PinnedTool]> => {
    const part = pinnedPart(definition);
    return [name, { sha256: `sha256:${await sha256(canonicalText(part))}`, definition: part }];
  });
  return Object.fromEntries(await Promise.all(pins));
}

/** Compares the tools that a server lists with those that are pinned. Compares whole definitions, and needs no hash. */
export function judgeTools(listed: readonly McpTool[], pinned: Readonly<Record<string, unknown>>): JudgedTools {
  const isPinned = ({ name, definition }: McpTool): boolean =>
    Object.hasOwn(pinned, name) && canonicalText(pinnedPart(definition)) === canonicalText(pinned[name]);
  const names = new Set(listed.map(({ name }) => name));
  return {
    kept: listed.filter(isPinned),
    held: listed.filter((tool) => !isPinned(tool)),
    missing: Object.keys(pinned).filter((name) => !names.has(name)),
  };
}

/** The names by which two versions of a plugin differ in their tools. */
export interface ToolChanges {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly removed: readonly string[];
}

/** Compares the tools of two versions. */
export function toolChanges(before: PinnedTools, after: PinnedTools): ToolChanges {
  const names = Object.keys(after);
  return {
    added: names.filter((name) => !Object.hasOwn(before, name)),
    changed: names.filter((name) => Object.hasOwn(before, name) && before[name]!.sha256 !== after[name]!.sha256),
    removed: Object.keys(before).filter((name) => !Object.hasOwn(after, name)),
  };
}
