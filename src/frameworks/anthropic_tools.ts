/**
 * Tools in the shapes of Anthropic's Messages API.
 *
 * @module
 */
import type { Session } from "../host/types.ts";
import { type PlainCallOptions, plainTools } from "./plain_calls.ts";
import { type ResultPart, type SessionResult, textOfParts } from "./result_parts.ts";
import type { SessionToolsOptions } from "./session_tools.ts";

/** A tool, as `tools` of a request takes it. */
export interface AnthropicTool {
  /** Of `^[a-zA-Z0-9_-]{1,64}$`. */
  name: string;
  /** Text for the model. */
  description: string;
  /** JSON Schema of its arguments. */
  input_schema: { type: "object"; [keyword: string]: unknown };
}

/** A call, as it stands in the content of an answer. */
export interface AnthropicToolUse {
  /** `tool_use`. */
  readonly type: string;
  /** The model's id of the call. */
  readonly id: string;
  /** The tool's name. */
  readonly name: string;
  /** The arguments. */
  readonly input: unknown;
}

/** Pictures that the API takes; one of another type is named in the text. */
export type AnthropicImageType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

/** One block of a result. */
export type AnthropicResultContent =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: AnthropicImageType; data: string } }
  | { type: "document"; title: string; source: { type: "base64"; media_type: "application/pdf"; data: string } };

/** The result of a call. */
export interface AnthropicToolResult {
  /** The kind of block. */
  type: "tool_result";
  /** The call that it answers. */
  tool_use_id: string;
  /** Its blocks; those of an error are text alone, as the API wants it. */
  content: AnthropicResultContent[];
  /** Set when the call failed, or was blocked or denied. */
  is_error?: true;
}

/** The tools of a session for Anthropic's Messages API. */
export interface AnthropicTools {
  /** For `tools` of a request. */
  readonly tools: AnthropicTool[];
  /** Whether a tool of that name is one of them. */
  has(name: string): boolean;
  /** Makes one call. A failure is a result that the model can read; rejects only when `signal` aborts. */
  call(toolUse: Omit<AnthropicToolUse, "type">, options?: PlainCallOptions): Promise<AnthropicToolResult>;
  /** Makes every call in the content of an answer, all at once, and returns the message that follows it. */
  all(
    content: readonly (AnthropicToolUse | { readonly type: string })[],
    options?: PlainCallOptions,
  ): Promise<{ role: "user"; content: AnthropicToolResult[] }>;
}

/**
 * Returns the tools that a session has now, in the shapes of Anthropic's Messages API.
 *
 * @example A turn
 * ```ts
 * import type { Session } from "@kaged/plugin-host";
 * import { type AnthropicToolUse, anthropicTools } from "@kaged/plugin-host/tools";
 *
 * async function answer(session: Session, content: AnthropicToolUse[]) {
 *   const { tools, all } = anthropicTools(session); // client.messages.create({ tools, … })
 *   return { offered: tools.length, next: await all(content) };
 * }
 * ```
 */
export function anthropicTools(session: Session, options: SessionToolsOptions = {}): AnthropicTools {
  const plain = plainTools(session, options);
  const call: AnthropicTools["call"] = async ({ id, name, input }, callOptions = {}) => {
    return resultBlock(id, await plain.call({ id, name, args: input }, callOptions));
  };
  return {
    tools: plain.list.map(({ name, description, parameters }) => {
      return { name, description, input_schema: { ...parameters } };
    }),
    has: plain.has,
    call,
    async all(content, callOptions) {
      const calls = content.filter((block): block is AnthropicToolUse => block.type === "tool_use");
      return { role: "user", content: await Promise.all(calls.map((block) => call(block, callOptions))) };
    },
  };
}

function resultBlock(id: string, { parts, error }: SessionResult): AnthropicToolResult {
  const block = { type: "tool_result", tool_use_id: id } as const;
  if (error) return { ...block, content: [{ type: "text", text: textOfParts(parts) }], is_error: true };
  // The API refuses a text that is empty.
  return { ...block, content: parts.map(contentOf).filter((item) => item.type !== "text" || item.text !== "") };
}

function contentOf(part: ResultPart): AnthropicResultContent {
  if (part.type === "image" && isImageType(part.mediaType)) {
    return { type: "image", source: { type: "base64", media_type: part.mediaType, data: part.data } };
  }
  if (part.type === "file" && part.mediaType === "application/pdf") {
    const source = { type: "base64", media_type: "application/pdf", data: part.data } as const;
    return { type: "document", title: part.name, source };
  }
  return { type: "text", text: textOfParts([part]) };
}

function isImageType(mediaType: string): mediaType is AnthropicImageType {
  return ["image/jpeg", "image/png", "image/gif", "image/webp"].includes(mediaType);
}
