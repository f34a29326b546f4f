import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../../src/adapters/default.ts";
import { gitSeals, holdGitPlace } from "../../../../src/hooks/sources/command/git_seal.ts";
import { canCage, guard, hookRepo } from "../../../support/hook_repo.ts";
import { scratchDir } from "../../../support/scratch_dir.ts";

const { files } = await detectRuntime();

/** A project `p` with a folder `main.git` beside it. */
async function project(t: TestContext): Promise<{ dir: string; outside: string }> {
  const scratch = await scratchDir(t);
  const [dir, outside] = [`${scratch}/p`, `${scratch}/main.git`];
  await Promise.all([mkdir(`${dir}/deep`, { recursive: true }), mkdir(outside)]);
  return { dir, outside };
}

const sealed = async (dir: string): Promise<string[]> => {
  return (await gitSeals(dir, files)).map(({ source, dest }) => {
    assert.equal(source, dest);
    return source.slice(dir.length + 1);
  });
};
const isUnsealed = { code: "hook.git_unsealed", hint: /git_writable = true/ };

test("B-018 a git folder is sealed, and where there is none there is nothing to seal", async (t) => {
  const { dir } = await project(t);
  assert.deepEqual(await sealed(dir), []);
  await mkdir(`${dir}/.git`);
  assert.deepEqual(await sealed(dir), [".git"]);
});

test("B-018 while hooks run, an empty .git stands where there is none, and the last of them takes it away", async (t) => {
  const { dir } = await project(t);
  const names = async (): Promise<string[]> => (await readdir(dir)).filter((name) => name === ".git");
  const [first, second] = await Promise.all([holdGitPlace(dir, files), holdGitPlace(dir, files)]);
  assert.deepEqual(await sealed(dir), [".git"]);
  await first();
  assert.deepEqual(await names(), [".git"]);
  await second();
  assert.deepEqual(await names(), []);
});

test("B-018 a run that begins while the last one ends looks for .git when that is done, and has its own", async (t) => {
  const { dir } = await project(t);
  const log: string[] = [];
  const slow: typeof files = {
    ...files,
    info: (path) => (log.push("look"), files.info(path)),
    removeDir: async (path) => {
      await new Promise(setImmediate);
      await files.removeDir(path);
      log.push("removed");
    },
  };
  const last = await holdGitPlace(dir, slow);
  const [, letGo] = await Promise.all([last(), holdGitPlace(dir, slow)]);
  assert.deepEqual(log, ["look", "removed", "look"]);
  assert.deepEqual(await readdir(`${dir}/.git`), []);
  await letGo();
});

test("B-018 a repository that somebody makes there meanwhile stays, and so does any that was there before", async (t) => {
  const { dir } = await project(t);
  const letGo = await holdGitPlace(dir, files);
  await writeFile(`${dir}/.git/HEAD`, "ref: refs/heads/main\n");
  await letGo();
  assert.deepEqual(await readdir(`${dir}/.git`), ["HEAD"]);
  await (await holdGitPlace(dir, files))();
  assert.deepEqual(await readdir(`${dir}/.git`), ["HEAD"]);
  const other = await project(t);
  await writeFile(`${other.dir}/.git`, "gitdir: ../main.git\n");
  await (await holdGitPlace(other.dir, files))();
  assert.equal(await readFile(`${other.dir}/.git`, "utf8"), "gitdir: ../main.git\n");
});

test("B-018 an empty .git that a host left behind is taken away by the next run", async (t) => {
  const { dir } = await project(t);
  await mkdir(`${dir}/.git`);
  await (await holdGitPlace(dir, files))();
  assert.deepEqual(await readdir(dir), ["deep"]);
});

test("B-018 a hook cannot make a .git where there was none, unless config.toml lets hooks write there", async (t) => {
  if (!await canCage(t)) return;
  const script = "mkdir -p .git/hooks; echo x > .git/config; rmdir .git; mv .git away; echo $? > moved";
  const repo = await hookRepo(t, { ".github/hooks/guard.json": guard(`(${script}) 2>/dev/null; true`) });
  await repo.trust();
  await repo.fire();
  assert.deepEqual((await readdir(repo.dir)).sort(), [".github", "moved"]);
  assert.equal(await readFile(`${repo.dir}/moved`, "utf8"), "1\n");
  await writeFile(`${repo.home}/config.toml`, "[hooks]\ngit_writable = true\n");
  await repo.fire();
  assert.deepEqual((await readdir(repo.dir)).sort(), [".github", "away", "moved"]);
});

