/**
 * Anything that can be thrown, in words: even an object that throws when it is read.
 *
 * @module
 */
import { jsonCopy } from "../../core/values/json_copy.ts";

const MAX_CHARS = 500;

/** Returns the warning for a handler that failed. Never throws. */
export function failureText(thrown: unknown): string {
  return `Hook failed: ${errorFacts(thrown).message.slice(0, MAX_CHARS)}`;
}

/** Returns the error of an event: a map with a message as it is, of anything else its message and code. Never throws. */
export function errorFacts(thrown: unknown): { readonly message: string; readonly code?: string } {
  try {
    const { message, code, name } = Object(thrown) as { message?: unknown; code?: unknown; name?: unknown };
    if (typeof message !== "string") return { message: described(thrown) };
    const prototype: unknown = Object.getPrototypeOf(thrown);
    if (prototype === Object.prototype || prototype === null) return thrown as { message: string };
    const isCode = typeof code === "string" || typeof code === "number";
    return { message: message || String(name), ...(isCode && { code: String(code) }) };
  } catch {
    return { message: "it threw an object that cannot be read" };
  }
}

function described(thrown: unknown): string {
  if (typeof thrown !== "object") return String(thrown);
  return JSON.stringify(jsonCopy(thrown, { maxChars: MAX_CHARS, normalises: true }));
}
