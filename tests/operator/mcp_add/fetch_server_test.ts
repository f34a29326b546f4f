import assert from "node:assert/strict";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { draftManifest, draftText } from "../../../src/operator/mcp_add/draft.ts";
import { fetchServer, packageFolder } from "../../../src/operator/mcp_add/fetch_server.ts";
import type { ServerSource } from "../../../src/operator/mcp_add/types.ts";
import { parseManifest } from "../../../src/core/manifest/read_manifest.ts";
import { git } from "../../support/git_server.ts";
import { npmRegistry, type TestPackage } from "../../support/npm_registry.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const SERVER: TestPackage = {
  name: "@x/notes-mcp",
  version: "1.0.0",
  json: {
    bin: { "notes-mcp": "./dist/index.js" },
    license: "MIT",
    author: "Ada <ada@example.org>",
    description: "Notes",
    dependencies: { helper: "^1.0.0" },
    devDependencies: { "never-there": "1.0.0" },
    scripts: { postinstall: "touch ../../../ran" },
  },
  files: { "dist/index.js": "#!/usr/bin/env node\n" },
};
const HELPER: TestPackage = { name: "helper", version: "1.1.0", json: { scripts: { install: "touch ../../ran" } } };

/** Fetches a source into a fresh folder, with npm asking a registry of the test. */
async function fetched(
  t: TestContext,
  source: ServerSource,
  env: Readonly<Record<string, string>>,
  bin: string | null = null,
) {
  const dir = join(await scratchDir(t), "server");
  await mkdir(dir);
  const all: Readonly<Record<string, string>> = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: "/nonexistent", ...env };
  const runtime = { ...await detectRuntime(), env: (name: string) => all[name] ?? null };
  return { dir, server: await fetchServer(source, { runtime, dir, bin, runtimes: { node: "/usr/bin/node" } }) };
}

const npm = (pkg: string, range = ""): ServerSource => ({ kind: "npm", package: pkg, range });

test("N-031 a package is fetched with its dependencies, and no script of either runs", async (t) => {
  const { env } = await npmRegistry(t, [SERVER, HELPER]);
  const { dir, server } = await fetched(t, npm("@x/notes-mcp"), env);
  assert.deepEqual(server.command, ["node", "./node_modules/@x/notes-mcp/dist/index.js"]);
  assert.deepEqual(server.facts, {
    title: "@x/notes-mcp",
    version: "1.0.0",
    description: "Notes",
    author: "Ada",
    license: "MIT",
  });
  assert.deepEqual((await readdir(join(dir, "node_modules"))).filter((name) => !name.startsWith(".")).sort(), [
    "@x",
    "helper",
  ]);
  assert.deepEqual((await readdir(dir)).sort(), ["node_modules", "package.json"]);
});

test("a version, a range and the newest are told apart, and what npm lacks is said in its words", async (t) => {
  const registry = await npmRegistry(t, [SERVER, HELPER]);
  registry.publish({ ...SERVER, version: "1.4.0" });
  registry.publish({ ...SERVER, version: "2.0.0" });
  const versionOf = async (range: string) =>
    (await fetched(t, npm("@x/notes-mcp", range), registry.env)).server.facts.version;
  assert.deepEqual([await versionOf(""), await versionOf("^1.0.0"), await versionOf("1.0.0")], [
    "2.0.0",
    "1.4.0",
    "1.0.0",
  ]);
  await assert.rejects(versionOf("7.7.7"), { code: "mcp_add.fetch_failed", message: /7\.7\.7/ });
  await assert.rejects(fetched(t, npm("not-there"), registry.env), {
    code: "mcp_add.fetch_failed",
    message: /not-there/,
  });
  await assert.rejects(fetched(t, npm("x"), { ...registry.env, PATH: "/nonexistent" }), (error: { code: string }) => {
    // Bun can fetch by itself.
    return ["mcp_add.npm_missing", "mcp_add.fetch_failed", "mcp_add.source_invalid"].includes(error.code);
  });
});

test("N-031 a dependency from a git repository is refused: git would start programs that it names", async (t) => {
  const repository = await scratchDir(t);
  git(repository, "init", "--quiet");
  await writeFile(join(repository, "package.json"), JSON.stringify({ name: "helper", version: "1.0.0" }));
  git(repository, "add", "package.json");
  git(repository, "commit", "--quiet", "-m", "a package");
  const dependencies = { helper: `git+file://${repository}` };
  const bent = { ...SERVER, json: { ...SERVER.json, dependencies } };
  const { env } = await npmRegistry(t, [bent]);
  await assert.rejects(fetched(t, npm("@x/notes-mcp"), env), { code: "mcp_add.fetch_failed", message: /git/i });
});

test("N-031 an npm that would start what git repositories name fetches nothing", async (t) => {
  const { env, requests } = await npmRegistry(t, [SERVER, HELPER]);
  const PATH = await scratchDir(t);
  for (const version of ["10.9.2", "11.9.0", "9.0.0", "not a version"]) {
    await writeFile(
      join(PATH, "npm"),
      `#!/bin/sh\necho "$@" >>${PATH}/asked\necho "npm warn 12.0.0" >&2\necho "${version}"\n`,
      { mode: 0o755 },
    );
    const refused = fetched(t, npm("@x/notes-mcp"), { ...env, PATH });
    // Bun can fetch by itself.
    if ((await detectRuntime()).name === "bun") await refused;
    else await assert.rejects(refused, { code: "mcp_add.npm_old", hint: /npm 11\.10 or newer/ });
  }
  assert.equal(await readFile(join(PATH, "asked"), "utf8"), "--version\n".repeat(4));
  assert.equal(requests.length > 0, (await detectRuntime()).name === "bun");
});

