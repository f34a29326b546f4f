/**
 * Every tool of an MCP server, page by page and within bounds.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { isMap } from "../values/plain_data.ts";
import { type LeftOutTool, type McpTool, readTool } from "./mcp_tool.ts";

/** Most tools a server may list. */
export const MAX_TOOLS: number = 1_000;
const MAX_PAGES = 100;
const MAX_CHARS = 2 * 1024 * 1024;

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
  for (const entry of await entriesOf(ask)) {
    const tool = known.get(JSON.stringify(entry)) ?? readTool(entry);
    if (tool === null) throw malformed("an entry is no object with a name");
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

async function entriesOf(ask: (params: Record<string, unknown>) => Promise<unknown>): Promise<unknown[]> {
  const entries: unknown[] = [];
  const cursors = new Set<string>();
  let chars = 0;
  let cursor: string | undefined;
  do {
    const page = await ask(cursor === undefined ? {} : { cursor });
    if (!isMap(page) || !Array.isArray(page.tools)) throw malformed("the result has no list of tools");
    chars += JSON.stringify(page.tools).length;
    entries.push(...page.tools);
    if (entries.length > MAX_TOOLS || chars > MAX_CHARS) throw tooMany(entries.length, chars);
    const { nextCursor } = page;
    if (nextCursor !== undefined && nextCursor !== null && typeof nextCursor !== "string") {
      throw malformed('"nextCursor" is no string');
    }
    cursor = nextCursor ?? undefined;
    if (cursor === undefined) return entries;
    if (cursors.has(cursor)) throw malformed("a cursor leads back to a page that was read already");
    cursors.add(cursor);
  } while (cursors.size < MAX_PAGES);
  throw new HostError("mcp.too_many_tools", `The server lists its tools on more than ${MAX_PAGES} pages`, {
    data: { pages: MAX_PAGES },
  });
}

function tooMany(count: number, chars: number): HostError {
  const message = count > MAX_TOOLS
    ? `The server lists ${count} tools or more`
    : `The server's tools take more than ${MAX_CHARS} characters`;
  return new HostError("mcp.too_many_tools", message, {
    data: { count, chars, max_count: MAX_TOOLS, max_chars: MAX_CHARS },
    hint: `Let it offer at most ${MAX_TOOLS} tools of ${MAX_CHARS} characters in all`,
  });
}

function collision(first: McpTool, second: McpTool): HostError {
  const [a, b] = [first, second].map(({ wireName }) => JSON.stringify(wireName.slice(0, 200)));
  const message = a === b ? `The server lists tool ${a} twice` : `Tools ${a} and ${b} are both "${first.name}" here`;
  return new HostError("mcp.tool_collision", message, {
    data: { first: first.wireName, second: second.wireName, tool: first.name },
    hint: "Rename one of the two in the server: names are lower-cased, and other characters become _",
  });
}

function malformed(reason: string): HostError {
  return new HostError("mcp.malformed", `The answer to tools/list is malformed: ${reason}`, { data: { reason } });
}
