/**
 * Copies JSON and refuses everything else, so that the reader of a copy sees exactly the value its writer had.
 *
 * @module
 */

/** How large a value may be, and whether the copy may be changed. */
export interface JsonCopyOptions {
  /** Characters of its strings, and 8 for each list and map. Default 4 Mi. */
  readonly maxChars?: number;
  /** Lists and maps within each other. Default 64. */
  readonly maxDepth?: number;
  /** Freezes the copy all the way down. Default false. */
  readonly frozen?: boolean;
}

/** Several copies that share one limit of characters. */
export interface JsonWalk {
  charsLeft: number;
  readonly maxDepth: number;
  readonly frozen: boolean;
}

const MAX_CHARS = 4 * 1024 * 1024;
const MAX_DEPTH = 64;

/**
 * Returns a copy that shares nothing with the original. Fields that are undefined are left out, as in JSON.
 *
 * @throws {TypeError} that says where the value is no JSON, or that it is too large or too deep.
 */
export function jsonCopy<T>(value: T, options: JsonCopyOptions = {}): T {
  return copyValue(value, openWalk(options), 0) as T;
}

/** Returns the start of copies that are made field by field. */
export function openWalk(
  { maxChars = MAX_CHARS, maxDepth = MAX_DEPTH, frozen = false }: JsonCopyOptions = {},
): JsonWalk {
  return { charsLeft: maxChars, maxDepth, frozen };
}

/** Copies the value under a key, as {@link jsonCopy} does. */
export function copyField<T>(key: PropertyKey, value: T, walk: JsonWalk, depth: number = 0): T {
  try {
    return copyValue(value, walk, depth) as T;
  } catch (error) {
    throw error instanceof NotJson ? error.under(key) : error; // Each level adds its key to the path.
  }
}

function copyValue(value: unknown, walk: JsonWalk, depth: number): unknown {
  if (typeof value === "string") {
    spend(walk, value.length);
    return value;
  }
  if (isPlain(value)) return value;
  if (typeof value !== "object" || value === null) throw new NotJson(`is ${shown(value)}, which JSON cannot hold`);
  // A circle ends here too.
  if (depth === walk.maxDepth) throw new TypeError(`It is nested deeper than ${walk.maxDepth} levels`);
  spend(walk, 8);
  const copy = Array.isArray(value) ? copyList(value.slice(), walk, depth) : copyMap(value, walk, depth);
  return walk.frozen ? Object.freeze(copy) : copy;
}

function copyList(copy: unknown[], walk: JsonWalk, depth: number): unknown[] {
  for (let index = 0; index < copy.length; index++) copy[index] = copyField(index, copy[index], walk, depth + 1);
  return copy;
}

function copyMap(map: object, walk: JsonWalk, depth: number): object {
  const prototype = Object.getPrototypeOf(map);
  // Objects of another realm have a prototype of their own, which has none.
  if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new NotJson(`is a ${map.constructor?.name || "class"}, and no plain object`);
  }
  const copy: Record<string, unknown> = { ...map };
  for (const key in copy) {
    const value = copy[key];
    // Most fields are texts and numbers, and need no copy.
    if (typeof value === "string") spend(walk, value.length);
    else if (value === undefined) delete copy[key];
    else if (!isPlain(value)) copy[key] = copyField(key, value, walk, depth + 1); // __proto__ is the copy's own too.
  }
  return copy;
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value === "boolean" || Number.isFinite(value);
}

function spend(walk: JsonWalk, chars: number): void {
  walk.charsLeft -= chars;
  if (walk.charsLeft < 0) throw new TypeError("It is too large");
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
