/**
 * Builds the npm package into npm/: `deno pack` compiles, this completes what it leaves out.
 *
 *   npm run build     npm/package/ and npm/kaged-plugin-host.tgz
 */
import { execFileSync } from "node:child_process";
import { Buffer } from "node:buffer";
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename } from "node:path";
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

/** What only some embedders use: loaded when a feature that needs it is asked for, and installed by who asks. */
const OPTIONAL = ["@modelcontextprotocol/sdk", "@opentelemetry/api", "pg-boss"];

const [packed, root] = await Promise.all([read("npm/package/package.json"), read("package.json")]);
const manifest = {
  name: packed.name,
  version: packed.version,
  description: "Runs plugins nobody trusts, each in a bubblewrap cage, over JSON-RPC 2.0 on stdio",
  license: "MIT",
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
await moveSourceMaps("npm/package");
await chmod("npm/package/src/cli/bin.js", 0o755);
execFileSync("tar", ["-czf", "npm/kaged-plugin-host.tgz", "-C", "npm", "package"]);
const { size } = await stat("npm/kaged-plugin-host.tgz");
process.stdout.write(`wrote npm/kaged-plugin-host.tgz (${(size / 1e6).toFixed(1)} MB)\n`);

/** `deno pack` puts maps into the modules, with paths of this machine: they become files that name their neighbour. */
async function moveSourceMaps(dir: string): Promise<void> {
  for (const path of await readdir(dir, { recursive: true })) {
    if (!path.endsWith(".js")) continue;
    const file = `${dir}/${path}`;
    const [code = "", inline] = (await readFile(file, "utf8")).split(/\n?\/\/# sourceMappingURL=data:[^,]+;base64,/);
    if (inline === undefined) continue;
    const name = basename(path);
    const map = JSON.parse(Buffer.from(inline, "base64").toString("utf8"));
    await writeFile(`${file}.map`, JSON.stringify({ ...map, file: name, sources: [name.replace(/js$/, "ts")] }));
    await writeFile(file, `${code}\n//# sourceMappingURL=${name}.map\n`);
  }
}

function pick(versions: Record<string, string>, isWanted: (name: string) => boolean): Record<string, string> {
  return Object.fromEntries(Object.entries(versions).filter(([name]) => isWanted(name)));
}