test("B-018 a .git that is a file is sealed, with the folders it leads to within the project", async (t) => {
  const { dir, outside } = await project(t);
  await mkdir(`${dir}/.bare`);
  await mkdir(`${dir}/.shared`);
  const after = async (text: string, common?: string): Promise<string[]> => {
    await writeFile(`${dir}/.git`, text);
    if (common !== undefined) await writeFile(`${dir}/.bare/commondir`, common);
    return await sealed(dir);
  };
  assert.deepEqual(await after("gitdir: ./.bare\n"), [".git", ".bare"]);
  assert.deepEqual(await after(`gitdir: ${dir}/.bare\n`, "../.shared\n"), [".git", ".bare", ".shared"]);
  assert.deepEqual(await after("gitdir: .bare", `${outside}\n`), [".git", ".bare"]);
  assert.deepEqual(await after(`gitdir: ${outside}\n`), [".git"]);
  assert.deepEqual(await after("gitdir: /nowhere/at/all\n"), [".git"]);
  assert.deepEqual(await after("no such thing\n"), [".git"]);
});

test("B-018 a git folder that a hook could replace stops it: a link, a place deep in the project, one that is not there", async (t) => {
  const { dir, outside } = await project(t);
  for (
    const target of [
      "deep/git",
      "deep/../deep",
      "deep/../../main.git",
      ".missing",
      ".",
      "../p/deep/git",
      "link/x",
      "link",
      `${outside}/back/git`,
    ]
  ) {
    await writeFile(`${dir}/.git`, `gitdir: ${target}\n`);
    if (target === "link/x") { // And "link" after it.
      await mkdir(`${outside}/x`);
      await symlink(outside, `${dir}/link`);
    }
    if (target.endsWith("back/git")) {
      await mkdir(`${dir}/deep/git`);
      await symlink(`${dir}/deep`, `${outside}/back`);
    }
    await assert.rejects(gitSeals(dir, files), isUnsealed, target);
  }
  const linked = await project(t);
  await symlink(linked.outside, `${linked.dir}/.git`);
  await assert.rejects(gitSeals(linked.dir, files), { ...isUnsealed, message: /it is a link/ });
});

test("B-018 a hook cannot change a git folder that a file leads to, nor move it away", async (t) => {
  if (!await canCage(t)) return;
  const script = "(echo x > .bare/config) 2>/dev/null; mv .bare away; rm -f .git; mv .git away; ls -a > seen";
  const repo = await hookRepo(t, { ".github/hooks/guard.json": guard(`${script}; true`) });
  await repo.write(".bare/config", "[core]\n");
  await repo.write(".git", "gitdir: ./.bare\n");
  await repo.trust();
  await repo.fire();
  const seen = (await readFile(`${repo.dir}/seen`, "utf8")).trim().split("\n");
  assert.ok(seen.includes(".bare") && seen.includes(".git") && !seen.includes("away"), seen.join(" "));
  assert.equal(await readFile(`${repo.dir}/.bare/config`, "utf8"), "[core]\n");
  assert.equal(await readFile(`${repo.dir}/.git`, "utf8"), "gitdir: ./.bare\n");
});

test("B-018 no hook runs where .git is a link, unless config.toml lets hooks write there", async (t) => {
  if (!await canCage(t)) return;
  const repo = await hookRepo(t, { ".github/hooks/guard.json": guard("echo ran > ran") });
  await repo.write("kept/config", "[core]\n");
  await symlink("kept", `${repo.dir}/.git`);
  await repo.trust();
  await assert.rejects(repo.fire(), isUnsealed);
  await writeFile(`${repo.home}/config.toml`, "[hooks]\ngit_writable = true\n");
  await repo.fire();
  assert.equal(await readFile(`${repo.dir}/ran`, "utf8"), "ran\n");
});
