/**
 * The one order inside: priority ascending, then the order of declaration. Formats that count otherwise are converted
 * where they are read.
 *
 * @module
 */

/** The priority of a handler that names none. */
export const DEFAULT_PRIORITY = 50;

/** Returns the items in the order they run: lowest priority first, equal ones as they were given. */
export function inOrder<T extends { readonly priority?: number }>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => (a.priority ?? DEFAULT_PRIORITY) - (b.priority ?? DEFAULT_PRIORITY));
}

/**
 * Converts items whose priority counts down and whose ties go by name, as in kinds of a hookspec, to the order inside.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const items = [{ name: "b", priority: 1 }, { name: "c", priority: 9 }, { name: "a", priority: 1 }];
 * assert.deepEqual(inOrder(fromCountdown(items)).map(({ name }) => name), ["c", "a", "b"]);
 * ```
 */
export function fromCountdown<T extends { readonly name: string; readonly priority?: number }>(
  items: readonly T[],
): (T & { readonly priority: number })[] {
  // Names are compared by code unit: the order is the same on every machine, whatever its language.
  return items.toSorted((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0)
    .map((item) => ({ ...item, priority: -(item.priority ?? DEFAULT_PRIORITY) }));
}
