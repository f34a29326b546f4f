/**
 * The host's own tools for models: they find tools, call one that was found, and read results that were kept. Names of
 * plugins' tools have a dot, and their aliases two underscores: these names are never a plugin's.
 *
 * @module
 */
import type { JsonSchema } from "../schema/json_schema.ts";

/** Names of the host's own tools. */
export type HostToolName = "search_tools" | "call_tool" | "read_result";

/** A tool of the host. */
export interface OwnTool {
  readonly name: HostToolName;
  readonly alias: HostToolName;
  readonly description: string;
  readonly parametersSchema: JsonSchema;
  readonly plugin: "host";
}

/** Most tools that one search returns. */
export const MAX_FOUND = 20;

const count = (description: string, minimum: number, maximum?: number): JsonSchema => ({
  type: "integer",
  minimum,
  ...(maximum !== undefined && { maximum }),
  description,
});
const text = (description: string, maxLength: number): JsonSchema => ({ type: "string", maxLength, description });

/** The host's own tools, by name. */
export const HOST_TOOLS: Readonly<Record<HostToolName, OwnTool>> = {
  search_tools: ownTool(
    "search_tools",
    "Finds tools by what they do. Returns the best matches, each with its name, description and the JSON Schema of its " +
      "parameters. Call one with call_tool.",
    {
      query: text("Words for what is to be done, or a tool's name. Empty: every tool, by name.", 1_000),
      limit: count(`Most tools to return. Default 5, at most ${MAX_FOUND}.`, 1, MAX_FOUND),
      plugin: text("Only tools of this plugin: the part of their names before the dot.", 200),
    },
    ["query"],
  ),
  call_tool: ownTool(
    "call_tool",
    "Calls a tool that search_tools found.",
    {
      name: text("The tool's name, as search_tools returned it.", 300),
      arguments: { type: "object", description: "Arguments that fit the tool's parameters. Default: none." },
    },
    ["name"],
  ),
  read_result: ownTool(
    "read_result",
    "Reads a tool's result that was too large to be shown and was kept: a range of it, or the lines that contain some " +
      "words. next_offset says where to go on; null means that nothing follows.",
    {
      handle: text("The handle that the result's note names.", 200),
      offset: count("Character to begin at. Default 0.", 0),
      limit: count("Most characters; with search, most matches (default 20).", 1),
      search: { ...text("Plain words to look for, in large or small letters.", 200), minLength: 1 },
      context: count("With search: lines to show before and after each match. Default 0.", 0, 20),
      path: text("Only this part of a JSON result, such as items.3.name.", 1_000),
    },
    ["handle"],
  ),
};

function ownTool(
  name: HostToolName,
  description: string,
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): OwnTool {
  const parametersSchema = { type: "object", properties, required, additionalProperties: false };
  return { name, alias: name, description, parametersSchema, plugin: "host" };
}

/** Whether a name is that of one of the host's own tools. */
export function isHostTool(name: string): name is HostToolName {
  return Object.hasOwn(HOST_TOOLS, name);
}
