/**
 * Results that are too large to be shown to a model: as text that can be kept and read piece by piece, and as the small
 * result that stands for it.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { type McpToolResult, textOf, toolResultIn } from "../mcp/tool_result.ts";
import { byteLength } from "../values/cut_text.ts";
import { isMap } from "../values/plain_data.ts";

/** A large result as text. */
export interface LargeResult {
  readonly type: "text" | "json";
  /** JSON is written on many lines, so that a search finds single fields. */
  readonly text: string;
  /** Of a result of an MCP server: the parts beside its text and data, such as images. Null for any other. */
  readonly beside: McpToolResult | null;
}

type Block = McpToolResult["content"][number];

/** Returns a result as text, when its text or JSON has more than `maxBytes`; images and sound do not count. Else null. */
export function largeResult(output: unknown, maxBytes: number): LargeResult | null {
  if (typeof output === "string") {
    return isLarger(output, maxBytes) ? { type: "text", text: output, beside: null } : null;
  }
  const own = mcpResultIn(output);
  const shown = own ? withoutMedia(own) : output;
  if (!isLarger(jsonOf(shown), maxBytes)) return null;
  if (!own) return { type: "json", text: jsonOf(shown, 1), beside: null };
  const beside = { content: own.content.filter(isMedia), ...(own._meta && { _meta: own._meta }) };
  return { ...wholeOf(shown as McpToolResult), beside };
}

/** Returns the text that a model reads of a result: its own, or its JSON, without images and sound. */
export function shownText(output: unknown): string {
  if (typeof output === "string") return output;
  const own = mcpResultIn(output);
  return jsonOf(own ? withoutMedia(own) : output);
}

function withoutMedia({ content, structuredContent }: McpToolResult): McpToolResult {
  const rest = structuredContent === undefined ? {} : { structuredContent };
  return { content: content.filter((block) => !isMedia(block)), ...rest };
}

/** Only what has MCP's fields and no other: nothing of a plugin's own result may get lost. */
function mcpResultIn(output: unknown): McpToolResult | null {
  const isOwn = isMap(output) && Object.keys(output).every((key) => MCP_FIELDS.has(key));
  return isOwn ? toolResultIn(output) : null;
}

const MCP_FIELDS: ReadonlySet<string> = new Set(["content", "structuredContent", "_meta"]);

/** Blocks that are no text: frameworks hand them to the model in a form of their own. */
function isMedia({ type, resource }: Block): boolean {
  if (type === "resource") return isMap(resource) && typeof resource["blob"] === "string";
  return type === "image" || type === "audio";
}

/** Servers repeat data as text, for clients that know no data: then it is kept once. */
function wholeOf({ content, structuredContent }: McpToolResult): { type: "text" | "json"; text: string } {
  const text = content.every(({ type, text }) => type === "text" && typeof text === "string")
    ? textOf({ content })
    : null;
  if (structuredContent === undefined) {
    return text === null ? { type: "json", text: jsonOf({ content }, 1) } : { type: "text", text };
  }
  const repeated = text === null ? undefined : parsed(text);
  const isRepeated = text === "" || (repeated !== undefined && jsonOf(repeated) === jsonOf(structuredContent));
  return { type: "json", text: jsonOf(isRepeated ? structuredContent : { content, structuredContent }, 1) };
}

/** Whether a text has more than `maxBytes` as UTF-8. */
function isLarger(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && byteLength(text) > maxBytes;
}

function jsonOf(value: unknown, indent?: number): string {
  return JSON.stringify(value ?? null, null, indent);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const MAX_KEYS = 20;

/**
 * Returns a part of a JSON text, by the names and numbers that lead to it, such as `items.3.name`.
 *
 * @throws {HostError} `tool.arguments_invalid` where there is no such part, or the text is no JSON.
 */
export function partOfJson(text: string, path: string): string {
  let value = parsed(text);
  if (value === undefined) throw pathError(path, "The result is text, and no JSON", "Leave path out");
  const been: string[] = [];
  for (const step of path.split(".")) {
    if (!(isMap(value) || Array.isArray(value)) || !Object.hasOwn(value, step)) {
      const where = been.length === 0 ? "The result" : `"${been.join(".")}"`;
      throw pathError(path, `${where} has no "${step.slice(0, 100)}"`, `${where} ${inWords(value)}`);
    }
    value = (value as Record<string, unknown>)[step];
    been.push(step);
  }
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}

function inWords(value: unknown): string {
  if (Array.isArray(value)) return `is a list of ${value.length}, counted from 0`;
  if (!isMap(value)) return `is ${value === null ? "null" : `a ${typeof value}`}, and has no parts`;
  const keys = Object.keys(value);
  const more = keys.length > MAX_KEYS ? ` and ${keys.length - MAX_KEYS} more` : "";
  return `has ${keys.slice(0, MAX_KEYS).map((key) => key.slice(0, 100)).join(", ")}${more}`;
}

function pathError(path: string, message: string, hint: string): HostError {
  return new HostError("tool.arguments_invalid", `Cannot call "read_result": path: ${message}`, {
    data: { tool: "read_result", path: "path", issues: [{ path: "path", message }], given: path.slice(0, 200) },
    hint,
  });
}
