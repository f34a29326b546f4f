/**
 * Every tool of an MCP server, page by page and within bounds.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { type ListKind, listPages, malformed } from "./list_pages.ts";
import { type LeftOutTool, type McpTool, readTool } from "./mcp_tool.ts";

const TOOLS: ListKind = { method: "tools/list", field: "tools", words: "tools" };

/** The tools of a server. */
export interface ToolListing {
  readonly tools: readonly McpTool[];
  /** Tools that agents do not get. */
  readonly leftOut: readonly LeftOutTool[];
}

/**
 * Lists the tools of a server; `ask` sends `tools/list`. A tool that is as it was in `before` is the same object.
 *
 * @throws {HostError} `mcp.malformed`, `mcp.too_many_tools`, `mcp.tool_collision`, or what `ask` rejects with.
 */
export async function listTools(
  ask: (params: Record<string, unknown>) => Promise<unknown>,
  before: readonly McpTool[] = [],
): Promise<ToolListing> {
  const known = new Map(before.map((tool) => [JSON.stringify(tool.definition), tool]));
  const tools = new Map<string, McpTool>();
  const leftOut: LeftOutTool[] = [];
  const { entries } = await listPages(TOOLS, ask);
  for (const entry of entries) {
    const tool = known.get(JSON.stringify(entry)) ?? readTool(entry);
    if (tool === null) throw malformed(TOOLS, "an entry is no object with a name");
    if ("reason" in tool) {
      leftOut.push(tool);
      continue;
    }
    const twin = tools.get(tool.name);
    if (twin) throw collision(twin, tool);
    tools.set(tool.name, tool);
  }
  return { tools: [...tools.values()], leftOut };
}

function collision(first: McpTool, second: McpTool): HostError {
  const [a, b] = [first, second].map(({ wireName }) => JSON.stringify(wireName.slice(0, 200)));
  const message = a === b ? `The server lists tool ${a} twice` : `Tools ${a} and ${b} are both "${first.name}" here`;
  return new HostError("mcp.tool_collision", message, {
    data: { first: first.wireName, second: second.wireName, tool: first.name },
    hint: "Rename one of the two in the server: names are lower-cased, and other characters become _",
  });
}
