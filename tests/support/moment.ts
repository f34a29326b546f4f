/**
 * A short wait for what another process does.
 *
 * @module
 */

/** Resolves after a moment in which the processor is free: a loop that looks again at once would take it all. */
export function moment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}
