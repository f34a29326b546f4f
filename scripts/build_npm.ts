/**
 * Builds the npm package into npm/: types by `deno pack`, and the modules joined into few files by Bun's bundler, because
 * each file costs a program that imports them time and memory at every start.
 *
 *   npm run build     npm/package/ and npm/kaged-plugin-host.tgz
 */
import { execFileSync } from "node:child_process";
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, relative } from "node:path";
import process from "node:process";

const bin = (name: string) => `node_modules/.bin/${name}`;
const read = async (path: string) => JSON.parse(await readFile(path, "utf8"));

await rm("npm", { recursive: true, force: true });
await mkdir("npm", { recursive: true });
execFileSync(bin("deno"), ["pack", "--quiet", "--allow-dirty", "-o", "npm/packed.tgz"], {
  stdio: ["ignore", "inherit", "inherit"],
});
execFileSync("tar", ["-xzf", "npm/packed.tgz", "-C", "npm"]);
await rm("npm/packed.tgz");
await joinModules("npm/package");

/** Packages that only some features need: the host loads them at the first use, and the embedder installs them. */
const OPTIONAL = ["@modelcontextprotocol/client", "@modelcontextprotocol/server", "@opentelemetry/api", "pg-boss"];

const [packed, root] = await Promise.all([read("npm/package/package.json"), read("package.json")]);
const manifest = {
  name: packed.name,
  version: packed.version,
  description: "Runs plugins nobody trusts, each in a bubblewrap cage, over JSON-RPC 2.0 on stdio",
  license: "MIT",
  ...repository(),
  type: "module",
  keywords: ["plugin", "plugins", "agent", "ai", "sandbox", "bubblewrap", "json-rpc", "deno", "bun"],
  bin: { kaged: "./src/cli/bin.js" },
  engines: { node: ">=24.15", deno: ">=2.9", bun: ">=1.4" },
  os: ["linux"],
  exports: { ...packed.exports, "./package.json": "./package.json" },
  dependencies: pick(root.dependencies, (name) => !OPTIONAL.includes(name)),
  peerDependencies: pick(root.dependencies, (name) => OPTIONAL.includes(name)),
  peerDependenciesMeta: Object.fromEntries(OPTIONAL.map((name) => [name, { optional: true }])),
};
await writeFile("npm/package/package.json", `${JSON.stringify(manifest, null, 2)}\n`);
for (const file of ["README.md", "LICENSE", "CHANGELOG.md"]) await copyFile(file, `npm/package/${file}`);
await chmod("npm/package/src/cli/bin.js", 0o755);
execFileSync("tar", ["-czf", "npm/kaged-plugin-host.tgz", "-C", "npm", "package"]);
const { size } = await stat("npm/kaged-plugin-host.tgz");
process.stdout.write(`wrote npm/kaged-plugin-host.tgz (${(size / 1e6).toFixed(1)} MB)\n`);

/** Puts joined modules with maps in the place of those that `deno pack` made. */
async function joinModules(dir: string): Promise<void> {
  for (const path of await readdir(dir, { recursive: true })) if (path.endsWith(".js")) await rm(`${dir}/${path}`);
  const { "./cli": command, ...entries } = (await read("deno.json")).exports;
  // The command apart: what it alone needs of a room would cut the entries into three times as many files.
  for (const [chunks, files] of Object.entries({ chunks: Object.values<string>(entries), "chunks/cli": [command] })) {
    const shape = ["--target=node", "--format=esm", "--splitting", "--packages=external", "--sourcemap=linked"];
    const names = ["--root=.", `--chunk-naming=${chunks}/[name]-[hash].js`, `--outdir=${dir}`];
    execFileSync(bin("bun"), ["build", ...files, ...shape, ...names], { stdio: ["ignore", "ignore", "inherit"] });
  }
  for (const path of await readdir(dir, { recursive: true })) {
    if (!path.endsWith(".js.map")) continue;
    const { mappings, names, sources, sourcesContent } = await read(`${dir}/${path}`);
    const map = {
      ...{ version: 3, file: basename(path, ".map") },
      // As if the sources lay in the package: where it was built is nobody's business.
      sources: sources.map((source: string) => relative(dirname(path), source.replace(/^(\.\.\/)+/, ""))),
      // Once is enough: the command's traces name files and lines, those of the entries show them.
      ...(path.includes("cli/") ? {} : { sourcesContent }),
      ...{ names, mappings },
    };
    await writeFile(`${dir}/${path}`, JSON.stringify(map));
  }
}

/** A statement of provenance must name the repository it was built in, and only the workflow knows that one. */
function repository(): { repository?: { type: string; url: string } } {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  return server && name ? { repository: { type: "git", url: `git+${server}/${name}.git` } } : {};
}

function pick(versions: Record<string, string>, isWanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(versions).filter(([name]) => isWanted(name)));
}
