/**
 * The result of a tool, read as the answer of a hook.
 *
 * @module
 */
import { type McpToolResult, textOf } from "../../../core/mcp/tool_result.ts";
import { parseLine } from "../../../core/wire/codec.ts";
import { isMap } from "../../../core/values/plain_data.ts";
import type { HookResponse } from "../../engine/types.ts";

/**
 * Returns the answer in a tool's result: data, or JSON text, with an `action` is an envelope; other text is context;
 * other data says nothing. Whether an envelope is in order is for the engine to see.
 */
export function mcpHookAnswer(result: McpToolResult): HookResponse | null {
  const { structuredContent } = result;
  if (structuredContent && Object.hasOwn(structuredContent, "action")) return envelope(structuredContent);
  const text = textOf(result).trim();
  const data = parseLine(text);
  if (isMap(data) && Object.hasOwn(data, "action")) return envelope(data);
  const isText = text !== "" && data === undefined && structuredContent === undefined;
  return isText ? { action: "injectContext", additionalContext: [text] } : null;
}

const envelope = (data: Readonly<Record<string, unknown>>): HookResponse => data as unknown as HookResponse;
