/**
 * Messages of a context window, and how large they are.
 *
 * @module
 */

/** A part of a message with more than text in it; carried through untouched. */
export type MessagePart = Readonly<Record<string, unknown>>;

/** One message of a context window. Fields beyond these are carried through untouched. */
export interface Message {
  /** The host gives one to a message that has none. */
  readonly id?: string;
  /** Who speaks: `system`, `user`, `assistant`, `tool`. */
  readonly role: string;
  /** What is said. */
  readonly content: string | readonly MessagePart[];
  /** Tools the assistant calls. */
  readonly tool_calls?: readonly { readonly id: string; readonly [field: string]: unknown }[];
  /** The call this message answers. */
  readonly tool_call_id?: string;
  /** True keeps the message through every compaction. */
  readonly always_keep?: boolean;
  /** Anything else the embedder keeps on its messages. */
  readonly [field: string]: unknown;
}

/** How large a list of messages is. */
export interface Size {
  /** How many. */
  readonly messages: number;
  /** How many tokens, by the embedder's count. */
  readonly tokens: number;
}
