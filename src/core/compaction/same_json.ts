/**
 * Compares values as they are once they have been through JSON.
 *
 * @module
 */

/**
 * Whether `received`, which was parsed from JSON, says the same as `sent`. Order of keys does not count; a field of
 * `sent` that JSON leaves out may be missing.
 */
export function isSameJson(sent: unknown, received: unknown): boolean {
  return areEqual(sent, received) || areEqual(throughJson(sent), received);
}

function throughJson(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch {
    return value; // It could not be sent either.
  }
}

/** Goes only as deep as both values do, so that a received value cannot lead further than the sent one. */
function areEqual(left: unknown, right: unknown): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (Array.isArray(left) !== Array.isArray(right)) return false;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) =>
    Object.hasOwn(right, key) &&
    areEqual((left as Record<string, unknown>)[key], (right as Record<string, unknown>)[key])
  );
}
