/**
 * A conversation held within a number of tokens. A framework hands over its whole history before each call of the model,
 * often as new objects: what was compacted before is recognised by its content, and is not compacted again.
 *
 * @module
 */
import { countTokens, type Message } from "../core/compaction/messages.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import type { Session } from "../host/types.ts";
import { compactMessages, type CompactOptions, type MessageForm, readWindow } from "./messages.ts";

/** Bounds of a window. */
export interface WindowOptions extends CompactOptions {
  /** A window of more tokens than this is compacted. Default: none is. */
  readonly maxTokens?: number;
  /** Tokens of a message. Default: a quarter of the bytes of its JSON. */
  readonly countTokens?: (message: Message) => number;
}

/** One conversation: what has been said in it, and the window that stands for it. */
export class FittedWindow<M extends object> {
  readonly #session: Session;
  readonly #form: MessageForm<M>;
  readonly #options: WindowOptions;
  /** The history that {@link #window} stands for, message by message. */
  #seen: readonly string[] = [];
  #window: readonly M[] = [];
  /** A reply that was recorded before any history had it. */
  #noted: string | null = null;

  constructor(session: Session, form: MessageForm<M>, options: WindowOptions = {}) {
    this.#session = session;
    this.#form = form;
    this.#options = options;
  }

  /**
   * Returns the window for a history: messages that are new are recorded in the session (its idle hook is sent them) and
   * put behind the window of last time; one that is too large is compacted. A history that is another conversation, or
   * was changed, begins anew.
   */
  async fit(history: readonly M[]): Promise<M[]> {
    const { maxTokens = Infinity, countTokens: count = countTokens, maxTokens: _, countTokens: __, ...options } =
      this.#options;
    this.record(history);
    const isTooLarge = (window: readonly M[]): boolean =>
      readWindow(window, this.#form).reduce((sum, message) => sum + count(message), 0) > maxTokens;
    const compacted = async (more: CompactOptions): Promise<readonly M[]> =>
      (await compactMessages(this.#session, this.#window, this.#form, { ...options, ...more })).messages;
    if (isTooLarge(this.#window)) this.#window = await compacted({});
    // The project's own target, or half of a very long window, may still be too much.
    if (isTooLarge(this.#window)) this.#window = await compacted({ targetTokens: Math.floor(maxTokens / 2) });
    return [...this.#window];
  }

  /** Records the messages that are new in a history, as at the end of a run: no model needs a window of it yet. */
  record(history: readonly M[]): void {
    const read = readWindow(history, this.#form);
    const keys = read.map(keyOf);
    const goesOn = keys.length >= this.#seen.length && this.#seen.every((key, index) => key === keys[index]);
    const from = goesOn ? this.#seen.length : 0;
    const noted = this.#noted === null ? -1 : keys.indexOf(this.#noted, from);
    if (noted >= 0) this.#noted = null;
    read.forEach((message, index) => index >= from && index !== noted && this.#say(message));
    this.#window = [...(goesOn ? this.#window : []), ...history.slice(from)];
    this.#seen = keys;
  }

  /** Records a reply at once: a history has it only if the conversation goes on. */
  note(reply: M): void {
    const message = this.#form.read(reply);
    this.#noted = keyOf(message);
    this.#say(message);
  }

  #say(message: Message): void {
    if ((this.#options.agent ?? "primary") === "primary" && isSaid(message)) this.#session.record(message);
  }
}

function keyOf({ role, content, tool_calls, tool_call_id }: Message): string {
  return canonicalText([role, content ?? null, tool_calls ?? null, tool_call_id ?? null]);
}

/** Whether a message belongs to the transcript: instructions do not. */
function isSaid({ role }: Message): boolean {
  return role !== "system" && role !== "developer";
}
