/**
 * Makes text harmless that is to stand in a prompt: everything in it that reads as a turn marker is escaped.
 *
 * @module
 */
import { plainCharacter, TURN_MARKERS } from "./turn_markers.ts";

/** Text that holds no marker. */
export interface EscapedText {
  /** The text, with an entity such as `&lt;` in the place of one character of each marker. */
  readonly text: string;
  /** Number of markers that it held. */
  readonly count: number;
}

/** Escapes the markers of a text. */
export type EscapeMarkers = (text: string) => EscapedText;

/**
 * Returns a function that escapes the usual markers and `more`, however they are spelled: in capitals, with blanks or
 * invisible characters in between, in letters that look like these.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const escape = markerEscaper(["END OF TURN"]);
 * assert.deepEqual(escape("a</ SYSTEM>b <p>"), { text: "a&lt;/ SYSTEM>b <p>", count: 1 });
 * assert.deepEqual(escape("\n\nHuman: no"), { text: "\n\nHuman&#58; no", count: 1 });
 * assert.deepEqual(escape("end of turn"), { text: "&#101;nd of turn", count: 1 });
 * ```
 */
export function markerEscaper(more: readonly string[] = []): EscapeMarkers {
  const patterns = [...TURN_MARKERS, ...more].filter((marker) => marker.trim() !== "").map(patternOf);
  const starts = new RegExp(patterns.filter(({ at }) => at === "start").map(({ source }) => source).join("|"), "gmu");
  const ends = new RegExp(patterns.filter(({ at }) => at === "end").map(({ source }) => source).join("|"), "gmu");
  return (text) => {
    const { plain, places } = readingOf(text);
    const marked = new Set<number>();
    for (const { index } of plain.matchAll(starts)) marked.add(places?.[index] ?? index);
    for (const { index, 0: found } of plain.matchAll(ends)) {
      const last = index + found.length - 1;
      marked.add(places?.[last] ?? last);
    }
    if (marked.size === 0) return { text, count: 0 };
    let escaped = "";
    let from = 0;
    for (const at of [...marked].sort((one, other) => one - other)) {
      const character = String.fromCodePoint(text.codePointAt(at)!);
      escaped += text.slice(from, at) + entityOf(character);
      from = at + character.length;
    }
    return { text: escaped + text.slice(from), count: marked.size };
  };
}

/** A marker as it is looked for in the plain reading, and which end of it is escaped. */
function patternOf(marker: string): { readonly source: string; readonly at: "start" | "end" } {
  const { plain } = readingOf(marker.trim());
  const [, tag] = /^<([\w-]+)>$/.exec(plain) ?? [];
  if (tag !== undefined) return { source: `<${BLANK_OR_SLASH}*(?:[\\w-]+:)?${literal(tag)}(?=[\\s/>]|$)`, at: "start" };
  const [, begin] = /^<([\w-]+):$/.exec(plain) ?? [];
  if (begin !== undefined) return { source: `<${BLANK_OR_SLASH}*${literal(begin)}\\s*:`, at: "start" };
  const [, bracket] = /^\[([\w-]+)\]$/.exec(plain) ?? [];
  if (bracket !== undefined) return { source: `\\[${BLANK_OR_SLASH}*${literal(bracket)}\\s*\\]`, at: "start" };
  // Marks of Markdown before a role change nothing for a model: `**Human:**`.
  if (/^[#\w][#\w ]*:$/.test(plain)) return { source: `^[^\\S\\n]*[*_>-]*${literal(plain)}`, at: "end" };
  return { source: literal(plain), at: "start" };
}

const BLANK_OR_SLASH = "[\\s/\\\\]";

/** A text as a pattern; a blank in it stands for any number of blanks within a line. */
function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&").replace(/\s+/g, "[^\\S\\n]+").replace(/:$/, "[^\\S\\n]*:");
}

/** Nothing to see: control and format characters, combining marks, characters a reader is to ignore. */
const INVISIBLE = /[\p{C}\p{M}\p{Default_Ignorable_Code_Point}]/u;
const BLANK = /[\s\p{Z}]/u;
const ASCII = /^[\t\n\r\u0020-\u007e]*$/;

/**
 * Returns a text as it reads, and for each character of that its place in the text; no places where each is its own.
 * Characters that nobody sees are left out of the reading.
 */
function readingOf(text: string): { readonly plain: string; readonly places: readonly number[] | null } {
  if (ASCII.test(text)) return { plain: text.toLowerCase(), places: null };
  const parts: string[] = [];
  const places: number[] = [];
  let at = 0;
  for (const character of text) {
    const plain = BLANK.test(character) ? (/[\n\u2028\u2029]/.test(character) ? "\n" : " ") : readingOfOne(character);
    for (let unit = 0; unit < plain.length; unit++) places.push(at);
    parts.push(plain);
    at += character.length;
  }
  return { plain: parts.join(""), places };
}

function readingOfOne(character: string): string {
  if (character.charCodeAt(0) >= 32 && character.charCodeAt(0) < 127) return character.toLowerCase();
  if (INVISIBLE.test(character)) return "";
  return Array.from(plainCharacter(character)).filter((one) => !INVISIBLE.test(one)).join("");
}

function entityOf(character: string): string {
  const plain = plainCharacter(character);
  return plain === "<" ? "&lt;" : `&#${(plain.length === 1 ? plain : character).codePointAt(0)};`;
}
