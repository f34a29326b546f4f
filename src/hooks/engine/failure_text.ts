/**
 * What to say of anything a handler may throw, even of what cannot be shown.
 *
 * @module
 */

const MAX_CHARS = 500;

/** Returns the warning for a handler that failed. Never throws. */
export function failureText(thrown: unknown): string {
  return `Hook failed: ${shown(thrown).slice(0, MAX_CHARS)}`;
}

function shown(thrown: unknown): string {
  try {
    return String(thrown instanceof Error ? thrown.message : thrown);
  } catch {
    return "it threw what cannot be shown"; // An object without a prototype, a message that throws when it is read.
  }
}
