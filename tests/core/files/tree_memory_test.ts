import assert from "node:assert/strict";
import { chmod, mkdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../../src/adapters/default.ts";
import { copyTree, hashTree, TREE_LIMITS, verifyTree } from "../../../src/core/files/tree.ts";
import { TreeMemory } from "../../../src/core/files/tree_memory.ts";
import type { FileInfo, Files } from "../../../src/core/ports/ports.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { until } from "../../support/until.ts";

const { files: real } = await detectRuntime();
const EXT4 = 0xef53;
/** Ten minutes from now: whatever the test has written is long settled. */
const later = { now: () => Date.now() + 600_000 };

/** The real files, on a file system that is known, and the names of those that were read. */
function counted(ports: Partial<Files> = {}): { files: Files; reads: string[] } {
  const reads: string[] = [];
  const files: Files = {
    ...real,
    fileSystem: () => Promise.resolve(EXT4),
    ...ports,
    digest: (path, options) => {
      reads.push(path.slice(path.lastIndexOf("/") + 1));
      return (ports.digest ?? real.digest)(path, options);
    },
  };
  return { files, reads };
}

async function sample(dir: string): Promise<string> {
  await mkdir(join(dir, "src"), { recursive: true });
  await writeFile(join(dir, "run.sh"), "#!/bin/sh\n", { mode: 0o755 });
  await writeFile(join(dir, "src/data.txt"), "data");
  await symlink("../run.sh", join(dir, "src/link"));
  return dir;
}

const bare = async (dir: string): Promise<string> => (await hashTree(dir, real)).hash;

/** Resolves once a file that is changed now has a later change time than those in `dir`, as the runtime reports it. */
async function nextTick(dir: string): Promise<void> {
  const probe = `${dir}.probe`;
  const first = Math.max(
    ...await Promise.all(
      ["run.sh", "src/data.txt"].map(async (name) => (await real.info(join(dir, name)))!.changedMs),
    ),
  );
  await until(async () => {
    await writeFile(probe, "");
    return (await real.info(probe))!.changedMs > first;
  }, "the next tick of the file system's clock");
}

/** Changes the content of a file and leaves its length and its time of modification. */
async function sameLooks(path: string, content: string): Promise<void> {
  const { atimeMs, mtimeMs, size } = await stat(path);
  await writeFile(path, content);
  await utimes(path, atimeMs / 1000, mtimeMs / 1000);
  const after = await stat(path);
  assert.deepEqual([after.size, Math.trunc(after.mtimeMs)], [size, Math.trunc(mtimeMs)]);
}

test("K-052 a tree that has not changed is read once, and its hash stays that of a tree without a memory", async (t) => {
  const dir = await sample(join(await scratchDir(t), "a"));
  const { files, reads } = counted();
  const memory = new TreeMemory({ files, clock: later });
  const first = await hashTree(dir, files, TREE_LIMITS, memory);
  assert.deepEqual([first.hash, reads], [await bare(dir), ["run.sh", "data.txt"]]);
  assert.deepEqual(await hashTree(dir, files, TREE_LIMITS, memory), first);
  assert.equal(reads.length, 2);
});

const changes: Readonly<Record<string, (dir: string) => Promise<unknown>>> = {
  "content of the same length, its time set back": (dir) => sameLooks(join(dir, "src/data.txt"), "DATA"),
  "a file put in the place of another": async (dir) => {
    await writeFile(`${dir}.new`, "DATA");
    const { atime, mtime } = await stat(join(dir, "src/data.txt"));
    await utimes(`${dir}.new`, atime, mtime);
    await rename(`${dir}.new`, join(dir, "src/data.txt"));
  },
  "a folder put in the place of another": async (dir) => {
    await rename(join(dir, "src"), `${dir}.old`);
    await mkdir(join(dir, "src"));
    await writeFile(join(dir, "src/data.txt"), "DATA");
    await symlink("../run.sh", join(dir, "src/link"));
  },
  "a new file": (dir) => writeFile(join(dir, "src/new"), ""),
  "a new empty folder": (dir) => mkdir(join(dir, "src/new")),
  "a removed file": (dir) => rm(join(dir, "src/data.txt")),
  "who may run it": (dir) => chmod(join(dir, "run.sh"), 0o644),
  "where a link leads": (dir) =>
    rm(join(dir, "src/link")).then(() => symlink("../src/data.txt", join(dir, "src/link"))),
};

test("K-052 every change of a tree that is known is noticed", async (t) => {
  const root = await scratchDir(t);
  const memory = new TreeMemory({ files: counted().files, clock: later });
  const dirs = await Promise.all(Object.keys(changes).map((_, at) => sample(join(root, String(at)))));
  const hash = async (dir: string) => (await hashTree(dir, real, TREE_LIMITS, memory)).hash;
  const before = await Promise.all(dirs.map(hash));
  await nextTick(dirs.at(-1)!);
  for (const [at, [what, change]] of Object.entries(changes).entries()) {
    await change(dirs[at]!);
    const after = await hash(dirs[at]!);
    assert.equal(after, await bare(dirs[at]!), what);
    assert.notEqual(after, before[at], what);
  }
});

test("K-052 a file that changed within the last minute is read each time: one tick of a clock may hold two changes", async (t) => {
  const dir = await sample(join(await scratchDir(t), "a"));
  const atMs = 1_000_000_000;
  // A clock that ticks once in the whole test.
  const still = (info: FileInfo | null) => info && { ...info, changedMs: atMs };
  const { files, reads } = counted({
    info: async (path) => still(await real.info(path)),
    digest: async (path, options) => {
      const digest = await real.digest(path, options);
      return { ...digest, file: still(digest.file)! };
    },
  });
  let nowMs = atMs - 1;
  const memory = new TreeMemory({ files, clock: { now: () => nowMs } });
  const hash = async () => (await hashTree(dir, files, TREE_LIMITS, memory)).hash;
  for (const [ms, content] of [[atMs - 1, "Data"], [atMs, "DATA"], [atMs + 59_999, "dATA"]] as const) {
    nowMs = ms;
    await hash();
    await sameLooks(join(dir, "src/data.txt"), content);
    assert.equal(await hash(), await bare(dir));
  }
  reads.length = 0;
  nowMs = atMs + 60_000;
  assert.deepEqual([await hash(), await hash(), reads.length], [await bare(dir), await bare(dir), 2]);
  nowMs = atMs; // Somebody sets the clock back.
  await hash();
  assert.equal(reads.length, 4);
});

test("K-052 what was read in a folder that stood there for a moment is not kept for the one that was listed", async (t) => {
  const root = await scratchDir(t);
  const [good, bad] = [await sample(join(root, "good")), await sample(join(root, "bad"))];
  await writeFile(join(bad, "src/data.txt"), "evil");
  let isExchanged = true;
  const { files } = counted({
    digest: (path, options) => real.digest(isExchanged ? path.replace(bad, good) : path, options),
  });
  const memory = new TreeMemory({ files, clock: later });
  assert.equal((await hashTree(bad, files, TREE_LIMITS, memory)).hash, await bare(good));
  isExchanged = false;
  assert.equal((await hashTree(bad, files, TREE_LIMITS, memory)).hash, await bare(bad));
});

test("K-052 nothing is kept where change times or inodes say nothing: other file systems, other devices, no inode", async (t) => {
  const dir = await sample(join(await scratchDir(t), "a"));
  const other = (fields: Partial<FileInfo>): Partial<Files> => ({
    info: async (path) => {
      const info = await real.info(path);
      return info && path.endsWith("data.txt") ? { ...info, ...fields } : info;
    },
    digest: async (path, options) => {
      const digest = await real.digest(path, options);
      return path.endsWith("data.txt") ? { ...digest, file: { ...digest.file, ...fields } } : digest;
    },
  });
  const [nfs, fuse, overlay, tmpfs] = [0x6969, 0x65735546, 0x794c7630, 0x01021994];
  const ports = [nfs, fuse, overlay, tmpfs, null].map((kind): Partial<Files> => ({
    fileSystem: () => Promise.resolve(kind),
  }));
  for (const port of [...ports, other({ dev: 1 }), other({ ino: 0 })]) {
    const { files, reads } = counted(port);
    const memory = new TreeMemory({ files, clock: later });
    for (let times = 0; times < 2; times++) await hashTree(dir, files, TREE_LIMITS, memory);
    assert.equal(reads.length, 4);
  }
});

test("K-052 a memory holds so many trees, and forgets the one that was not asked for the longest", async (t) => {
  const root = await scratchDir(t);
  const [a, b, c] = await Promise.all(["a", "b", "c"].map((name) => sample(join(root, name)))) as [
    string,
    string,
    string,
  ];
  const { files, reads } = counted();
  const memory = new TreeMemory({ files, clock: later }, 2);
  const isRead = async (dir: string): Promise<boolean> => {
    reads.length = 0;
    await hashTree(dir, files, TREE_LIMITS, memory);
    return reads.length > 0;
  };
  const found: boolean[] = [];
  for (const dir of [a, b, a, c, a, c, b, c, a]) found.push(await isRead(dir));
  assert.deepEqual(found, [true, true, false, true, false, false, true, false, true]);
});

test("K-052 modes of a known tree are compared each time, and a file that is added to it is found", async (t: TestContext) => {
  const root = await scratchDir(t);
  const dir = join(root, "b");
  const { files, reads } = counted();
  const { hash } = await copyTree(await sample(join(root, "a")), dir, { files, limits: TREE_LIMITS });
  const memory = new TreeMemory({ files, clock: later });
  const verify = () => verifyTree("notes", dir, hash, files, memory);
  await verify();
  for (const [path, mode, given] of [[".", 0o755, 0o555], ["src", 0o755, 0o555], ["run.sh", 0o4555, 0o555]] as const) {
    await chmod(join(dir, path), mode);
    await assert.rejects(verify(), { code: "plugin.tampered" });
    await chmod(join(dir, path), given);
    await verify();
  }
  reads.length = 0;
  await verify();
  assert.deepEqual(reads, []);
  await chmod(join(dir, "src"), 0o755);
  await writeFile(join(dir, "src/added"), "");
  await chmod(join(dir, "src"), 0o555);
  await assert.rejects(verify(), { code: "plugin.tampered" });
  assert.equal(await readFile(join(dir, "src/data.txt"), "utf8"), "data");
});
