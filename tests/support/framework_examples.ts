/**
 * The examples of agent frameworks as a user has them: in a folder outside the repository, with the packages that they
 * import in its node_modules.
 *
 * @module
 */
import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The repository. */
export const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));
/** The packages of the frameworks, where they are installed. */
export const PACKAGES: string = join(ROOT, "tools/frameworks/node_modules");
/** How they are installed. */
export const HOW = "sh scripts/setup.sh extras installs them in tools/frameworks";

const EXAMPLES = "examples/frameworks";

/** Returns the names of the examples. */
export async function exampleNames(): Promise<string[]> {
  return await readdir(join(ROOT, EXAMPLES));
}

/** A copy of all examples: `await using copy = await copyExamples()`. */
export async function copyExamples(): Promise<
  AsyncDisposable & { readonly root: string; folder(name: string): string }
> {
  const root = await mkdtemp(join(tmpdir(), "kaged-examples-"));
  const modules = join(root, "node_modules");
  await cp(join(ROOT, EXAMPLES), join(root, EXAMPLES), { recursive: true });
  await cp(join(ROOT, "plugins"), join(root, "plugins"), { recursive: true });
  await mkdir(join(modules, "@kaged"), { recursive: true });
  await symlink(ROOT, join(modules, "@kaged/plugin-host"));
  await symlink(join(ROOT, "plugins/memory-markdown"), join(modules, "@kaged/memory-markdown"));
  for (const entry of await readdir(PACKAGES)) await symlink(join(PACKAGES, entry), join(modules, entry));
  await writeFile(join(root, "package.json"), '{ "type": "module" }');
  return {
    root,
    folder: (name) => join(root, EXAMPLES, name),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}
