/**
 * The words of a message, without what only machines read.
 *
 * @module
 */

/** A message as the host sends it to a plugin. */
export interface WireMessage {
  /** Its id in the window. */
  readonly id?: string;
  /** Who speaks. */
  readonly role: string;
  /** Text, or parts of which some hold text. */
  readonly content?: unknown;
  /** Tools it calls. */
  readonly tool_calls?: unknown;
  /** Who added it in an earlier compaction. */
  readonly added_by?: string;
}

const CODE_BLOCK = /^```[^]*?^```/gm;

/** Returns what a message says: its text, and the text of its parts. */
export function textOf({ content }: WireMessage): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => {
    const { text } = Object(part) as { text?: unknown };
    return typeof text === "string" ? text : "";
  }).filter(Boolean).join("\n");
}

/** The same without code, and without what plugins said: a memory of a memory would grow with every session. */
export function proseOf(message: WireMessage): string {
  return withoutPlugins(textOf(message)).replace(CODE_BLOCK, "\n");
}

/** Cuts out each block that a plugin injected. By search, not by pattern: unclosed ones must not cost a look each. */
function withoutPlugins(text: string): string {
  const rest: string[] = [];
  let at = 0;
  for (let open = text.indexOf("<plugin:"); open >= 0; open = text.indexOf("<plugin:", at)) {
    const close = text.indexOf("</plugin:", open);
    const end = close < 0 ? -1 : text.indexOf(">", close);
    if (end < 0) break;
    rest.push(text.slice(at, open));
    at = end + 1;
  }
  return [...rest, text.slice(at)].join("\n");
}

const MAX_SENTENCE = 400;
const LIST_MARK = /^\s*(?:[-*+•>]|\d{1,3}[.)]|#{1,6})\s+/;

/** Returns the sentences of a text, each on one line; fragments and walls of text are left out. */
export function sentencesOf(text: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(LIST_MARK, "").trim());
  const sentences = lines.flatMap((line) => line.split(/(?<=[.!?])\s+(?=\S)/));
  return sentences.map((sentence) => sentence.replace(/\s+/g, " ").trim())
    .filter((sentence) => sentence.length >= 8 && sentence.length <= MAX_SENTENCE);
}

/** Returns a text in the one spelling that all its repetitions share. */
export function normalized(text: string): string {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").replace(/^[\s"'`]+|[\s"'`.!;,:]+$/g, "");
}

const NAMED_SECRET = /\b(?:password|passwd|passphrase|secret|api[_ -]?key|token)\b["' ]{0,3}(?:is|=|:)/i;
const SECRET_SHAPE =
  /-----BEGIN |\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abprs])[-_][A-Za-z0-9_-]{10,}|\bAKIA[0-9A-Z]{16}\b/;
const LONG_WORD = /[A-Za-z0-9+_=-]{32,}/g;

/** Whether a text looks as if it held a password or a key: such a thing is not kept. */
export function looksSecret(text: string): boolean {
  const isRandom = (word: string): boolean => /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word);
  return NAMED_SECRET.test(text) || SECRET_SHAPE.test(text) || (text.match(LONG_WORD) ?? []).some(isRandom);
}
