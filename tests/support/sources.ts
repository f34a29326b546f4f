/**
 * The repository's own sources, for tests that hold its rules.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Source } from "../../scripts/pictures/rooms.ts";

/** The root of the repository. */
export const root: string = fileURLToPath(new URL("../..", import.meta.url));

/** Returns the TypeScript files below a folder, in alphabetical order. */
export async function sourcesIn(folder: string): Promise<Source[]> {
  const entries = await readdir(join(root, folder), { recursive: true });
  const paths = entries.filter((entry) => entry.endsWith(".ts")).map((entry) => join(folder, entry)).sort();
  return await Promise.all(paths.map(async (path) => ({ path, text: await readFile(join(root, path), "utf8") })));
}

/** Returns the files of `src` that people write. */
export async function writtenSources(): Promise<Source[]> {
  return (await sourcesIn("src")).filter(({ path }) => !path.includes("/generated/"));
}
