import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { symlink } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import type { MachineFacts } from "../../../src/core/cage/cage_plan.ts";
import { gatherFacts } from "../../../src/core/cage/gather_facts.ts";
import { placesIn, requestOf } from "../../support/cage_requests.ts";
import { requireOrSkip } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const runtime = await detectRuntime();
const { files } = runtime;

async function ground(t: TestContext): Promise<{
  dir: string;
  facts(...capabilities: string[]): Promise<MachineFacts>;
  mounts(...capabilities: string[]): Promise<string[]>;
}> {
  const dir = await scratchDir(t);
  const places = await placesIn(dir, runtime);
  const facts = (...capabilities: string[]): Promise<MachineFacts> =>
    gatherFacts(requestOf({ capabilities }, places), runtime);
  const mounts = async (...capabilities: string[]): Promise<string[]> =>
    (await facts(...capabilities)).grants.map(({ access, path }) => `${access} ${path.slice(dir.length)}`);
  return { dir, facts, mounts };
}

const bwrap = async (t: TestContext): Promise<boolean> =>
  await requireOrSkip(t, "bubblewrap", async () => await files.info("/usr/bin/bwrap") !== null, "install bubblewrap");

test("a granted path is known by its device and inode", async (t) => {
  if (!await bwrap(t)) return;
  const { dir, facts } = await ground(t);
  const { grants: [grant], installDir } = await facts(`read:fs:${dir}/project`);
  const [project, plugin] = [await files.info(`${dir}/project`), await files.info(`${dir}/plugin`)];
  assert.deepEqual([grant?.dev, grant?.ino], [project?.dev, project?.ino]);
  assert.deepEqual([installDir.path, installDir.dev, installDir.ino], [`${dir}/plugin`, plugin?.dev, plugin?.ino]);
});

test("missing write targets under config:/ and project:/ are made, private, and nothing else is", async (t) => {
  if (!await bwrap(t)) return;
  const { dir, mounts } = await ground(t);
  assert.deepEqual(await mounts("write:fs:config:/a/b", "write:fs:project:/c", "write:fs:config:/a/d"), [
    ...["write /home/files/a/b", "write /home/files/a/d", "write /project/c"],
  ]);
  for (const path of ["home/files", "home/files/a", "home/files/a/b", "project/c"]) {
    assert.equal((await files.info(`${dir}/${path}`))?.mode, 0o700, path);
  }
  for (const asked of ["read:fs:config:/x", "read:fs:project:/x", `write:fs:${dir}/x`]) {
    await assert.rejects(mounts(asked), { code: "capability.path_missing" }, asked);
  }
  assert.equal(await files.info(`${dir}/project/x`), null);
});

test("a write target that is a file stays one", async (t) => {
  if (!await bwrap(t)) return;
  const { dir, mounts } = await ground(t);
  await files.write(`${dir}/project/list.txt`, "kept");
  assert.deepEqual(await mounts("write:fs:project:/list.txt"), ["write /project/list.txt"]);
  assert.equal(await files.readText(`${dir}/project/list.txt`), "kept");
  await assert.rejects(mounts("write:fs:project:/list.txt/below"), { code: "capability.path_missing" });
});

test("a link on the way to a write target is refused, and nothing is made behind it", async (t) => {
  if (!await bwrap(t)) return;
  const { dir, mounts } = await ground(t);
  await files.makeDir(`${dir}/elsewhere`);
  await symlink(`${dir}/elsewhere`, `${dir}/project/out`);
  await assert.rejects(mounts("write:fs:project:/out/made"), { code: "capability.symlink_escape" });
  await assert.rejects(mounts("write:fs:project:/out"), { code: "capability.symlink_escape" });
  assert.deepEqual(await files.list(`${dir}/elsewhere`), []);
  await symlink(`${dir}/nowhere`, `${dir}/project/dangling`);
  await assert.rejects(mounts("write:fs:project:/dangling"), { code: "capability.symlink_escape" });
  assert.equal(await files.info(`${dir}/nowhere`), null);
});

test("nothing is made for a manifest that also asks for what it may never have", async (t) => {
  if (!await bwrap(t)) return;
  const { dir, mounts } = await ground(t);
  await assert.rejects(mounts("write:fs:config:/mine", "read:fs:/proc"), { code: "capability.path_forbidden" });
  assert.equal(await files.info(`${dir}/home/files`), null);
});

