import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { loadProject } from "../../../src/core/project/load_project.ts";
import { parseLocalConfig } from "../../../src/core/project/local_config.ts";
import { pluginLocator } from "../../../src/core/project/locate.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { putInstalled } from "../../support/installed.ts";

const manifest = (name: string) =>
  `name: ${name}\nversion: 0.1.0\nkaged_api: 1\ndescription: A plugin\ncommand: [js, ./p.js]\ncapabilities: []\n`;

async function plugin(dir: string, name: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, "kaged-plugin.yaml"), manifest(name));
  return dir;
}

test("a package is looked for in the embedder's folders, then in the store by its last segment", async (t) => {
  const home = await scratchDir(t);
  const { files } = await detectRuntime();
  await plugin(join(home, "plugins/notes"), "notes");
  const vouched = await plugin(join(home, "own"), "notes");
  const local = await parseLocalConfig('[plugins.notes]\nhash = "sha256:1"\nlocal = true\n', { file: "local.toml" });
  const locate = pluginLocator({ home, local, files, projectId: "p", plugins: { "@own/notes": vouched } });
  assert.equal((await locate("@own/notes"))?.dir, vouched);
  assert.equal((await locate("@own/notes"))?.hash, undefined);
  assert.equal((await locate("@kaged/notes"))?.dir, join(home, "plugins/notes"));
  assert.equal((await locate("@kaged/notes"))?.hash, "sha256:1");
  assert.equal((await locate("notes"))?.manifest.name, "notes");
  for (const pkg of ["@kaged/nobody", "constructor", "@a/..", "@a/."]) assert.equal(await locate(pkg), null, pkg);
});

test("X-13 an installed plugin of another package, or of another name, is refused", async (t) => {
  const home = await scratchDir(t);
  const { files } = await detectRuntime();
  await plugin(join(home, "plugins/notes"), "notes");
  await plugin(join(home, "plugins/swapped"), "notes");
  const fields = 'hash = "sha256:1"\nlocal = true\n';
  const toml = `[plugins.notes]\n${fields}package = "@kaged/notes"\n[plugins.swapped]\n${fields}`;
  const local = await parseLocalConfig(toml, { file: "local.toml" });
  const locate = pluginLocator({ home, local, files, projectId: "p" });
  assert.equal((await locate("@kaged/notes"))?.manifest.name, "notes");
  await assert.rejects(locate("@evil/notes"), {
    code: "project.package_mismatch",
    data: { plugin: "notes", expected: "@evil/notes", found: "@kaged/notes" },
  });
  await assert.rejects(locate("swapped"), { code: "project.package_mismatch" });
});

test("a manifest that is no good, or not there, is why a plugin is refused", async (t) => {
  const home = await scratchDir(t);
  const { files } = await detectRuntime();
  await mkdir(join(home, "plugins/empty"), { recursive: true });
  const toml = '[plugins.empty]\nhash = "sha256:1"\nlocal = true\n[plugins.gone]\nhash = "sha256:1"\nlocal = true\n';
  const local = await parseLocalConfig(toml, { file: "local.toml" });
  const locate = pluginLocator({ home, local, files, projectId: "p", plugins: { x: join(home, "nowhere") } });
  await assert.rejects(locate("empty"), { code: "manifest.missing" });
  await assert.rejects(locate("gone"), { code: "manifest.missing" });
  await assert.rejects(locate("x"), { code: "manifest.missing" });
});

test("K-063 a plugin that is not local serves the projects of its record and no other", async (t) => {
  const home = await scratchDir(t);
  const { files } = await detectRuntime();
  await plugin(join(home, "plugins/notes"), "notes");
  const locate = async (fields: string, projectId: string) => {
    const local = await parseLocalConfig(`[plugins.notes]\nhash = "sha256:1"\n${fields}\n`, { file: "local.toml" });
    return (await pluginLocator({ home, local, files, projectId })("notes"))?.dir ?? null;
  };
  const dir = join(home, "plugins/notes");
  assert.deepEqual([await locate("local = true", "a"), await locate("local = true", "b")], [dir, dir]);
  const scoped = 'local = false\nprojects = ["a"]';
  assert.deepEqual([await locate(scoped, "a"), await locate(scoped, "b")], [dir, null]);
  assert.equal(await locate("enabled = true", "a"), null);
});

test("a folder in the store without a record is not installed, and a record without a hash is refused", async (t) => {
  const home = await scratchDir(t);
  const { files } = await detectRuntime();
  await plugin(join(home, "plugins/notes"), "notes");
  const locate = async (toml: string) =>
    await pluginLocator({ home, local: await parseLocalConfig(toml, { file: "l" }), files, projectId: "p" })("notes");
  assert.equal(await locate(""), null);
  await assert.rejects(locate("[plugins.notes]\nlocal = true\n"), { code: "plugin.tampered" });
});

test("loadProject() goes from a folder to what runs", async (t) => {
  const home = await scratchDir(t);
  const { files } = await detectRuntime();
  await putInstalled(home, "notes", await plugin(join(home, "notes"), "notes"));
  await mkdir(join(home, "p"));
  await writeFile(join(home, "p/project.yaml"), "primary: { plugins: { n: { package: notes } } }\n");
  const { project, resolved } = await loadProject({ dir: join(home, "p"), home, files, env: () => null });
  assert.deepEqual([project.id, resolved.instances.map(({ instance }) => instance)], ["p", ["notes@p/primary"]]);
});

test("K-030 doubts about a manifest are reported once, however many agents declare the plugin", async (t) => {
  const home = await scratchDir(t);
  const { files } = await detectRuntime();
  await putInstalled(home, "file", await plugin(join(home, "file"), "file"));
  await mkdir(join(home, "p"));
  const agents =
    "primary: { plugins: { f: { package: file } }, subagents: { a: { plugins: { f: { package: file } } } } }";
  await writeFile(join(home, "p/project.yaml"), agents);
  const { resolved } = await loadProject({ dir: join(home, "p"), home, files, env: () => null });
  assert.deepEqual(resolved.warnings.map(({ code }) => code), ["manifest.builtin_name"]);
});
