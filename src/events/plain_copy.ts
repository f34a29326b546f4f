/**
 * Copies plain data.
 *
 * @module
 */

/** A copy, and roughly how much memory it holds. */
export interface PlainCopy<T> {
  /** Shares nothing with the original. */
  readonly copy: T;
  /** Characters of its strings, and 32 for each list and map: a lower bound when the data is not a small tree. */
  readonly weight: number;
}

interface Tally {
  chars: number;
  containers: number;
}

const MAX_CONTAINERS = 100_000;
const MAX_DEPTH = 64;

/**
 * Copies JSON-like data, which is what events are made of, many times faster than `structuredClone` does; data of any
 * other shape is handed to `structuredClone`.
 *
 * @throws {DOMException} `DataCloneError` when something in it cannot be copied, such as a function.
 */
export function plainCopy<T extends object>(value: T): PlainCopy<T> {
  const tally: Tally = { chars: 0, containers: 0 };
  const copy = copyTree(value, tally, 0) ?? structuredClone(value);
  return { copy: copy as T, weight: tally.chars + 32 * tally.containers };
}

/**
 * Makes a shallow copy, then replaces what it shares with the original: most fields are text and numbers. Gives null for
 * what is deep or large: it may be a circle, or one value many times, which a walk over a tree cannot recognise.
 */
function copyTree(value: object, tally: Tally, depth: number): object | null {
  if (++tally.containers > MAX_CONTAINERS || depth === MAX_DEPTH) return null;
  if (Array.isArray(value)) return copyItems(value.slice(), tally, depth);
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null ? copyFields({ ...value }, tally, depth) : null;
}

// The two loops are the same on purpose: one for both kinds of container is ten times slower.
function copyItems(items: unknown[], tally: Tally, depth: number): object | null {
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (typeof item === "string") tally.chars += item.length;
    else if (typeof item === "object" && item !== null) {
      const copy = copyTree(item, tally, depth + 1);
      if (copy === null) return null;
      items[index] = copy;
    } else if (typeof item === "function" || typeof item === "symbol") return null;
  }
  return items;
}

function copyFields(fields: Record<string, unknown>, tally: Tally, depth: number): object | null {
  for (const key in fields) {
    const value = fields[key];
    if (typeof value === "string") tally.chars += value.length;
    else if (typeof value === "object" && value !== null) {
      const copy = copyTree(value, tally, depth + 1);
      if (copy === null) return null;
      fields[key] = copy; // Also a field called __proto__: it is the copy's own already, and no prototype.
    } else if (typeof value === "function" || typeof value === "symbol") return null;
  }
  return fields;
}
