/**
 * Copies JSON. A value that JSON cannot hold is refused, so that the reader of a copy sees exactly the value its writer
 * had; or it is normalised, where a loop hands over whatever its tools return and must not fail for it:
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
 * | anything below the deepest level, or beyond the limit of characters | a text that ends in `[cut: …]` |
 *
 * @module
 */

/** How large a value may be, and what becomes of it. */
export interface JsonCopyOptions {
  /** Characters of its strings, and {@link containerChars} for each list and map. Default 4 Mi. */
  readonly maxChars?: number;
  /** Default 8. */
  readonly containerChars?: number;
  /** Lists and maps within each other. Default 64. */
  readonly maxDepth?: number;
  /** Freezes the copy all the way down. Default false. */
  readonly frozen?: boolean;
  /** Makes JSON of anything, and never throws. Default false: throws where the value is no JSON, too large or too deep. */
  readonly normalises?: boolean;
}

/** Several copies that share one limit of characters. */
export interface JsonWalk extends Required<Omit<JsonCopyOptions, "maxChars">> {
  charsLeft: number;
  /** Why a normalised copy lacks a part of the original, or null. */
  cut: string | null;
  /** The lists and maps that are being normalised, from the outside in. */
  readonly path: object[];
}

const MAX_CHARS = 4 * 1024 * 1024;
const MAX_DEPTH = 64;
const BYTES_AT_ONCE = 0x8000;
const NOWHERE: object[] = [];

/**
 * Returns a copy that shares nothing with the original. Fields that are undefined are left out, as in JSON.
 *
 * @throws {TypeError} that says where the value is no JSON, or that it is too large or too deep.
 */
export function jsonCopy<T>(value: T, options: JsonCopyOptions = {}): T {
  return copyValue(value, openWalk(options)) as T;
}

/** Returns the start of copies that are made field by field. */
export function openWalk(options: JsonCopyOptions = {}): JsonWalk {
  const { maxChars = MAX_CHARS, containerChars = 8, maxDepth = MAX_DEPTH } = options;
  const { frozen = false, normalises = false } = options;
  const path = normalises ? [] : NOWHERE;
  return { charsLeft: maxChars, containerChars, maxDepth, frozen, normalises, cut: null, path };
}

/** Copies the value under a key, as {@link jsonCopy} does. */
export function copyField<T>(key: PropertyKey, value: T, walk: JsonWalk, depth: number = 0): T {
  try {
    return copyValue(value, walk, depth) as T;
  } catch (error) {
    throw error instanceof NotJson ? error.under(key) : error; // Each level adds its key to the path.
  }
}

/** Like {@link jsonCopy}, as a part of other copies. Returns undefined, in a normalised copy, where JSON has no form. */
export function copyValue(value: unknown, walk: JsonWalk, depth: number = 0): unknown {
  if (typeof value === "string") return copyText(value, walk);
  if (isPlain(value)) return value;
  if (typeof value === "object") {
    return walk.normalises ? normalised(value!, walk, depth) : copyObject(value!, walk, depth);
  }
  if (!walk.normalises) throw new NotJson(`is ${shown(value)}, which JSON cannot hold`);
  return typeof value === "bigint" ? String(value) : typeof value === "number" ? null : undefined;
}

function copyText(text: string, walk: JsonWalk): string {
  const { charsLeft } = walk;
  walk.charsLeft -= text.length;
  return walk.charsLeft >= 0 ? text : text.slice(0, Math.max(0, charsLeft)) + cutOff("too large", walk);
}

function copyObject(value: object, walk: JsonWalk, depth: number): unknown {
  // A circle ends here too.
  if (depth === walk.maxDepth) return cutOff(`nested deeper than ${walk.maxDepth} levels`, walk);
  walk.charsLeft -= walk.containerChars;
  if (walk.charsLeft < 0) return cutOff("too large", walk);
  const copy = Array.isArray(value) ? copyList(value.slice(), walk, depth) : copyMapOrOther(value, walk, depth);
  return walk.frozen ? Object.freeze(copy) : copy;
}

