/**
 * Joins the modules of the npm package into few files: each file costs a program that imports them time and memory at
 * every start. The packages they stand on are joined in too, so that an embedder installs one package and nothing else.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, relative } from "node:path";

/** The entries to join, and the folder they are written to. */
export interface JoinOptions {
  /** Entry of the package → its source file. */
  readonly entries: Readonly<Record<string, string>>;
  /** Packages that are not joined in. */
  readonly external: readonly string[];
}

/** Puts joined modules with maps in the place of those in `dir`; returns the names of the packages that are in them. */
export async function joinModules(dir: string, { entries, external }: JoinOptions): Promise<string[]> {
  // Sources that no entry reaches are left as they were: nobody can import them.
  const isOld = (path: string): boolean => path.endsWith(".js") || (path.endsWith(".ts") && !path.endsWith(".d.ts"));
  for (const path of await readdir(dir, { recursive: true })) if (isOld(path)) await rm(`${dir}/${path}`);
  const { "./cli": command, ...others } = entries;
  // The command apart: what it alone needs of a room would cut the entries into three times as many files.
  for (const [chunks, files] of Object.entries({ chunks: Object.values(others), "chunks/cli": [command!] })) {
    const shape = ["--target=node", "--format=esm", "--splitting", "--sourcemap=linked"];
    const outside = external.flatMap((name) => [`--external=${name}`, `--external=${name}/*`]);
    const names = ["--root=.", `--chunk-naming=${chunks}/[name]-[hash].js`, `--outdir=${dir}`];
    // Without the first two the bundler would read settings of the folder it is started in.
    const args = ["build", "--config=/dev/null", "--no-env-file", ...files, ...shape, ...outside, ...names];
    execFileSync("node_modules/.bin/bun", args, { stdio: ["ignore", "ignore", "inherit"] });
  }
  const joined = new Set<string>();
  for (const path of await readdir(dir, { recursive: true })) {
    if (path.endsWith(".js")) await useBuiltins(`${dir}/${path}`);
    if (!path.endsWith(".js.map")) continue;
    for (const source of await rewriteMap(dir, path)) {
      const name = packageOf(source);
      if (name !== null) joined.add(name);
    }
  }
  return [...joined].sort();
}

const REQUIRE = "var __require = /* @__PURE__ */ createRequire(import.meta.url);\n";
const BUILTINS = `var __require = (name) => {
  const found = process.getBuiltinModule(name);
  if (found) return found;
  throw Object.assign(new Error(\`Cannot find module '\${name}'\`), { code: "MODULE_NOT_FOUND" });
};
`;

/**
 * Joined packages of the older kind require modules of Node alone. Asking the process for them works in every format
 * that a bundler of the embedder may write, and needs no address of the file.
 */
async function useBuiltins(file: string): Promise<void> {
  const text = await readFile(file, "utf8");
  if (!text.includes("createRequire(import.meta.url)")) return;
  const mended = text.replace(REQUIRE, BUILTINS).replace('import { createRequire } from "node:module";\n', "");
  if (mended.includes("createRequire")) {
    throw new Error(`${file}: the bundler writes createRequire() in another way now`);
  }
  await writeFile(file, mended);
}

/**
 * Writes a map as if the sources lay in the package: where it was built is nobody's business. A file without a line of
 * ours gets no map, which would lead to sources that are not in the package. Returns its sources.
 */
async function rewriteMap(dir: string, path: string): Promise<string[]> {
  const map = JSON.parse(await readFile(`${dir}/${path}`, "utf8"));
  const sources: string[] = map.sources.map((source: string) => source.replace(/^(\.\.\/)+/, ""));
  const contents = sources.map((source, at) => packageOf(source) === null ? map.sourcesContent[at] : null);
  if (sources.length > 0 && sources.every((source) => packageOf(source) !== null)) {
    const file = `${dir}/${path.slice(0, -".map".length)}`;
    await writeFile(file, (await readFile(file, "utf8")).replace(/\n\/\/# sourceMappingURL=\S+\n$/, "\n"));
    await rm(`${dir}/${path}`);
    return sources;
  }
  const written = {
    ...{ version: 3, file: basename(path, ".map") },
    sources: sources.map((source) => relative(dirname(path), source)),
    // Once is enough: the command's traces name files and lines, those of the entries show them.
    ...(path.includes("cli/") ? {} : { sourcesContent: contents }),
    ...{ names: map.names, mappings: map.mappings },
  };
  await writeFile(`${dir}/${path}`, JSON.stringify(written));
  return sources;
}

/** Returns the package that a source is part of; null for one of ours. */
function packageOf(source: string): string | null {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/.exec(source)?.[1] ?? null;
}
