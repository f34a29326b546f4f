/**
 * Copies JSON: everything else is refused, so that what one side means is what the other side reads.
 *
 * @module
 */

/** How large a value may be, and whether the copy may be changed. */
export interface JsonCopyOptions {
  /** Characters of its strings, and 8 for each list and map. Default 4 Mi. */
  readonly maxChars?: number;
  /** Lists and maps within each other. Default 64. */
  readonly maxDepth?: number;
  /** Whether the copy is frozen, all the way down. Default false. */
  readonly frozen?: boolean;
}

interface Walk {
  charsLeft: number;
  readonly maxDepth: number;
  readonly frozen: boolean;
  /** The key at each depth on the way to the value at hand. */
  readonly keys: PropertyKey[];
}

const MAX_CHARS = 4 * 1024 * 1024;
const MAX_DEPTH = 64;

/**
 * Returns a copy that shares nothing with the original. Fields that are undefined are left out, as in JSON.
 *
 * @throws {TypeError} that says where the value is no JSON, or that it is too large or too deep.
 */
export function jsonCopy<T>(
  value: T,
  { maxChars = MAX_CHARS, maxDepth = MAX_DEPTH, frozen = false }: JsonCopyOptions = {},
): T {
  return copyValue(value, { charsLeft: maxChars, maxDepth, frozen, keys: [] }, 0) as T;
}

function copyValue(value: unknown, walk: Walk, depth: number): unknown {
  if (typeof value === "string") {
    spend(walk, value.length);
    return value;
  }
  if (isPlain(value)) return value;
  if (typeof value !== "object" || value === null) {
    throw new TypeError(`${place(walk, depth)} is ${shown(value)}, which JSON cannot hold`);
  }
  // A circle ends here too.
  if (depth === walk.maxDepth) throw new TypeError(`It is nested deeper than ${walk.maxDepth} levels`);
  spend(walk, 8);
  const copy = Array.isArray(value) ? copyList(value.slice(), walk, depth) : copyMap(value, walk, depth);
  return walk.frozen ? Object.freeze(copy) : copy;
}

function copyList(copy: unknown[], walk: Walk, depth: number): unknown[] {
  for (let index = 0; index < copy.length; index++) {
    walk.keys[depth] = index;
    copy[index] = copyValue(copy[index], walk, depth + 1);
  }
  return copy;
}

function copyMap(map: object, walk: Walk, depth: number): object {
  const prototype = Object.getPrototypeOf(map);
  // Objects of another realm have a prototype of their own, which has none.
  if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new TypeError(`${place(walk, depth)} is a ${map.constructor?.name || "class"}, and no plain object`);
  }
  const copy: Record<string, unknown> = { ...map };
  for (const key in copy) {
    const value = copy[key];
    // Most fields are texts and numbers, and need no copy.
    if (typeof value === "string") spend(walk, value.length);
    else if (value === undefined) delete copy[key];
    else if (!isPlain(value)) {
      walk.keys[depth] = key;
      copy[key] = copyValue(value, walk, depth + 1); // Also a field called __proto__: it is the copy's own already.
    }
  }
  return copy;
}

function isPlain(value: unknown): boolean {
  return value === null || typeof value === "boolean" || Number.isFinite(value);
}

function spend(walk: Walk, chars: number): void {
  walk.charsLeft -= chars;
  if (walk.charsLeft < 0) throw new TypeError("It is too large");
}

function place({ keys }: Walk, depth: number): string {
  return depth === 0 ? "The value" : `"${keys.slice(0, depth).join(".")}"`;
}

function shown(value: unknown): string {
  if (typeof value === "number") return String(value);
  return value === undefined ? "undefined" : `a ${typeof value}`;
}
