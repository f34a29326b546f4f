/**
 * The npm packages, built once for all test files that need them: building takes longer than most of those tests.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { until } from "../../support/until.ts";

/** The repository. */
export const root: string = fileURLToPath(new URL("../../../", import.meta.url));

/** Everything that a build reads. */
const SOURCES = ["src", "docs", "plugins", "schema", "scripts/npm"];
const FILES = ["mod.ts", "deno.json", "package.json", "package-lock.json", "scripts/build_npm.ts", "LICENSE"];
const PAGES = ["README.md", "CHANGELOG.md", "SECURITY.md"];

/** Returns the path of a packed package, such as `kaged-plugin-host.tgz`. */
export function packedFile(name: string): string {
  return join(root, "npm", name);
}

/** Builds the packages into `npm/`, unless they are there as these sources make them. */
export async function builtPackages(): Promise<void> {
  const stamp = join(root, "npm/.built");
  const lock = join(root, "node_modules/.cache/kaged-build.lock");
  await mkdir(join(root, "node_modules/.cache"), { recursive: true });
  await until(() => takeLock(lock), "the turn to build the npm packages");
  try {
    const wanted = await fingerprint();
    if (await readFile(stamp, "utf8").catch(() => "") === wanted) return;
    const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
    await promisify(execFile)(join(root, "node_modules/.bin/node"), ["scripts/build_npm.ts"], { cwd: root, env });
    await writeFile(stamp, wanted);
  } finally {
    await rm(lock, { recursive: true });
  }
}

/** Takes the turn to build; one that died with its process is free again. */
async function takeLock(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    await writeFile(join(lock, "pid"), String(process.pid));
    return true;
  } catch {
    const pid = await readFile(join(lock, "pid"), "utf8").catch(() => "");
    if (pid !== "" && !existsSync(`/proc/${pid}`)) await rm(lock, { recursive: true, force: true });
    return false;
  }
}

/** A text that differs whenever a file that the build reads has changed. */
async function fingerprint(): Promise<string> {
  const listed = await Promise.all(SOURCES.map(async (folder) => {
    return (await readdir(join(root, folder), { recursive: true })).map((path) => `${folder}/${path}`);
  }));
  const hash = createHash("sha256");
  for (const path of [...FILES, ...PAGES, ...listed.flat().sort()]) {
    const { size, mtimeMs } = await stat(join(root, path));
    hash.update(`${path} ${size} ${mtimeMs}\n`);
  }
  return hash.digest("hex");
}
