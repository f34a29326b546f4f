/**
 * Messages of Mastra, as the host reads and writes them: those of its memory, and those of a prompt.
 *
 * @module
 */
import type { Message } from "../core/compaction/messages.ts";
import { isMap } from "../core/values/plain_data.ts";
import type { MessageForm } from "./messages.ts";
import { type ResultPart, type SessionResult, textOfParts } from "./result_parts.ts";

/** A message of Mastra's memory (`MastraDBMessage`), as far as it is read. */
export type MastraMessage = {
  readonly id: string;
  /** `user`, `assistant`, `system` or `signal`. */
  readonly role: string;
  readonly createdAt: Date;
  readonly content: { readonly format: 2; readonly parts: readonly { readonly type: string }[] };
};

/** A message of a prompt, as a model is given it: text for the role `system`, else parts. */
export type PromptMessage = {
  readonly role: string;
  readonly content: unknown;
};

/** A result as a model is given it. */
export type ModelOutput =
  | { readonly type: "text"; readonly value: string }
  | { readonly type: "content"; readonly value: readonly ModelOutputPart[] };

/** One part of a result. */
export type ModelOutputPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "media"; readonly data: string; readonly mediaType: string };

type Part = Readonly<Record<string, unknown>>;

/** A call and its result are parts of one message there, so a compaction never parts them. */
export const DB_FORM: MessageForm<MastraMessage> = {
  read: ({ id, role, content }): Message => ({
    id,
    role: role === "signal" ? "user" : role,
    content: content.parts as readonly Part[],
  }),
  write: ({ id, role, content }): MastraMessage => ({
    id: id ?? crypto.randomUUID(),
    role,
    createdAt: new Date(),
    content: { format: 2, parts: [{ type: "text", text: String(content) } as { readonly type: string }] },
  }),
};

/** A message of text alone is read as text, which plugins that hear of the conversation expect. */
export const PROMPT_FORM: MessageForm<PromptMessage> = {
  read: ({ role, content }): Message => ({
    role,
    content: Array.isArray(content) ? readParts(content) : String(content),
  }),
  write: ({ content }): PromptMessage => ({ role: "user", content: [{ type: "text", text: String(content) }] }),
};

/** What a provider notes beside a part is left out: it differs between the answer and the history. */
function readParts(parts: readonly unknown[]): Message["content"] {
  const read = parts.filter(isMap).map(({ providerOptions: _, ...part }): Part => part);
  return read.every(({ type }) => type === "text") ? read.map(({ text }) => text).join("") : read;
}

/** Returns a result for the model: one text where it needs no more, else parts. */
export function modelOutputOf({ parts }: SessionResult): ModelOutput {
  if (parts.every(({ type }) => type === "text" || type === "link")) return { type: "text", value: textOfParts(parts) };
  return { type: "content", value: parts.map(outputPart) };
}

function outputPart(part: ResultPart): ModelOutputPart {
  if (part.type === "text" || part.type === "link") return { type: "text", text: textOfParts([part]) };
  return { type: "media", data: part.data, mediaType: part.mediaType };
}
