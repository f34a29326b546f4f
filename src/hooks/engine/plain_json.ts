/**
 * Any value as JSON can hold it. An agent's loop hands over whatever its tools return, and must not fail for it.
 *
 * | value | becomes |
 * | --- | --- |
 * | `Date` | its ISO 8601 text; null when it is invalid |
 * | `Buffer`, typed arrays, `ArrayBuffer` | `{ "$base64": "…" }` |
 * | bigint | its digits as a text |
 * | `NaN`, `Infinity` | null |
 * | `Map` | a map when all of its keys are texts, else a list of `[key, value]` |
 * | `Set` | a list |
 * | `Error` | `{ name, message }` and its own fields, `code` and `cause` among them; never its stack |
 * | an object with `toJSON()` | the JSON it returns |
 * | an instance of another class | its own fields |
 * | undefined, a function, a symbol | left out of a map; null elsewhere |
 * | an object inside itself | `"[circular]"` |
 * | anything below 64 levels, or beyond the limit of characters | a text that starts with `[cut: ` |
 *
 * @module
 */

/** Fields that JSON can hold, frozen all the way down. */
export interface PlainFields {
  readonly fields: Readonly<Record<string, unknown>>;
  /** Why a part of the original is missing, or null. */
  readonly cut: string | null;
}

/** Lists and maps within each other. */
const MAX_DEPTH = 64;
const BYTES_AT_ONCE = 0x8000;

/** Returns each field by the rules above, with texts of at most `maxChars` in all. Never throws. */
export function plainFields(given: Readonly<Record<string, unknown>>, maxChars: number): PlainFields {
  const walk = new PlainWalk(maxChars);
  const fields = Object.entries(given).map((
    [key, value],
  ) => [key, value === undefined ? value : walk.visit(value) ?? null]);
  return { fields: Object.fromEntries(fields.filter(([, value]) => value !== undefined)), cut: walk.cut };
}

class PlainWalk {
  cut: string | null = null;
  readonly #path: object[] = [];
  #charsLeft: number;

  constructor(maxChars: number) {
    this.#charsLeft = maxChars;
  }

  /** Returns undefined where JSON has nothing to say. */
  visit(value: unknown): unknown {
    if (typeof value === "string") return this.#text(value);
    if (typeof value === "number") return Number.isFinite(value) ? value : null;
    if (typeof value === "bigint") return this.#text(String(value));
    if (typeof value === "boolean" || value === null) return value;
    return typeof value === "object" ? this.#object(value) : undefined;
  }

  #text(text: string): string {
    if (text.length <= this.#charsLeft) {
      this.#charsLeft -= text.length;
      return text;
    }
    const kept = text.slice(0, this.#charsLeft);
    this.#charsLeft = 0;
    return kept + this.#mark(`${text.length - kept.length} characters are left out`);
  }

  #object(value: object): unknown {
    if (this.#path.includes(value)) return "[circular]";
    if (this.#path.length === MAX_DEPTH) return this.#mark(`nested deeper than ${MAX_DEPTH} levels`);
    if (this.#charsLeft <= 0) return this.#mark("too large");
    this.#charsLeft -= 8;
    this.#path.push(value);
    try {
      const plain = this.#unfolded(value);
      return typeof plain === "object" && plain !== null ? Object.freeze(plain) : plain;
    } catch {
      return this.#mark("a part cannot be read"); // A getter, a proxy or toJSON() threw.
    } finally {
      this.#path.pop();
    }
  }

  #unfolded(value: object): unknown {
    if (Array.isArray(value)) return this.#list(value);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
    if (ArrayBuffer.isView(value)) return this.#bytes(value.buffer, value.byteOffset, value.byteLength);
    if (value instanceof ArrayBuffer) return this.#bytes(value, 0, value.byteLength);
    if (value instanceof Set) return this.#list([...value]);
    if (value instanceof Map) {
      const entries = [...value];
      const isTextual = entries.every(([key]) => typeof key === "string");
      return isTextual ? this.#map(entries as [string, unknown][]) : this.#list(entries);
    }
    const { toJSON } = value as { toJSON?: unknown };
    if (typeof toJSON === "function") return this.visit(toJSON.call(value));
    if (!(value instanceof Error)) return this.#map(Object.entries(value));
    const { name, message, cause } = value;
    return this.#map([["name", name], ["message", message], ["cause", cause], ...Object.entries(value)]);
  }

  #list(items: readonly unknown[]): unknown[] {
    return Array.from(items, (item) => this.visit(item) ?? null);
  }

  #map(entries: readonly (readonly [string, unknown])[]): object {
    const plain: [string, unknown][] = [];
    for (const [key, field] of entries) {
      const value = this.visit(field);
      if (value !== undefined) plain.push([key, value]);
    }
    return Object.fromEntries(plain); // Makes `__proto__` a field like any other.
  }

  #bytes(buffer: ArrayBufferLike, offset: number, length: number): unknown {
    if (length * 4 / 3 > this.#charsLeft) return this.#mark(`${length} bytes are left out`);
    let text = "";
    for (let at = 0; at < length; at += BYTES_AT_ONCE) {
      const piece = new Uint8Array(buffer, offset + at, Math.min(BYTES_AT_ONCE, length - at));
      text += String.fromCharCode(...piece);
    }
    return { $base64: this.#text(btoa(text)) };
  }

  #mark(what: string): string {
    this.cut ??= what;
    return `[cut: ${what}]`;
  }
}
