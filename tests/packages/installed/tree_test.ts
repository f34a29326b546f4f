import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { chmod, link, mkdir, readFile, rename, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { copyTree, hashTree, linkProblem, removeTree, TREE_LIMITS, verifyTree } from "../../../src/core/files/tree.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const { files } = await detectRuntime();
const limits = TREE_LIMITS;

async function sample(dir: string): Promise<string> {
  await mkdir(join(dir, "src/deep"), { recursive: true });
  await mkdir(join(dir, "empty"));
  await writeFile(join(dir, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
  await writeFile(join(dir, "src/deep/data.txt"), "data");
  await symlink("../run.sh", join(dir, "src/link"));
  return dir;
}

const hashOf = async (dir: string): Promise<string> => (await hashTree(dir, files)).hash;

test("a tree has one hash, wherever it stands and in whatever order it was made", async (t) => {
  const root = await scratchDir(t);
  const first = await sample(join(root, "a"));
  await mkdir(join(root, "b/empty"), { recursive: true });
  await mkdir(join(root, "b/src/deep"), { recursive: true });
  await symlink("../run.sh", join(root, "b/src/link"));
  await writeFile(join(root, "b/src/deep/data.txt"), "data", { mode: 0o600 });
  await writeFile(join(root, "b/run.sh"), "#!/bin/sh\n", { mode: 0o700 });
  assert.match(await hashOf(first), /^sha256:[0-9a-f]{64}$/);
  assert.equal(await hashOf(join(root, "b")), await hashOf(first));
});

test("any change of a tree changes its hash", async (t) => {
  const root = await scratchDir(t);
  const changes: Record<string, (dir: string) => Promise<unknown>> = {
    content: (dir) => writeFile(join(dir, "src/deep/data.txt"), "Data"),
    name: (dir) => rename(join(dir, "run.sh"), join(dir, "run2.sh")),
    "who may run it": (dir) => chmod(join(dir, "run.sh"), 0o644),
    "a new file": (dir) => writeFile(join(dir, "new"), ""),
    "a new empty folder": (dir) => mkdir(join(dir, "src/new")),
    "where a link leads": (dir) =>
      files.remove(join(dir, "src/link")).then(() => symlink("../empty", join(dir, "src/link"))),
    "a file for a folder": (dir) => files.remove(join(dir, "empty")).then(() => writeFile(join(dir, "empty"), "")),
  };
  const seen = new Set([await hashOf(await sample(join(root, "original")))]);
  for (const [index, change] of Object.values(changes).entries()) {
    const dir = await sample(join(root, String(index)));
    await change(dir);
    seen.add(await hashOf(dir));
  }
  assert.equal(seen.size, Object.keys(changes).length + 1);
});

test("a name cannot pass for two: names are hashed apart from the contents", async (t) => {
  const root = await scratchDir(t);
  for (const [dir, name] of [["a", 'x","f'], ["b", "x\n"], ["c", "x"]]) {
    await mkdir(join(root, dir!));
    await writeFile(join(root, dir!, name!), "");
  }
  assert.equal(new Set([await hashOf(`${root}/a`), await hashOf(`${root}/b`), await hashOf(`${root}/c`)]).size, 3);
});

test("the history of a checkout is not part of the plugin", async (t) => {
  const root = await scratchDir(t);
  const before = await hashOf(await sample(join(root, "a")));
  await mkdir(join(root, "a/.git"));
  await writeFile(join(root, "a/.git/config"), "x");
  assert.equal(await hashOf(join(root, "a")), before);
  await copyTree(join(root, "a"), join(root, "b"), { files, limits });
  assert.equal(await files.info(join(root, "b/.git")), null);
});

test("a copy has the same hash, is read-only, and keeps no setuid bit and no shared file", async (t) => {
  const root = await scratchDir(t);
  const dir = await sample(join(root, "a"));
  await chmod(join(dir, "run.sh"), 0o6755);
  await link(join(dir, "src/deep/data.txt"), join(root, "elsewhere"));
  const copied = await copyTree(dir, join(root, "b"), { files, limits });
  assert.deepEqual(copied, await hashTree(dir, files));
  assert.deepEqual(await hashTree(join(root, "b"), files), copied);
  const mode = async (path: string): Promise<number> => (await stat(join(root, "b", path))).mode & 0o7777;
  assert.deepEqual([await mode("."), await mode("src/deep")], [0o555, 0o555]);
  assert.deepEqual([await mode("run.sh"), await mode("src/deep/data.txt")], [0o555, 0o444]);
  await writeFile(join(root, "elsewhere"), "changed");
  assert.equal(await readFile(join(root, "b/src/deep/data.txt"), "utf8"), "data");
  await removeTree(join(root, "b"), files);
  assert.equal(await files.info(join(root, "b")), null);
  await removeTree(join(root, "b"), files);
});

test("a link that leads out is refused, however it is written", async (t) => {
  for (
    const [path, target] of [
      ["l", "/etc/passwd"],
      ["l", ".."],
      ["l", "../x"],
      ["a/l", "../../x"],
      ["a/l", "./../../x"],
      ["l", "a/../../x"],
      ["l", "a/.."], // With "a" a link to ".", this is the folder above.
    ] as const
  ) assert.notEqual(linkProblem(path, target), null, `${path} → ${target}`);
  for (
    const [path, target] of [["l", "x"], ["a/l", "../x"], ["a/b/l", "../../x/y"], ["a/l", ".."], ["l", "."]] as const
  ) {
    assert.equal(linkProblem(path, target), null, `${path} → ${target}`);
  }
  const dir = await sample(join(await scratchDir(t), "a"));
  await symlink("../../secret", join(dir, "src/out"));
  await assert.rejects(hashTree(dir, files), {
    code: "install.link_outside",
    data: { dir, path: "src/out", target: "../../secret" },
  });
});

test("links that stay inside by the rule do so on the disk, whatever they are chained to", async (t) => {
  const dir = join(await scratchDir(t), "a");
  await mkdir(join(dir, "s/t"), { recursive: true });
  for (
    const [path, target] of [["up", "s/t"], ["s/root", ".."], ["s/t/x", "../root/up"], ["y", "s/root/s/t/x"]] as const
  ) {
    assert.equal(linkProblem(path, target), null);
    await symlink(target, join(dir, path));
    assert.ok((await files.realPath(join(dir, path))).startsWith(dir), path);
  }
});

test("pipes and sockets are refused, and nothing waits for them", async (t) => {
  const root = await scratchDir(t);
  await mkdir(join(root, "pipe"));
  spawnSync("mkfifo", [join(root, "pipe/p")]);
  await assert.rejects(hashTree(join(root, "pipe"), files), { code: "install.special_file" });
  await mkdir(join(root, "socket"));
  const server = createServer().listen(join(root, "socket/s"));
  await new Promise((resolve) => server.once("listening", resolve));
  await assert.rejects(hashTree(join(root, "socket"), files), { code: "install.special_file" });
  await new Promise((resolve) => server.close(resolve));
});

test("2 GB are refused before a byte is read, and so are too many files; a raised limit lets them in", async (t) => {
  const dir = join(await scratchDir(t), "a");
  await mkdir(dir);
  await writeFile(join(dir, "huge"), "");
  await truncate(join(dir, "huge"), 2 * 1024 ** 3); // It takes no room: nothing is written to it.
  const reading = { ...files, digest: () => assert.fail("a byte was read") };
  await assert.rejects(hashTree(dir, reading, limits), {
    code: "install.too_large",
    message: `The plugin in "${dir}" has more than 256 MB`,
  });
  await truncate(join(dir, "huge"), 2000);
  await assert.rejects(hashTree(dir, files, { maxBytes: 1999, maxEntries: 10 }), { code: "install.too_large" });
  await hashTree(dir, files, { maxBytes: 2000, maxEntries: 1 });
  await writeFile(join(dir, "second"), "");
  await assert.rejects(hashTree(dir, files, { maxBytes: 2000, maxEntries: 1 }), { code: "install.too_large" });
});

test("a file that grows while it is copied does not get past the limit", async (t) => {
  const root = await scratchDir(t);
  const dir = await sample(join(root, "a"));
  const growing = {
    ...files,
    async copyFile(...args: Parameters<typeof files.copyFile>) {
      await writeFile(args[0], "x".repeat(5000));
      return await files.copyFile(...args);
    },
  };
  const small = { files: growing, limits: { maxBytes: 1000, maxEntries: 100 } };
  await assert.rejects(copyTree(dir, join(root, "b"), small), { code: "install.changed" });
});

test("verifyTree() refuses a mode with more bits than install gives, and takes one with fewer", async (t) => {
  const root = await scratchDir(t);
  const dir = join(root, "b");
  const { hash } = await copyTree(await sample(join(root, "a")), dir, { files, limits });
  await verifyTree("notes", dir, hash, files);
  for (
    const [path, mode, given] of [
      ["src/deep/data.txt", 0o644, 0o444],
      ["src/deep/data.txt", 0o2444, 0o444],
      ["src/deep/data.txt", 0o445, 0o444],
      ["run.sh", 0o4555, 0o555],
      ["run.sh", 0o557, 0o500],
      ["src", 0o755, 0o555],
      ["src", 0o1555, 0o500],
      [".", 0o755, 0o555],
    ] as const
  ) {
    await chmod(join(dir, path), mode);
    const said = `[BLOCKED] The files of "notes" changed since it was installed: "${path}" has the mode`;
    await assert.rejects(verifyTree("notes", dir, hash, files), { message: `${said} 0${mode.toString(8)}` });
    await chmod(join(dir, path), given);
    await verifyTree("notes", dir, hash, files);
  }
});

test("verifyTree() takes the very tree and nothing else", async (t) => {
  const root = await scratchDir(t);
  const dir = join(root, "b");
  const { hash: pinned } = await copyTree(await sample(join(root, "a")), dir, { files, limits });
  await verifyTree("notes", dir, pinned, files);
  for (const path of [".", "run.sh"]) await chmod(join(dir, path), 0o700);
  await writeFile(join(dir, "run.sh"), "#!/bin/sh\nevil\n");
  await assert.rejects(
    verifyTree("notes", dir, pinned, files),
    (error: { code: string; data: unknown; hint: string }) => {
      assert.equal(error.code, "plugin.tampered");
      assert.match(error.hint, /kaged plugin uninstall notes/);
      return true;
    },
  );
  await assert.rejects(verifyTree("notes", `${dir}/none`, pinned, files), { code: "plugin.tampered" });
  spawnSync("mkfifo", [join(dir, "p")]);
  await assert.rejects(verifyTree("notes", dir, pinned, files), { code: "plugin.tampered" });
});
