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

/** Returns the fields that are set: an optional property must be absent, and not undefined. */
export function defined<T extends object>(fields: T): { [Key in keyof T]?: Exclude<T[Key], undefined> } {
  const kept: { [Key in keyof T]?: Exclude<T[Key], undefined> } = {};
  for (const key of Object.keys(fields) as (keyof T)[]) {
    const value = fields[key];
    if (value !== undefined) kept[key] = value as Exclude<T[keyof T], undefined>;
  }
  return kept;
}
