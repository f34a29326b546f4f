/**
 * SemVer 2.0.0 versions (semver.org).
 *
 * @module
 */

/** Longest version that is read. */
export const MAX_VERSION_LENGTH = 256;

/** The grammar of semver.org, §2, 9 and 10. */
export const SEMANTIC_VERSION: RegExp =
  /^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?$/;

/** Whether `text` is a SemVer 2.0.0 version whose numbers a program can compare exactly. */
export function isSemanticVersion(text: string): boolean {
  if (text.length > MAX_VERSION_LENGTH) return false;
  const parts = SEMANTIC_VERSION.exec(text);
  return parts !== null && parts.slice(1, 4).every((part) => Number.isSafeInteger(Number(part)));
}
