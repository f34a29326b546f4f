/**
 * Messages and contents of LangChain, as the host reads and writes them.
 *
 * @module
 */
import type { Message } from "../core/compaction/messages.ts";
import type { MessageForm } from "./messages.ts";
import { type ResultPart, type SessionResult, textOfParts } from "./result_parts.ts";

/** A message of LangChain (`BaseMessage`), as far as it is read. */
export type LangChainMessage = {
  readonly id?: string | undefined;
  /** Text, or a list of blocks. */
  readonly content: unknown;
  /** `human`, `ai`, `tool`, `system`, `developer` or another. */
  getType(): string;
};

/** The class `HumanMessage` of LangChain, which stands for text that a compaction added. */
export type HumanMessageClass<M> = new (fields: { content: string }) => M;

/** One block of a message's content. */
export type ContentBlock = {
  type: string;
  [field: string]: unknown;
};

/** A call as an AI message carries it. */
export type MessageToolCall = {
  readonly id?: string | undefined;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
};

const ROLES: Readonly<Record<string, string>> = { human: "user", ai: "assistant", function: "tool" };

/** Returns the form of LangChain's messages. Added text becomes a human message: some models take one system message. */
export function messageForm<M extends LangChainMessage>(HumanMessage: HumanMessageClass<M>): MessageForm<M> {
  return { read: readMessage, write: ({ content }) => new HumanMessage({ content: String(content) }) };
}

/** Returns the calls that a message makes. */
export function toolCallsOf(message: LangChainMessage | undefined): readonly MessageToolCall[] {
  const { tool_calls } = Object(message) as { readonly tool_calls?: readonly MessageToolCall[] };
  return tool_calls ?? [];
}

/** Returns the content of a tool's message: one text where models need no more, else blocks. */
export function contentOf({ parts }: SessionResult): string | ContentBlock[] {
  const isText = parts.every(({ type }) => type === "text" || type === "link");
  return isText ? textOfParts(parts) : parts.map(blockOf);
}

function blockOf(part: ResultPart): ContentBlock {
  if (part.type === "text" || part.type === "link") return { type: "text", text: textOfParts([part]) };
  const { type, data, mediaType } = part;
  // Of all forms of a picture this is the one that every chat model of LangChain reads in a tool's message.
  if (type === "image") return { type: "image_url", image_url: { url: `data:${mediaType};base64,${data}` } };
  const block = { type, source_type: "base64", mime_type: mediaType, data };
  return type === "file" ? { ...block, metadata: { filename: part.name } } : block;
}

function readMessage(message: LangChainMessage): Message {
  const { id, content, role, tool_call_id } = message as LangChainMessage & {
    readonly role?: string;
    readonly tool_call_id?: string;
  };
  const type = message.getType();
  const calls = toolCallsOf(message).flatMap(({ id, ...call }) => id === undefined ? [] : [{ id, ...call }]);
  return {
    ...(id !== undefined && { id }),
    role: type === "generic" && role !== undefined ? role : ROLES[type] ?? type,
    content: content as Message["content"],
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(tool_call_id !== undefined && { tool_call_id }),
  };
}
