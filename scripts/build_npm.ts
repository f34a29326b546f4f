/**
 * Builds the npm packages into npm/: the host, with types by `deno pack` and modules joined by Bun's bundler, and each
 * reference plugin.
 *
 *   npm run build                      npm/package/, npm/kaged-plugin-host.tgz, npm/kaged-<plugin>.tgz
 *   npm run build -- --if-changed      unless they were built from the files as they are
 */
import { execFileSync } from "node:child_process";
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import process from "node:process";
import { fingerprint } from "./npm/fingerprint.ts";
import { licencePage } from "./npm/licences.ts";
import { joinModules } from "./npm/modules.ts";
import { writePages } from "./npm/pages.ts";
import { packSmall, type Repository } from "./npm/small_packages.ts";

const read = async (path: string) => JSON.parse(await readFile(path, "utf8"));

/** Packages that only some features need: the host loads them at the first use, and the embedder installs them. */
const OPTIONAL = ["@modelcontextprotocol/client", "@modelcontextprotocol/server", "@opentelemetry/api", "pg"];

const built = await fingerprint();
if (process.argv.includes("--if-changed") && await readFile("npm/.built", "utf8").catch(() => "") === built) {
  process.exit(0);
}
await rm("npm", { recursive: true, force: true });
await mkdir("npm", { recursive: true });
execFileSync("node_modules/.bin/deno", ["pack", "--quiet", "--allow-dirty", "-o", "npm/packed.tgz"], {
  stdio: ["ignore", "inherit", "inherit"],
});
execFileSync("tar", ["-xzf", "npm/packed.tgz", "-C", "npm"]);
await rm("npm/packed.tgz");
const [packed, root, { exports: entries }] = await Promise.all(
  ["npm/package/package.json", "package.json", "deno.json"].map(read),
);
await letHonoBeAbsent("npm/package");
const joined = await joinModules("npm/package", { entries, external: OPTIONAL });

const repository = repositoryOf(packed.version);
const manifest = {
  name: packed.name,
  version: packed.version,
  description: "Runs plugins nobody trusts, each in a bubblewrap cage, over JSON-RPC 2.0 on stdio",
  license: "MIT",
  ...repository.fields,
  type: "module",
  keywords: ["plugin", "plugins", "agent", "ai", "sandbox", "bubblewrap", "json-rpc", "deno", "bun"],
  bin: { kaged: "./src/cli/bin.js" },
  engines: { node: ">=24.15", deno: ">=2.9", bun: ">=1.4" },
  os: ["linux"],
  exports: { ...packed.exports, "./package.json": "./package.json" },
  peerDependencies: Object.fromEntries(OPTIONAL.map((name) => [name, root.dependencies[name]])),
  peerDependenciesMeta: Object.fromEntries(OPTIONAL.map((name) => [name, { optional: true }])),
};
await writeFile("npm/package/package.json", `${JSON.stringify(manifest, null, 2)}\n`);
await writeFile("npm/package/THIRD-PARTY-LICENSES.md", await licencePage(joined));
await writePages("npm/package", repository.addressOf);
await chmod("npm/package/src/cli/bin.js", 0o755);
execFileSync("tar", ["--owner=0", "--group=0", "-czf", "npm/kaged-plugin-host.tgz", "-C", "npm", "package"]);
for (const archive of ["npm/kaged-plugin-host.tgz", ...await packSmall(repository)]) {
  const { size } = await stat(archive);
  process.stdout.write(`wrote ${archive} (${(size / 1e6).toFixed(size < 1e5 ? 3 : 1)} MB)\n`);
}

await writeFile("npm/.built", built);

/** The types of Hono are the embedder's: where it is not installed they are `any`, and no error of the compiler. */
async function letHonoBeAbsent(dir: string): Promise<void> {
  for (const path of await readdir(dir, { recursive: true })) {
    if (!path.endsWith(".d.ts")) continue;
    const text = await readFile(`${dir}/${path}`, "utf8");
    const marked = text.replace(/import [^;]* from "hono";/g, "\n// @ts-ignore Hono may not be installed.\n$&");
    if (marked !== text) await writeFile(`${dir}/${path}`, marked);
  }
}

/**
 * Returns the fields that name the repository, and where its files of this version can be seen. A statement of
 * provenance must name the repository it was built in, and only the workflow knows that one: elsewhere there is nothing
 * that could honestly be said.
 */
function repositoryOf(version: string): Repository {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  if (!server || !name) return { fields: {}, addressOf: null };
  const url = `${server}/${name}`;
  const fields = {
    repository: { type: "git", url: `git+${url}.git` },
    homepage: `${url}#readme`,
    bugs: { url: `${url}/issues` },
  };
  return { fields, addressOf: (file, as) => `${url}/${as === "page" ? "blob" : "raw"}/v${version}/${file}` };
}
