/**
 * JSON text to plain data that knows where each value stands. The text is not trusted: its depth is bounded, a key that
 * stands twice is an error, and comments are refused by name.
 *
 * @module
 */
import { shown } from "../values/shown_value.ts";
import type { DocumentPath, DocumentReport, Place, PlaceFinder } from "./document_report.ts";

const MAX_DEPTH = 64;
const SPACE = /[ \t\r\n]*/y;
// deno-lint-ignore no-control-regex
const STRING = /"[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;

/** Reads JSON. The first thing that is wrong goes to `report`, and then null is returned. */
export function readJsonTree(text: string, report: DocumentReport): { readonly data: unknown } | null {
  const reader = new JsonReader(text, report);
  report.locateWith(reader);
  try {
    return { data: reader.whole() };
  } catch (thrown) {
    if (thrown instanceof Refused) return null;
    throw thrown;
  }
}

/** Ends the reading of a text that has been reported. */
class Refused extends Error {}

class JsonReader implements PlaceFinder {
  readonly #text: string;
  readonly #report: DocumentReport;
  readonly #spots = new Map<string, { readonly key: number | null; readonly value: number }>();
  #lineStarts: readonly number[] | null = null;
  #at = 0;

  constructor(text: string, report: DocumentReport) {
    this.#text = text;
    this.#report = report;
  }

  placeOf(path: DocumentPath, part: "key" | "value"): Place {
    for (let length = path.length; length >= 0; length--) {
      const spot = this.#spots.get(JSON.stringify(path.slice(0, length)));
      if (spot) return this.#place(part === "key" && length === path.length ? spot.key ?? spot.value : spot.value);
    }
    return { line: 1, column: 1 };
  }

  whole(): unknown {
    const value = this.#value([], null);
    this.#space();
    if (this.#at < this.#text.length) this.#refuse("json_syntax", "More text follows after the end of the JSON");
    return value;
  }

  #value(path: DocumentPath, key: number | null): unknown {
    this.#space();
    this.#spots.set(JSON.stringify(path), { key, value: this.#at });
    if (path.length > MAX_DEPTH) this.#refuse("too_deep");
    const char = this.#text[this.#at];
    if (char === "{") return this.#map(path);
    if (char === "[") return this.#list(path);
    if (char === '"') return this.#string();
    const literal = this.#match(WORD) ?? this.#match(NUMBER);
    if (literal !== null) return JSON.parse(literal);
    if (char === undefined) return this.#refuse("json_syntax", "The JSON ends too early");
    return this.#refuse("json_syntax", `Expected a value, found ${shown(char)}`);
  }

  #map(path: DocumentPath): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.#at++;
    this.#space();
    if (this.#takes("}")) return map;
    do {
      this.#space();
      const at = this.#at;
      if (this.#text[at] !== '"') this.#refuse("json_syntax", `Expected a key in quotes, found ${this.#found()}`);
      const name = this.#string();
      if (Object.hasOwn(map, name)) this.#refuse("duplicate_key", `Key ${shown(name)} stands twice in one map`, at);
      if (name === "__proto__") this.#refuse("forbidden_key", `Key ${shown(name)} is never allowed`, at);
      this.#space();
      if (!this.#takes(":")) this.#refuse("json_syntax", `Expected ":" after the key, found ${this.#found()}`);
      map[name] = this.#value([...path, name], at);
      this.#space();
    } while (this.#takes(","));
    if (!this.#takes("}")) this.#refuse("json_syntax", `Expected "," or "}", found ${this.#found()}`);
    return map;
  }

  #list(path: DocumentPath): unknown[] {
    const list: unknown[] = [];
    this.#at++;
    this.#space();
    if (this.#takes("]")) return list;
    do {
      list.push(this.#value([...path, list.length], null));
      this.#space();
    } while (this.#takes(","));
    if (!this.#takes("]")) this.#refuse("json_syntax", `Expected "," or "]", found ${this.#found()}`);
    return list;
  }

  #string(): string {
    const start = this.#at;
    const literal = this.#match(STRING);
    if (literal === null) return this.#refuse("json_syntax", "A text does not end on its line");
    try {
      return JSON.parse(literal);
    } catch {
      return this.#refuse("json_syntax", "An escape in this text is none that JSON has", start);
    }
  }

  #space(): void {
    this.#match(SPACE);
    if (/^(?:\/\/|\/\*|#)/.test(this.#text.slice(this.#at, this.#at + 2))) this.#refuse("json_comment");
  }

  #takes(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return null;
    this.#at += found[0].length;
    return found[0];
  }

  #found(): string {
    const char = this.#text[this.#at];
    return char === undefined ? "the end of the file" : shown(char);
  }

  #refuse(reason: string, message?: string, at = this.#at): never {
    this.#report.errorAt(this.#report.code(reason), this.#place(at), message === undefined ? {} : { message });
    throw new Refused();
  }

  #place(offset: number): Place {
    this.#lineStarts ??= lineStarts(this.#text);
    // The last line that starts at or before it, by halving: a file may hold tens of thousands of hooks.
    let [line, end] = [0, this.#lineStarts.length];
    while (end - line > 1) {
      const middle = (line + end) >> 1;
      if (this.#lineStarts[middle]! <= offset) line = middle;
      else end = middle;
    }
    return { line: line + 1, column: offset - this.#lineStarts[line]! + 1 };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}