test("a package with several programs needs --bin, one that leads out of it has none, and a library is named one", async (t) => {
  const files = { "a.js": "", "b.js": "#!/usr/bin/env bun\n", run: "#!/bin/sh\n" };
  const of = (name: string, json: Record<string, unknown>): TestPackage => ({ name, version: "1.0.0", json, files });
  const { env } = await npmRegistry(t, [
    of("several", { bin: { one: "a.js", two: "b.js", three: "./run" } }),
    of("out", { bin: { out: "../../a.js" } }),
    of("library", {}),
    of("unbuilt", { bin: "dist/index.js" }),
  ]);
  await assert.rejects(fetched(t, npm("several"), env), { code: "mcp_add.no_program", hint: /--bin one or --bin two/ });
  const command = async (bin: string) => (await fetched(t, npm("several"), env, bin)).server.command;
  assert.deepEqual(await command("one"), ["node", "./node_modules/several/a.js"]);
  assert.deepEqual(await command("two"), ["bun", "./node_modules/several/b.js"]);
  assert.deepEqual(await command("three"), ["./node_modules/several/run"]);
  await assert.rejects(command("four"), { code: "mcp_add.no_program", message: /no program "four"/ });
  await assert.rejects(fetched(t, npm("out"), env), { code: "mcp_add.no_program" });
  await assert.rejects(fetched(t, npm("library"), env), { code: "mcp_add.no_program", hint: /library/ });
  await assert.rejects(fetched(t, npm("unbuilt"), env), { code: "mcp_add.no_program", message: /not there/ });
});

test("N-031 a folder is copied, its settings for npm are left out, and its own files stay as they are", async (t) => {
  const { env, requests } = await npmRegistry(t, [HELPER]);
  const own = await scratchDir(t);
  await mkdir(join(own, "src"));
  const json = {
    name: "mine",
    version: "0.1.0",
    bin: "src/i.js",
    dependencies: { helper: "1.1.0" },
    scripts: { prepare: "touch ran" },
  };
  await writeFile(join(own, "package.json"), JSON.stringify(json));
  await writeFile(join(own, "src/i.js"), "");
  await writeFile(join(own, ".npmrc"), "registry=http://127.0.0.1:9/\ngit=./evil.sh\n");
  await writeFile(join(own, "bunfig.toml"), '[install.registry]\nurl = "http://127.0.0.1:9/"\ntoken = "$NPM_TOKEN"\n');
  const { dir, server } = await fetched(t, { kind: "folder", path: own, entry: null }, env);
  assert.deepEqual(server.command, ["node", "./src/i.js"]);
  assert.ok(requests.includes("/helper"));
  assert.deepEqual((await readdir(dir)).sort(), ["node_modules", "package.json", "src"]);
  assert.deepEqual((await readdir(own)).sort(), [".npmrc", "bunfig.toml", "package.json", "src"]);
  const { files } = await detectRuntime();
  assert.deepEqual(await packageFolder({ kind: "folder", path: join(own, "src"), entry: "i.js" }, files), {
    kind: "folder",
    path: own,
    entry: "src/i.js",
  });
  assert.equal(((await stat(join(own, "package.json"))).mode & 0o200) !== 0, true);
  assert.equal(JSON.parse(await readFile(join(own, "package.json"), "utf8")).name, "mine");
});

test("N-031 a draft is a manifest that the host takes, whatever the package says of itself", async () => {
  const facts = {
    title: "x",
    version: "1.0",
    description: `A\nserver\u202e ${"long ".repeat(100)}`,
    author: "\u0007",
    license: "SEE LICENSE IN LICENSE",
    homepage: "javascript:alert(1)",
  };
  const draft = draftManifest({
    name: "notes",
    source: npm("x"),
    fetched: { facts, command: ["node"] },
    args: ["./i.js", "-v"],
    env: { A: "1" },
    headers: {},
    secrets: [{
      key: "x_token",
      carrier: { env: "X_TOKEN" },
      description: "Token",
      isRequired: true,
      value: { kind: "literal", text: "never-written" },
      hosts: ["api.example.org:443"],
    }],
    capabilities: ["read:fs:/opt/x"],
  });
  const text = await draftText(draft, "npm:x\nname: evil");
  const { manifest } = await parseManifest(text, { file: "kaged-plugin.yaml" });
  assert.equal(manifest.version, "1.0.0");
  assert.deepEqual(manifest.capabilities, ["read:fs:/opt/x", "net:api.example.org:443"]);
  assert.deepEqual(manifest.secrets, { x_token: { hosts: ["api.example.org:443"], env: "X_TOKEN" } });
  assert.equal(manifest.description, "MCP server x");
  assert.deepEqual([manifest.author, manifest.license, manifest.homepage], [undefined, undefined, undefined]);
  assert.equal(text.includes("never-written"), false);
  assert.deepEqual(draft.notes.length, 2);
});
