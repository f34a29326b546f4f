/**
 * A tool of an MCP server, as agents get it.
 *
 * @module
 */
import { isMap } from "../manifest/plain_data.ts";
import type { JsonSchema, ManifestTool } from "../manifest/manifest.ts";

/** A tool of an MCP server. */
export interface McpTool extends ManifestTool {
  /** Its name as the server knows it. */
  readonly wireName: string;
  /** What its arguments are checked with: its schema, or that they are an object where the host cannot read it. */
  readonly arguments_schema: JsonSchema;
  /** The tool as the server listed it. */
  readonly definition: Readonly<Record<string, unknown>>;
}

/** A tool that agents do not get, and why. */
export interface LeftOutTool {
  /** Its name as the server knows it, cut. */
  readonly tool: string;
  /** Why. */
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
export async function readTool(entry: unknown): Promise<McpTool | LeftOutTool | null> {
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
    arguments_schema: await checkableSchema(inputSchema),
    definition: entry,
  };
}

/** Whether the host checks no more of a tool's arguments than that they are an object. */
export function isUnchecked({ arguments_schema }: McpTool): boolean {
  return arguments_schema === ANY_OBJECT;
}

const ANY_OBJECT: JsonSchema = { type: "object" };

/**
 * Servers bring schemas of older drafts and with patterns the host does not run. The server checks its arguments
 * itself, so such a tool is offered all the same.
 */
async function checkableSchema(inputSchema: Record<string, unknown>): Promise<JsonSchema> {
  const { $schema: _, ...schema } = inputSchema;
  const { schemaProblems } = await import("../schema/schema_problems.ts");
  return (await schemaProblems(schema)).length === 0 ? schema : ANY_OBJECT;
}

function descriptionOf({ name, title, description }: Record<string, unknown>): string {
  const texts = [description, title, name].filter((text) => typeof text === "string" && text.trim() !== "");
  return texts[0] as string;
}
