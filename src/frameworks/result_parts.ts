/**
 * What a tool gave, as parts that every framework has a form of: text, pictures, sound, files, links and data.
 *
 * @module
 */
import type { HostError } from "../core/errors/host_error.ts";
import { type McpToolResult, toolResultIn } from "../core/mcp/tool_result.ts";
import { isMap } from "../core/values/plain_data.ts";

/** One part of a result. `data` is base64. */
export type ResultPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly data: string; readonly mediaType: string }
  | {
    readonly type: "file";
    readonly data: string;
    readonly mediaType: string;
    readonly uri: string;
    /** The last part of its path. */
    readonly name: string;
  }
  | { readonly type: "link"; readonly uri: string; readonly name: string; readonly mediaType?: string };

/** The result of a call, for the model. */
export interface SessionResult {
  /** In their order; text that hooks added comes last. Never empty. */
  readonly parts: readonly ResultPart[];
  /** The output as data, where it is an object or the tool gave data beside its parts. */
  readonly structured?: unknown;
  /** Set when the call failed, or was blocked or denied: the parts say why. */
  readonly error?: HostError;
}

/** Returns an output as parts. One of MCP's own shape keeps its blocks; of any other the text is its JSON. */
export function resultOf(output: unknown, context: readonly string[] = []): SessionResult {
  const own = toolResultIn(output);
  if (own) return ownResult(own, context);
  const text = typeof output === "string" ? output : JSON.stringify(output ?? null);
  return { parts: withContext([{ type: "text", text }], context), ...(isMap(output) && { structured: output }) };
}

/** Returns a failure as a model can read it: a tool's own words, of any other the code, what was wrong, the next step. */
export function failureOf(error: HostError, context: readonly string[] = []): SessionResult {
  const { code, message, hint, data } = error;
  const own = code === "mcp.tool_failed" ? toolResultIn(data) : null;
  if (own && own.content.length > 0) return { ...ownResult(own, context), error };
  const text = `error[${code}]: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`;
  return { parts: withContext([{ type: "text", text }], context), error };
}

/** Returns the parts as one text; what is no text is named in it. */
export function textOfParts(parts: readonly ResultPart[]): string {
  return parts.map(inWords).join("\n\n");
}

function inWords(part: ResultPart): string {
  if (part.type === "text") return part.text;
  if (part.type === "link") return `[${part.name}](${part.uri})`;
  return `[${part.type}: ${part.type === "file" ? part.name : part.mediaType}]`;
}

function ownResult({ content, structuredContent }: McpToolResult, context: readonly string[]): SessionResult {
  const parts = content.map(partOf);
  if (parts.length === 0) parts.push({ type: "text", text: JSON.stringify(structuredContent ?? null) });
  return {
    parts: withContext(parts, context),
    ...(structuredContent !== undefined && { structured: structuredContent }),
  };
}

/** Returns a block of MCP as a part; of one whose kind nobody knows, its JSON as text. */
function partOf(block: Readonly<Record<string, unknown>>): ResultPart {
  const { type, text, data, mimeType, uri, name, resource } = block;
  if (type === "text" && typeof text === "string") return { type, text };
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return { type, data, mediaType: typeof mimeType === "string" ? mimeType : `${type}/*` };
  }
  if (type === "resource_link" && typeof uri === "string") {
    const mediaType = typeof mimeType === "string" ? { mediaType: mimeType } : {};
    return { type: "link", uri, name: typeof name === "string" ? name : uri, ...mediaType };
  }
  if (type === "resource" && isMap(resource)) return embeddedPart(resource);
  return { type: "text", text: JSON.stringify(block) };
}

/** A text stays text, which every model reads; anything else is a file. */
function embeddedPart(resource: Readonly<Record<string, unknown>>): ResultPart {
  const { uri, text, blob, mimeType } = resource;
  if (typeof text === "string") return { type: "text", text };
  if (typeof blob !== "string") return { type: "text", text: JSON.stringify(resource) };
  const address = typeof uri === "string" ? uri : "";
  const mediaType = typeof mimeType === "string" ? mimeType : "application/octet-stream";
  return { type: "file", data: blob, mediaType, uri: address, name: address.split("/").at(-1) || "file" };
}

function withContext(parts: readonly ResultPart[], context: readonly string[]): ResultPart[] {
  return [...parts, ...context.map((text) => ({ type: "text", text }) as const)];
}
