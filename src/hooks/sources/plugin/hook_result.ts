/**
 * Reads what a plugin answers to `on_session_start`.
 *
 * @module
 */
import { HostError } from "../../../core/errors/host_error.ts";

/**
 * Returns the text a plugin wants before the model, or null when it wants none: null, a text, or `{ inject }`.
 *
 * @throws {HostError} `hook.result_invalid` for anything else.
 */
export function readInjectResult(result: unknown): string | null {
  if (result === null || result === undefined) return null;
  if (typeof result === "string") return result || null;
  if (typeof result !== "object" || Array.isArray(result)) {
    throw invalid(`The result is ${nameOf(result)}, and neither null, a text nor { inject }`);
  }
  const { inject } = result as { inject?: unknown };
  if (inject === undefined || inject === null) return null;
  if (typeof inject !== "string") throw invalid(`"inject" is ${nameOf(inject)}, and no text`);
  return inject || null;
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function invalid(message: string): HostError {
  return new HostError("hook.result_invalid", message, { hint: "Return null, a text or { inject }" });
}