test("K-043 a link is refused wherever it stands in the path", async (t) => {
  if (!await bwrap(t)) return;
  const { dir, mounts } = await ground(t);
  await files.makeDir(`${dir}/real/inner`, { recursive: true });
  await symlink("real", `${dir}/link`);
  await symlink("/etc", `${dir}/real/etc`);
  for (const path of ["link", "link/inner", "real/etc", "real/etc/ssl"]) {
    await assert.rejects(mounts(`read:fs:${dir}/${path}`), { code: "capability.symlink_escape" }, path);
  }
  assert.deepEqual(await mounts(`read:fs:${dir}/real/inner`), ["read /real/inner"]);
});

test("a folder swapped for a link between two starts is refused at the second", async (t) => {
  if (!await bwrap(t)) return;
  const { dir, mounts } = await ground(t);
  assert.deepEqual(await mounts("write:fs:config:/a"), ["write /home/files/a"]);
  await files.remove(`${dir}/home/files/a`);
  await symlink("/etc", `${dir}/home/files/a`);
  await assert.rejects(mounts("write:fs:config:/a"), { code: "capability.symlink_escape" });
});

test("pipes, sockets and devices are refused", async (t) => {
  if (!await bwrap(t)) return;
  const { dir, mounts } = await ground(t);
  assert.equal(spawnSync("mkfifo", [`${dir}/fifo`]).status, 0);
  await assert.rejects(mounts(`read:fs:${dir}/fifo`), { code: "capability.special_file" });
});

test("home, project and plugin reached over links are taken for where they really are", async (t) => {
  if (!await bwrap(t)) return;
  const { dir } = await ground(t);
  for (const name of ["home", "project", "plugin"]) await symlink(name, `${dir}/to-${name}`);
  const places = { installDir: `${dir}/to-plugin`, home: `${dir}/to-home`, projectDir: `${dir}/to-project` };
  const asked = { capabilities: ["write:fs:project:/x", "write:fs:config:/y"] };
  const { grants, installDir } = await gatherFacts(requestOf(asked, places), runtime);
  assert.deepEqual(grants.map(({ path }) => path), [`${dir}/home/files/y`, `${dir}/project/x`]);
  assert.equal(installDir.path, `${dir}/plugin`);
  const around = requestOf({ capabilities: [`write:fs:${dir}/plugin`] }, places);
  await assert.rejects(gatherFacts(around, runtime), { code: "capability.path_forbidden" });
});

test("a plugin's folder that holds the host's files, or is the system's, is refused", async (t) => {
  if (!await bwrap(t)) return;
  const { dir } = await ground(t);
  for (const installDir of [dir, `${dir}/home`, `${dir}/home/run`, "/", "/etc", "/proc", "/usr/bin", "/dev/null"]) {
    await files.makeDir(`${dir}/home/run`, { recursive: true });
    const places = { installDir, home: `${dir}/home`, projectDir: null };
    await assert.rejects(
      gatherFacts(requestOf({}, places), runtime),
      { code: "capability.path_forbidden" },
      installDir,
    );
  }
  const gone = { installDir: `${dir}/gone`, home: `${dir}/home`, projectDir: null };
  await assert.rejects(gatherFacts(requestOf({}, gone), runtime), { code: "cage.path_vanished" });
});

test("a plugin in the store reads its own folder, and no other plugin's", async (t) => {
  if (!await bwrap(t)) return;
  const { dir } = await ground(t);
  await files.makeDir(`${dir}/home/plugins/mine/data`, { recursive: true });
  await files.makeDir(`${dir}/home/plugins/other`, { recursive: true });
  const places = { installDir: `${dir}/home/plugins/mine`, home: `${dir}/home`, projectDir: null };
  const facts = (...capabilities: string[]): Promise<MachineFacts> =>
    gatherFacts(requestOf({ capabilities }, places), runtime);
  assert.deepEqual((await facts("read:fs:plugin:/data")).grants, []);
  await assert.rejects(facts(`read:fs:${dir}/home/plugins/other`), { code: "capability.path_forbidden" });
  await assert.rejects(facts("write:fs:plugin:/data"), { code: "capability.path_forbidden" });
});
