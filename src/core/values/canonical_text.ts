/**
 * JSON values as texts that are equal when the values are.
 *
 * @module
 */

/** Returns the same text for the same JSON value, whatever the order of its keys. */
export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, part) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => a < b ? -1 : 1));
  }) ?? "undefined";
}
