/**
 * Names of tools that every MCP client and chat API takes.
 *
 * @module
 */
import { hashedAlias, MAX_LENGTH } from "./safe_alias.ts";

/**
 * Returns a name of `^[a-zA-Z0-9_-]{1,64}$` for any name: dots become `__`, other characters `_`. One that is too long,
 * or is in `taken`, ends in a hash of the whole name, so that it is the same at every start.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(plainName("theme.dark-sky.colors"), "theme__dark-sky__colors");
 * assert.match(plainName("theme.dark-sky.colors", new Set(["theme__dark-sky__colors"])), /^theme__dark-sky__colors_/);
 * ```
 */
export function plainName(name: string, taken: ReadonlySet<string> = new Set()): string {
  const plain = name.replaceAll(".", "__").replace(/[^a-zA-Z0-9_-]/g, "_");
  if (plain.length > 0 && plain.length <= MAX_LENGTH && !taken.has(plain)) return plain;
  for (let round = 0;; round++) {
    const hashed = hashedAlias(plain, round === 0 ? name : `${name}\n${round}`);
    if (!taken.has(hashed)) return hashed;
  }
}
