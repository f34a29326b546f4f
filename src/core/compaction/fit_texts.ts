/**
 * Puts the texts of observers into a window that was made smaller, as far as they fit.
 *
 * @module
 */
import { byteLength } from "../values/cut_text.ts";
import { type CompactionTarget, isWithin } from "./drop_oldest.ts";
import { type CountTokens, type IdentifiedMessage, type Message, sizeOf } from "./messages.ts";
import { afterSystem, insertMessage } from "./tool_groups.ts";
import type { CompactionResult, Injection, ObserverText } from "./types.ts";

/** The bounds of the window, and how a message becomes one of it. */
export interface FitOptions {
  /** Largest size that the window may have with the texts in it. */
  readonly room: CompactionTarget;
  readonly countTokens: CountTokens;
  /** Gives a message its id and the names of those who wrote its text. */
  readonly adopt: (added: Message, by: string) => IdentifiedMessage;
}

/** A window with the texts that fit, and the record of each text. */
export interface FittedTexts {
  readonly messages: IdentifiedMessage[];
  readonly injected: Injection[];
  readonly leftOut: NonNullable<CompactionResult["leftOut"]>;
}

/** Adds one message after the system messages, with every text that still fits, in the order given. */
export function fitTexts(
  messages: readonly IdentifiedMessage[],
  texts: readonly ObserverText[],
  { room, countTokens, adopt }: FitOptions,
): FittedTexts {
  const taken: ObserverText[] = [];
  const leftOut: FittedTexts["leftOut"] = [];
  let window = [...messages];
  const base = texts.length === 0 ? null : adopt({ role: "user", content: "" }, "");
  const size = sizeOf(messages, countTokens);
  for (const one of texts) {
    const tried = [...taken, one];
    const content = tried.map(({ text }) => text).join("\n\n");
    const added = { ...base!, content, added_by: authorsOf(tried) };
    const grown = { messages: size.messages + 1, tokens: size.tokens + countTokens(added) };
    if (isWithin(grown, room)) {
      taken.push(one);
      window = insertMessage(messages, afterSystem(messages), added);
    } else leftOut.push({ plugin: authorOf(one), hook: one.hook, bytes: one.injection?.bytes ?? byteLength(one.text) });
  }
  return { messages: window, injected: taken.flatMap(({ injection }) => injection ?? []), leftOut };
}

/** Texts of handlers that are no plugins count as those of `hooks`. */
function authorOf({ injection }: ObserverText): string {
  return injection?.plugin ?? "hooks";
}

function authorsOf(texts: readonly ObserverText[]): string {
  const plugins = new Set(texts.flatMap(({ injection }) => injection?.plugin ?? []));
  return [...plugins, ...(texts.some(({ injection }) => !injection) ? ["hooks"] : [])].join(", ");
}
