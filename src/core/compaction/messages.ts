/**
 * Messages of a context window, their ids, and how large they are.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Ids } from "../ports/ports.ts";
import { type EscapeMarkers, markerEscaper } from "../values/escape_markers.ts";
import { isMap } from "../values/plain_data.ts";

/** One message of a context window. Fields beyond these are carried through untouched. */
export interface Message {
  /** The host gives one to a message that has none. */
  readonly id?: string;
  /** `system` or `developer`, `user`, `assistant` or `tool`. */
  readonly role: string;
  /** Text, or parts that are carried through untouched. */
  readonly content: string | readonly Readonly<Record<string, unknown>>[];
  /** Tools the assistant calls. */
  readonly tool_calls?: readonly { readonly id: string; readonly [field: string]: unknown }[];
  /** The call this message answers. */
  readonly tool_call_id?: string;
  /** True keeps the message through every compaction. */
  readonly always_keep?: boolean;
  /** Set on a message that a compaction added: `summarize`, or plugins. Its role alone does not make it stay for ever. */
  readonly added_by?: string;
  /** Anything else the embedder keeps on its messages. */
  readonly [field: string]: unknown;
}

/** How large a list of messages is. */
export interface Size {
  /** Number of messages. */
  readonly messages: number;
  /** Tokens by the embedder's count. */
  readonly tokens: number;
}

/** A message whose id no other message of its window has. */
export type IdentifiedMessage = Message & { readonly id: string };

/** Returns the tokens of one message. */
export type CountTokens = (message: Message) => number;

const encoder = new TextEncoder();

/** Returns the tokens of a message, roughly: a quarter of the bytes of its JSON, rounded up. */
export function countTokens(message: Message): number {
  return Math.ceil(encoder.encode(JSON.stringify(message)).length / 4);
}

/** Returns how large `messages` are. */
export function sizeOf(messages: readonly Message[], count: CountTokens): Size {
  return { messages: messages.length, tokens: messages.reduce((sum, message) => sum + count(message), 0) };
}

/**
 * Gives an id to every message that has none; the others are returned as they are.
 *
 * @throws {HostError} `host.misuse` when something is no message, or two messages have one id.
 */
export function assignIds(messages: readonly Message[], ids: Ids): IdentifiedMessage[] {
  const seen = new Set<string>();
  return messages.map((message, index) => {
    const { id, role } = Object(message) as Partial<Message>;
    if (typeof role !== "string") throw misuse(index, "has no role");
    if (id === undefined || id === null) return { ...message, id: ids.create("msg") };
    if (typeof id !== "string" || id === "") throw misuse(index, "has an id that is not a text");
    if (seen.has(id)) throw misuse(index, `has the id "${id}" of a message before it`);
    seen.add(id);
    return message as IdentifiedMessage;
  });
}

function misuse(index: number, fault: string): HostError {
  return new HostError("host.misuse", `Cannot compact these messages: message ${index} ${fault}`, {
    data: { index },
    hint: "Give each message a role, and an id of its own or none",
  });
}

/** Returns a window as a handler modified it. Throws for one that cannot be used, or is larger than it was `before`. */
export function modifiedWindow(
  modified: unknown,
  before: Size,
  { count, ids }: { readonly count: CountTokens; readonly ids: Ids },
): IdentifiedMessage[] {
  if (!Array.isArray(modified) || (modified.length === 0 && before.messages > 0)) {
    throw new Error("A modified window was left out: it is no list of messages, or an empty one");
  }
  const window = assignIds(structuredClone(modified), ids); // Handlers' values are frozen, messages are not.
  const { tokens } = sizeOf(window, count);
  if (tokens <= before.tokens) return window;
  throw new Error(`A modified window was left out: it has ${tokens} tokens, after ${before.tokens}`);
}

/**
 * Returns a count that asks once for each message and always gives a number of at least 0: where `count` throws or
 * gives none, the rough count stands in.
 */
export function tokenCounter(count: CountTokens): CountTokens {
  const known = new WeakMap<Message, number>();
  return (message) => {
    const before = known.get(message);
    if (before !== undefined) return before;
    const tokens = countedBy(count, message) ?? countedBy(countTokens, message) ?? 0;
    known.set(message, tokens);
    return tokens;
  };
}

function countedBy(count: CountTokens, message: Message): number | null {
  try {
    const tokens = count(message);
    return Number.isFinite(tokens) && tokens >= 0 ? tokens : null;
  } catch {
    return null;
  }
}

/** Returns a message with the turn markers in its texts made harmless, whatever the shape of its content. */
export function withoutMarkers(message: Message, escape: EscapeMarkers = markerEscaper()): Message {
  const harmless = (value: unknown): unknown => {
    if (typeof value === "string") return escape(value).text;
    if (Array.isArray(value)) return value.map(harmless);
    if (!isMap(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, harmless(item)]));
  };
  return { ...message, content: harmless(message.content) as Message["content"] };
}
