/**
 * The end of a process in words.
 *
 * @module
 */
import type { Exit } from "../ports/ports.ts";

/** Returns how a process ended, such as `with exit code 3` or `by SIGTERM`. */
export function endingOf({ code, signal }: Exit): string {
  return signal ? `by ${signal}` : `with exit code ${code}`;
}
