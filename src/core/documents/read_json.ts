/**
 * JSON text to plain data that knows the place of each value. The text is not trusted: its depth is bounded, and a key
 * that stands twice is an error. Comments are refused by name, except where the caller allows them.
 *
 * @module
 */
import { shown } from "../values/shown_value.ts";
import type { DocumentReport, SourceDocument } from "./document_report.ts";
import { type Place, placeFinder, Spot } from "./places.ts";

const MAX_DEPTH = 64;
const SPACE = /[ \t\r\n]*/y;
const COMMENT = /\/\/[^\n]*|\/\*[^]*?\*\//y;
// deno-lint-ignore no-control-regex
const STRING = /"[^"\\\u0000-\u001f]*(?:\\.[^"\\\u0000-\u001f]*)*"/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;

/**
 * Reads JSON. The first mistake goes to `report`, and then null is returned. With `comments`, the text may hold
 * comments and a comma behind the last item, as VS Code allows in its own files.
 */
export function readJson(
  text: string,
  report: DocumentReport,
  { comments = false }: { readonly comments?: boolean } = {},
): SourceDocument | null {
  if (!report.fits(text)) return null;
  try {
    return { text, data: new JsonReader(text, report, comments).whole(), report };
  } catch (thrown) {
    if (thrown instanceof Refused) return null;
    throw thrown;
  }
}

/** Ends the reading of a text that has been reported. */
class Refused extends Error {}

class JsonReader {
  readonly #text: string;
  readonly #report: DocumentReport;
  readonly #hasComments: boolean;
  readonly #placeAt: (offset: number) => Place;
  #at: number;

  constructor(text: string, report: DocumentReport, hasComments: boolean) {
    this.#text = text;
    this.#at = text.startsWith("\ufeff") ? 1 : 0;
    this.#report = report;
    this.#hasComments = hasComments;
    this.#placeAt = placeFinder(text);
  }

  whole(): unknown {
    this.#space();
    const root = new Spot(this.#here());
    this.#report.locateWith(root);
    const value = this.#value(root);
    this.#space();
    if (this.#at < this.#text.length) this.#refuse("json_syntax", "More text follows after the end of the JSON");
    return value;
  }

  #value(spot: Spot): unknown {
    if (spot.depth > MAX_DEPTH) this.#refuse("too_deep");
    const char = this.#text[this.#at];
    if (char === "{") return this.#map(spot);
    if (char === "[") return this.#list(spot);
    if (char === '"') return this.#string();
    const literal = this.#match(WORD) ?? this.#match(NUMBER);
    if (literal !== null) return JSON.parse(literal);
    if (char === undefined) return this.#refuse("json_syntax", "The JSON ends too early");
    return this.#refuse("json_syntax", `Expected a value, found ${shown(char)}`);
  }

  #map(spot: Spot): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    this.#items("}", () => {
      const key = this.#at;
      if (this.#text[key] !== '"') this.#refuse("json_syntax", `Expected a key in quotes, found ${this.#found()}`);
      const name = this.#string();
      if (Object.hasOwn(map, name)) this.#refuse("duplicate_key", `Key ${shown(name)} stands twice in one map`, key);
      if (name === "__proto__") this.#refuse("forbidden_key", `Key ${shown(name)} is never allowed`, key);
      this.#space();
      if (!this.#takes(":")) this.#refuse("json_syntax", `Expected ":" after the key, found ${this.#found()}`);
      this.#space();
      map[name] = this.#value(spot.add(name, this.#here(), this.#placeAt(key)));
    });
    return map;
  }

  #list(spot: Spot): unknown[] {
    const list: unknown[] = [];
    this.#items("]", () => void list.push(this.#value(spot.add(list.length, this.#here()))));
    return list;
  }

  /** Reads the items between the bracket here and `end`, with commas between them. */
  #items(end: "}" | "]", item: () => void): void {
    this.#at++;
    this.#space();
    if (this.#takes(end)) return;
    do {
      this.#space();
      if (this.#hasComments && this.#takes(end)) return;
      item();
      this.#space();
    } while (this.#takes(","));
    if (!this.#takes(end)) this.#refuse("json_syntax", `Expected "," or "${end}", found ${this.#found()}`);
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
    do this.#match(SPACE); while (this.#hasComments && this.#match(COMMENT) !== null);
    if (/^(?:\/\/|\/\*|#)/.test(this.#text.slice(this.#at, this.#at + 2))) {
      if (this.#hasComments) this.#refuse("json_syntax", "This is no comment, or one that does not end");
      this.#refuse("json_comment");
    }
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

  #here(): Place {
    return this.#placeAt(this.#at);
  }

  #refuse(reason: string, message?: string, at = this.#at): never {
    this.#report.errorAt(this.#report.code(reason), this.#placeAt(at), { message });
    throw new Refused();
  }
}
