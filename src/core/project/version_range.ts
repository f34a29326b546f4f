/**
 * Ranges of versions, as `version:` of a declaration names them.
 *
 * @module
 */

const MAX_LENGTH = 256;

/** Returns why `range` cannot be read, or null. The library loads at the first range. */
export async function rangeProblem(range: string): Promise<string | null> {
  if (range.trim() === "" || range.length > MAX_LENGTH) return "It is empty or too long";
  const { default: semver } = await import("semver");
  return semver.validRange(range) === null ? "It is no range of versions" : null;
}

/** Whether `version` is in `range`. */
export async function isInRange(version: string, range: string): Promise<boolean> {
  const { default: semver } = await import("semver");
  return semver.satisfies(version, range);
}

/** Returns the newest of `versions` that is in `range`, or null; what is no version is passed over. */
export async function newestInRange(versions: readonly string[], range: string): Promise<string | null> {
  const { default: semver } = await import("semver");
  return semver.maxSatisfying(versions.filter((version) => semver.valid(version) !== null), range);
}
