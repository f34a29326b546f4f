/**
 * The result of a call of an MCP tool.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { isMap } from "../values/plain_data.ts";

/** The result of a tool, its content as the server sent it. */
export interface McpToolResult {
  /** Blocks of text, images, sound, links. */
  readonly content: readonly Readonly<Record<string, unknown>>[];
  /** The same as data, any JSON, when the tool gives data. */
  readonly structuredContent?: unknown;
  /** Further facts that the server added for programs. */
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/**
 * Reads the answer to `tools/call`.
 *
 * @throws {HostError} `mcp.tool_failed` with the tool's own words, or `mcp.malformed`.
 */
export function readToolResult(answer: unknown, tool: string): McpToolResult {
  const result = isMap(answer) && toolResultIn(answer);
  if (!result) {
    throw new HostError("mcp.malformed", `Tool "${tool}" gave neither content nor structuredContent`, {
      data: { tool },
    });
  }
  if ((answer as { isError?: unknown }).isError !== true) return result;
  const text = textOf(result);
  throw new HostError("mcp.tool_failed", text === "" ? `Tool "${tool}" failed and did not say why` : text, {
    data: { tool, ...result },
  });
}

/** Returns the parts of a tool's result, when `value` is one. */
export function toolResultIn(value: unknown): McpToolResult | null {
  if (!isMap(value)) return null;
  const { content, structuredContent, _meta } = value;
  const isContent = Array.isArray(content) && content.every(isBlock);
  if (!isContent && (content !== undefined || structuredContent === undefined)) return null;
  const result: { -readonly [Field in keyof McpToolResult]: McpToolResult[Field] } = {
    content: isContent ? content : [],
  };
  if (structuredContent !== undefined) result.structuredContent = structuredContent; // Null is data too.
  if (isMap(_meta)) result._meta = _meta;
  return result;
}

function isBlock(block: unknown): boolean {
  return isMap(block) && typeof block.type === "string";
}

/** Returns the text of a result, its blocks joined by empty lines. */
export function textOf({ content }: McpToolResult): string {
  return content.flatMap(({ type, text }) => type === "text" && typeof text === "string" ? [text] : []).join("\n\n");
}
