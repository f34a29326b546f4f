/**
 * A tool of an MCP server, as agents get it.
 *
 * @module
 */
import type { ManifestTool } from "../manifest/manifest.ts";
import { isMap } from "../values/plain_data.ts";

/** A tool of an MCP server, under the name it has here. */
export interface McpTool extends ManifestTool {
  /** Its name as the server knows it. */
  readonly wireName: string;
  /** The tool as the server listed it. */
  readonly definition: Readonly<Record<string, unknown>>;
}

/** A tool that agents do not get, and why. */
export interface LeftOutTool {
  /** Its name as the server knows it, cut. */
  readonly tool: string;
  readonly reason: string;
}

const MAX_NAME_LENGTH = 64;
const MAX_TOOL_CHARS = 128 * 1024;

/**
 * Returns the name a tool goes by here: lower case, and `_` for every character that is no letter, digit or `_`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(toolShortName("Repo/List-Issues"), "repo_list_issues");
 * ```
 */
export function toolShortName(wireName: string): string {
  return wireName.replace(/[^A-Za-z0-9_]/gu, "_").toLowerCase();
}

/** Reads one entry of a list of tools. Null when it is no tool at all. */
export function readTool(entry: unknown): McpTool | LeftOutTool | null {
  if (!isMap(entry) || typeof entry.name !== "string") return null;
  const { name: wireName, inputSchema } = entry;
  const name = toolShortName(wireName);
  const leaveOut = (reason: string): LeftOutTool => ({ tool: wireName.slice(0, 200), reason });
  if (name === "") return leaveOut("It has no name");
  if (name.length > MAX_NAME_LENGTH) return leaveOut(`Its name is longer than ${MAX_NAME_LENGTH} characters`);
  if (!isMap(inputSchema) || inputSchema.type !== "object") {
    return leaveOut('Its inputSchema is not of type "object"');
  }
  if (JSON.stringify(entry).length > MAX_TOOL_CHARS) return leaveOut(`It is longer than ${MAX_TOOL_CHARS} characters`);
  return {
    name,
    description: descriptionOf(entry),
    parameters_schema: inputSchema,
    wireName,
    definition: entry,
  };
}

function descriptionOf({ name, title, description }: Record<string, unknown>): string {
  const texts = [description, title, name].filter((text) => typeof text === "string" && text.trim() !== "");
  return texts[0] as string;
}
