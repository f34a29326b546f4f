/**
 * One change between two versions of a kind, and the version that it asks for.
 *
 * @module
 */

/**
 * The effect of a change on hosts and plugins of the old version. Old plugins meet new hosts and new plugins old hosts,
 * so a change is `compatible` only when both go on as before; `wording` changes nothing but words.
 */
export type ChangeEffect = "breaking" | "compatible" | "wording";

/** One change between two versions of a kind. */
export interface SpecChange {
  /** The part that changed, such as `execute.input.name`. */
  readonly path: string;
  readonly effect: ChangeEffect;
  /** The change in words that follow the path: `is gone`. */
  readonly message: string;
}

/**
 * Returns the least version that may follow `version` with these changes. Below 1.0.0 a breaking change asks for the
 * next minor version (semver.org, §4).
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * const change = { path: "execute", effect: "breaking", message: "is gone" } as const;
 * assert.equal(neededVersion("1.4.2", [change]), "2.0.0");
 * assert.equal(neededVersion("1.4.2", []), "1.4.2");
 * ```
 */
export function neededVersion(version: string, changes: readonly SpecChange[]): string {
  const [major, minor, patch] = numbersOf(version);
  const has = (effect: ChangeEffect): boolean => changes.some((change) => change.effect === effect);
  if (has("breaking")) return major === 0 ? `0.${minor + 1}.0` : `${major + 1}.0.0`;
  if (has("compatible")) return `${major}.${minor + 1}.0`;
  return has("wording") ? `${major}.${minor}.${patch + 1}` : version;
}

/** Whether `version` is `needed` or comes after it. A pre-release counts as what it leads to. */
export function isEnough(version: string, needed: string): boolean {
  const [given, least] = [numbersOf(version), numbersOf(needed)];
  const at = given.findIndex((number, index) => number !== least[index]);
  return at === -1 || given[at]! > least[at]!;
}

function numbersOf(version: string): [number, number, number] {
  const [major = 0, minor = 0, patch = 0] = version.split(/[-+]/)[0]!.split(".").map(Number);
  return [major, minor, patch];
}
