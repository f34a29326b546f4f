/**
 * Relative paths, followed as text: nothing is looked up.
 *
 * @module
 */

/**
 * Returns the steps of `path` when it is followed from the folder at `base`; null when it leads out at the top.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.deepEqual(followPath(["kinds", "tool"], "../schemas/./a.json"), ["kinds", "schemas", "a.json"]);
 * assert.equal(followPath([], "bin/../../sh"), null);
 * ```
 */
export function followPath(base: readonly string[], path: string): string[] | null {
  const steps = [...base];
  for (const step of path.split("/")) {
    if (step === "..") {
      if (steps.pop() === undefined) return null;
    } else if (step !== "." && step !== "") steps.push(step);
  }
  return steps;
}
