/**
 * Reads a long text piece by piece: by range, or around the places where words stand. Offsets count UTF-16 units, as
 * JavaScript does, and no piece begins or ends within a character.
 *
 * @module
 */
import { byteLength, cutText } from "../values/cut_text.ts";

/** A piece of a text. */
export interface TextPiece {
  readonly offset: number;
  readonly text: string;
}

/** Where reading goes on, and how long the whole text is. */
export interface ReadOn {
  /** Null at the end. */
  readonly next_offset: number | null;
  /** Characters of the whole text. */
  readonly total: number;
}

/** Returns a range of a text: at most `limit` characters and `maxBytes` of JSON, and never less than one character. */
export function rangeOf(
  text: string,
  { offset = 0, limit = text.length, maxBytes }: { offset?: number; limit?: number; maxBytes: number },
): TextPiece & ReadOn {
  const start = boundary(text, Math.min(offset, text.length));
  const end = boundary(text, Math.min(start + Math.min(limit, maxBytes), text.length));
  const piece = fitting(text.slice(start, end), maxBytes) || firstAt(text, start);
  const next = start + piece.length;
  return { offset: start, text: piece, next_offset: next < text.length ? next : null, total: text.length };
}

/** The largest piece around a match: `maxBytes` holds one even where JSON writes each character as six. */
const MAX_PIECE = 1_000;
const PARTS = 8;

/**
 * Returns the lines in which words stand, in large or small letters, with `context` lines before and after them; of long
 * lines the part around the match. At most `limit` pieces and `maxBytes` of JSON; no line comes twice.
 */
export function matchesIn(
  text: string,
  { search, offset = 0, limit = 20, context = 0, maxBytes }: {
    search: string;
    offset?: number;
    limit?: number;
    context?: number;
    maxBytes: number;
  },
): { readonly matches: readonly TextPiece[] } & ReadOn {
  const [folded, wanted] = [foldCase(text), foldCase(search)];
  const size = Math.min(MAX_PIECE, Math.floor(maxBytes / PARTS));
  const matches: TextPiece[] = [];
  let left = maxBytes;
  let from = offset;
  for (;;) {
    const at = folded.indexOf(wanted, from);
    if (at < 0) return { matches, next_offset: null, total: text.length };
    const match = pieceAround(text, { at, length: wanted.length, size, context, from });
    left -= byteLength(JSON.stringify(match));
    if (matches.length >= limit || (left < 0 && matches.length > 0)) {
      return { matches, next_offset: match.offset, total: text.length };
    }
    matches.push(match);
    from = Math.max(match.offset + match.text.length, at + wanted.length);
  }
}

function pieceAround(
  text: string,
  { at, length, size, context, from }: {
    readonly at: number;
    readonly length: number;
    readonly size: number;
    readonly context: number;
    readonly from: number;
  },
): TextPiece {
  let [start, end] = [lineStart(text, at), lineEnd(text, at + length)];
  for (let line = 0; line < context && start > 0; line++) start = lineStart(text, start - 1);
  for (let line = 0; line < context && end < text.length; line++) end = lineEnd(text, end + 1);
  start = Math.max(start, from);
  if (end - start > size) {
    start = Math.max(start, at - Math.floor(size / 4));
    end = boundary(text, Math.min(end, start + size));
  }
  start = boundary(text, start);
  return { offset: start, text: text.slice(start, end) };
}

function lineStart(text: string, at: number): number {
  return at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end < 0 ? text.length : end;
}

/** Returns the longest start of `text` that takes at most `maxBytes` as JSON. */
function fitting(text: string, maxBytes: number): string {
  let piece = text;
  for (;;) {
    const bytes = byteLength(JSON.stringify(piece));
    if (bytes <= maxBytes || piece === "") return piece;
    piece = cutText(piece, Math.floor(byteLength(piece) * maxBytes / bytes));
  }
}

/** Returns `at`, or the place before it when it is within a surrogate pair. */
function boundary(text: string, at: number): number {
  const isInside = at > 0 && text.codePointAt(at - 1)! > 0xFFFF;
  return isInside ? at - 1 : at;
}

function firstAt(text: string, at: number): string {
  const first = text.codePointAt(at);
  return first === undefined ? "" : String.fromCodePoint(first);
}

/** Small letters, each where its large one was: a letter whose small one is longer stays as it is. */
function foldCase(text: string): string {
  const small = text.toLowerCase();
  if (small.length === text.length) return small;
  return text.replace(/[^]/gu, (letter) => {
    const one = letter.toLowerCase();
    return one.length === letter.length ? one : letter;
  });
}
