/**
 * Tells whether the npm packages have to be built again.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";

/** Everything that a build reads. */
const FOLDERS = ["src", "docs", "plugins", "sdk/javascript", "schema", "scripts/npm"];
const FILES = ["mod.ts", "deno.json", "package.json", "package-lock.json", "scripts/build_npm.ts"];
const PAGES = ["README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE"];

/** Returns a text that differs whenever a file that the build reads has changed. */
export async function fingerprint(): Promise<string> {
  const listed = await Promise.all(FOLDERS.map(async (folder) => {
    return (await readdir(folder, { recursive: true })).map((path) => `${folder}/${path}`);
  }));
  const hash = createHash("sha256");
  for (const path of [...FILES, ...PAGES, ...listed.flat().sort()]) {
    const { size, mtimeMs } = await stat(path);
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}
