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

/** Returns the end of the program in a cage: bubblewrap itself exits, with 128 + 9, when SIGKILL has ended that. */
export function exitInside(exit: Exit): Exit {
  return exit.code === 128 + 9 ? { code: null, signal: "SIGKILL" } : exit;
}
