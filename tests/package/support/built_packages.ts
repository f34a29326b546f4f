/**
 * The npm packages, built once for all test files that need them: building takes longer than most of those tests.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The repository. */
export const root: string = fileURLToPath(new URL("../../../", import.meta.url));

/** Returns the path of a packed package, such as `kaged-plugin-host.tgz`. */
export function packedFile(name: string): string {
  return join(root, "npm", name);
}

/** Builds the packages into `npm/`, unless they are there as these sources make them. */
export async function builtPackages(): Promise<void> {
  const cache = join(root, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  const build = [join(root, "node_modules/.bin/node"), "scripts/build_npm.ts", "--if-changed"];
  // Other processes of the suite build too: the kernel gives one of them its turn, and takes it back when it dies.
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  await promisify(execFile)("flock", [join(cache, "kaged-build.lock"), ...build], { cwd: root, env });
}
