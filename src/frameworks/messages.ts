/**
 * Windows of frameworks, compacted: each message of the framework is read into the host's form, and comes back as the
 * same object; only what the compaction added is written anew.
 *
 * @module
 */
import type { Message } from "../core/compaction/messages.ts";
import type { CompactionResult } from "../core/compaction/types.ts";
import type { Session } from "../host/types.ts";

/** How messages of a framework are read and written. */
export interface MessageForm<M> {
  /**
   * Returns what a compaction needs of a message: its role, its content, and the tool calls that it makes
   * (`tool_calls`) or answers (`tool_call_id`, or parts of its content). An `id` of its own is kept.
   */
  read(message: M): Message;
  /** Returns the framework's message for one that was added: its role is `user` or `system`, its content a text. */
  write(message: Message): M;
}

/** A window to be compacted. */
export interface CompactOptions {
  /** Path of the agent whose window it is. Default `primary`. */
  readonly agent?: string;
  /** Why now. Default `threshold_crossed`. */
  readonly trigger?: string;
  /** Tokens to come down to. Default: the target in project.yaml, else half of the window. */
  readonly targetTokens?: number;
}

/** Ids of messages that have none of their own, and what was added to windows: the same at the next compaction. */
const READ = new WeakMap<object, Message>();
let count = 0;

/** Makes a window smaller. Messages that stay are the objects that were given. */
export async function compactMessages<M extends object>(
  session: Session,
  messages: readonly M[],
  form: MessageForm<M>,
  { trigger = "threshold_crossed", ...options }: CompactOptions = {},
): Promise<CompactionResult<M>> {
  const window = readWindow(messages, form);
  const own = new Map(window.map((message, index) => [message, messages[index]!]));
  const result = await session.compact({ messages: window, trigger, ...options });
  return { ...result, messages: result.messages.map((message) => own.get(message) ?? written(message, form)) };
}

/** Returns the messages in the host's form, each under an id that no other has. */
export function readWindow<M extends object>(messages: readonly M[], form: MessageForm<M>): Message[] {
  const taken = new Set<string>();
  return messages.map((message) => {
    const known = READ.get(message) ?? form.read(message);
    const id = known.id !== undefined && !taken.has(known.id) ? known.id : `window-${++count}`;
    taken.add(id);
    const read = known.id === id ? known : { ...known, id };
    READ.set(message, read);
    return read;
  });
}

function written<M extends object>(message: Message, form: MessageForm<M>): M {
  const made = form.write(message);
  READ.set(made, message);
  return made;
}