function copyList(copy: unknown[], walk: JsonWalk, depth: number): unknown[] {
  for (let index = 0; index < copy.length; index++) {
    copy[index] = copyField(index, copy[index], walk, depth + 1) ?? null;
  }
  return copy;
}

function copyMapOrOther(value: object, walk: JsonWalk, depth: number): unknown {
  const prototype = Object.getPrototypeOf(value);
  // Objects of another realm have a prototype of their own, which has none.
  const isMap = prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
  if (walk.normalises && (!isMap || "toJSON" in value)) return copyOther(value, walk, depth);
  if (isMap) return copyMap({ ...value }, walk, depth);
  throw new NotJson(`is a ${value.constructor?.name || "class"}, and no plain object`);
}

function copyMap(copy: Record<string, unknown>, walk: JsonWalk, depth: number): object {
  for (const key in copy) {
    const value = copy[key];
    // Most fields are texts and numbers, and need no copy.
    if (typeof value === "string" && value.length <= walk.charsLeft) walk.charsLeft -= value.length;
    else if (value === undefined) delete copy[key];
    else if (!isPlain(value)) {
      const field = copyField(key, value, walk, depth + 1);
      if (field === undefined) delete copy[key];
      else copy[key] = field; // __proto__ is the copy's own too.
    }
  }
  return copy;
}

/** Like {@link copyObject}, and never throws. Knows circles, which would otherwise be copied down to the last level. */
function normalised(value: object, walk: JsonWalk, depth: number): unknown {
  if (walk.path.includes(value)) return "[circular]";
  walk.path.push(value);
  try {
    return copyObject(value, walk, depth);
  } catch {
    return cutOff("a part cannot be read", walk); // A getter, a proxy or toJSON() threw.
  } finally {
    walk.path.pop();
  }
}

function copyOther(value: object, walk: JsonWalk, depth: number): unknown {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (ArrayBuffer.isView(value)) return base64(value.buffer, value.byteOffset, value.byteLength, walk);
  if (value instanceof ArrayBuffer) return base64(value, 0, value.byteLength, walk);
  if (value instanceof Set) return copyList([...value], walk, depth);
  if (value instanceof Map) {
    const entries = [...value];
    const isTextual = entries.every(([key]) => typeof key === "string");
    return isTextual ? copyMap(Object.fromEntries(entries), walk, depth) : copyList(entries, walk, depth);
  }
  const { toJSON } = value as { toJSON?: unknown };
  if (typeof toJSON === "function") return copyValue(toJSON.call(value), walk, depth) ?? null;
  if (!(value instanceof Error)) return copyMap({ ...value }, walk, depth);
  const { name, message, cause } = value;
  return copyMap({ ...{ name, message, cause }, ...value }, walk, depth);
}

function base64(buffer: ArrayBufferLike, offset: number, length: number, walk: JsonWalk): unknown {
  if (length * 4 / 3 > walk.charsLeft) return cutOff("too large", walk);
  let text = "";
  for (let at = 0; at < length; at += BYTES_AT_ONCE) {
    text += String.fromCharCode(...new Uint8Array(buffer, offset + at, Math.min(BYTES_AT_ONCE, length - at)));
  }
  return { $base64: copyText(btoa(text), walk) };
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value === "boolean" || Number.isFinite(value);
}

function cutOff(problem: string, walk: JsonWalk): string {
  if (!walk.normalises) throw new TypeError(`It is ${problem}`);
  walk.cut ??= problem;
  return `[cut: ${problem}]`;
}

/** A value that JSON cannot hold, and the keys that lead to it. */
class NotJson extends TypeError {
  readonly #problem: string;
  readonly #keys: readonly PropertyKey[];

  constructor(problem: string, keys: readonly PropertyKey[] = []) {
    super(`${keys.length === 0 ? "The value" : `"${keys.join(".")}"`} ${problem}`);
    this.#problem = problem;
    this.#keys = keys;
  }

  under(key: PropertyKey): NotJson {
    return new NotJson(this.#problem, [key, ...this.#keys]);
  }
}

function shown(value: unknown): string {
  if (typeof value === "number") return String(value);
  return value === undefined ? "undefined" : `a ${typeof value}`;
}
