/**
 * Results of tools as MCP has them.
 *
 * @module
 */
import type { HostError } from "../core/errors/host_error.ts";
import { toolResultIn } from "../core/mcp/tool_result.ts";
import { isMap } from "../core/values/plain_data.ts";

/** A result of `tools/call`. */
interface ToolAnswer extends Record<string, unknown> {
  content: Record<string, unknown>[];
  /** The output as data: any JSON that an MCP server sent, and of other plugins an object. */
  structuredContent?: unknown;
  isError?: true;
  /** As an MCP server sent it; of a failure the facts, for a program. */
  _meta?: Record<string, unknown>;
}

/** Key in `_meta` under which a program finds the facts about a failure. */
export const ERROR_KEY = "kaged/error";

/**
 * Returns the answer to a call. An output that has MCP's own shape, as one of an MCP server does, goes on as it is; of
 * any other the text is its JSON, and an object is data too. Text that hooks added follows as text of its own.
 */
export function toolAnswer(output: unknown, context: readonly string[] = []): ToolAnswer {
  const own = toolResultIn(output);
  if (own) return withContext({ ...own, content: [...own.content] }, context);
  const text = typeof output === "string" ? output : JSON.stringify(output ?? null);
  const content = [{ type: "text", text }];
  return withContext({ content, ...(isMap(output) && { structuredContent: output }) }, context);
}

/** Returns the answer to a call that failed: code, message and hint for the model, the same as facts beside them. */
export function errorAnswer({ code, message, hint, data }: HostError, context: readonly string[] = []): ToolAnswer {
  const text = `error[${code}]: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`;
  const facts = { code, message, ...(hint !== undefined && { hint }), ...(data !== undefined && { data }) };
  return withContext({ content: [{ type: "text", text }], isError: true, _meta: { [ERROR_KEY]: facts } }, context);
}

function withContext(answer: ToolAnswer, context: readonly string[]): ToolAnswer {
  return { ...answer, content: [...answer.content, ...context.map((text) => ({ type: "text", text }))] };
}
