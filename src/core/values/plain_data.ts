/**
 * Reads parts of data that may have any shape.
 *
 * @module
 */

/** Whether `value` is a map. */
export function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the map under `key`, or an empty one. */
export function mapOf(data: Readonly<Record<string, unknown>>, key: string): Record<string, unknown> {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  return isMap(value) ? value : {};
}
