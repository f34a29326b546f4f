/**
 * What a tool gives, as MCP clients take it.
 *
 * @module
 */
import type { HostError } from "../core/errors/host_error.ts";
import { type McpToolResult, toolResultIn } from "../core/mcp/tool_result.ts";
import { isMap } from "../core/values/plain_data.ts";

/** A result of `tools/call`. */
export interface ToolAnswer extends Record<string, unknown> {
  /** Blocks for the model. */
  content: Record<string, unknown>[];
  /** The same as data. */
  structuredContent?: Record<string, unknown>;
  /** Set when the call failed. */
  isError?: true;
  /** Facts about a failure, for a program. */
  _meta?: Record<string, unknown>;
}

/** Key of the facts about a failure. */
export const ERROR_KEY = "kaged/error";

/**
 * Returns the answer to a call that gave `result`. A result that has MCP's own shape, as one of an MCP server does, goes
 * on as it is; of any other the text is its JSON, and an object is data too.
 */
export function toolAnswer(result: unknown): ToolAnswer {
  const own = toolResultIn(result);
  if (own) return plain(own);
  const text = typeof result === "string" ? result : JSON.stringify(result ?? null);
  return { content: [{ type: "text", text }], ...(isMap(result) && { structuredContent: result }) };
}

/** Returns the answer to a call that failed: code, message and hint for the model, the same as facts beside them. */
export function errorAnswer({ code, message, hint, data }: HostError): ToolAnswer {
  const text = `error[${code}]: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`;
  const facts = { code, message, ...(hint !== undefined && { hint }), ...(data !== undefined && { data }) };
  return { content: [{ type: "text", text }], isError: true, _meta: { [ERROR_KEY]: facts } };
}

function plain({ content, structuredContent }: McpToolResult): ToolAnswer {
  return { content: [...content], ...(structuredContent && { structuredContent }) };
}
