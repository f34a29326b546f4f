/**
 * Whether a plugin written for one version of a kind works with another.
 *
 * @module
 */

/**
 * Returns why a plugin written for version `wanted` of a kind does not work where version `had` is, or null when it
 * does: the major version must be the same, and nothing newer may be wanted than there is. Below 1.0.0 the minor version
 * must be the same, too (semver.org, §4). Both are SemVer.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(kindMismatch("1.0.0", "1.4.2"), null);
 * assert.equal(kindMismatch("2.0.0", "1.4.2"), "2.x is wanted, and 1.x is here");
 * ```
 */
export function kindMismatch(wanted: string, had: string): string | null {
  const [[major, minor], [ownMajor, ownMinor]] = [wanted, had].map((version) => version.split(".").map(Number)) as [
    [number, number],
    [number, number],
  ];
  if (major !== ownMajor) return `${major}.x is wanted, and ${ownMajor}.x is here`;
  if (major === 0 && minor !== ownMinor) return `0.${minor}.x is wanted, and 0.${ownMinor}.x is here`;
  return minor > ownMinor ? `${major}.${minor} is wanted, and only ${ownMajor}.${ownMinor} is here` : null;
}
