import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { stat, symlink, utimes } from "node:fs/promises";
import { createServer } from "node:net";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

const { files } = await detectRuntime();
const missing = { code: "ENOENT" };

test("a written file reads back as text or bytes, and is private at first", async (t) => {
  const path = `${await scratchDir(t)}/a`;
  await files.write(path, "é");
  assert.equal(await files.readText(path), "é");
  assert.deepEqual([...await files.readBytes(path)], [0xc3, 0xa9]);
  assert.equal((await files.info(path))?.mode, 0o600);
  await files.write(path, new Uint8Array([0, 255]));
  assert.deepEqual([...await files.readBytes(path)], [0, 255]);
});

test("write() creates a file with the mode it is given", async (t) => {
  const path = `${await scratchDir(t)}/a`;
  await files.write(path, "", 0o400);
  assert.equal((await files.info(path))?.mode, 0o400);
});

test("readHead() gives the first bytes, fewer when the file is shorter", async (t) => {
  const path = `${await scratchDir(t)}/a`;
  await files.write(path, "#!/bin/sh");
  assert.equal(new TextDecoder().decode(await files.readHead(path, 2)), "#!");
  assert.equal(new TextDecoder().decode(await files.readHead(path, 100)), "#!/bin/sh");
});

test("readTail() gives the last bytes, fewer when the file is shorter", async (t) => {
  const path = `${await scratchDir(t)}/a`;
  await files.write(path, "one\ntwo\n");
  assert.equal(new TextDecoder().decode(await files.readTail(path, 4)), "two\n");
  assert.equal(new TextDecoder().decode(await files.readTail(path, 100)), "one\ntwo\n");
});

test("readRange() gives bytes from within a file, none behind its end", async (t) => {
  const path = `${await scratchDir(t)}/a`;
  await files.write(path, "one\ntwo\n");
  const text = async (from: number, count: number) =>
    new TextDecoder().decode(await files.readRange(path, from, count));
  assert.deepEqual([await text(2, 4), await text(6, 100), await text(9, 5)], ["e\ntw", "o\n", ""]);
  await assert.rejects(files.readRange(`${path}/none`, 0, 1));
});

test("freeBytes() gives the space that is left on a disk, and null where there is no such path", async (t) => {
  const dir = await scratchDir(t);
  const free = await files.freeBytes(dir);
  assert.ok(free !== null && free > 0 && Number.isSafeInteger(free), `${free}`);
  assert.equal(await files.freeBytes(`${dir}/missing`), null);
});

test("truncate() keeps the first bytes of a file", async (t) => {
  const path = `${await scratchDir(t)}/a`;
  await files.write(path, "one\ntwo\n");
  await files.truncate(path, 4);
  assert.equal(await files.readText(path), "one\n");
});

test("append() adds to a file and makes it private when missing", async (t) => {
  const path = `${await scratchDir(t)}/a`;
  await files.append(path, "1\n");
  await files.append(path, "2\n");
  assert.equal(await files.readText(path), "1\n2\n");
  assert.equal((await files.info(path))?.mode, 0o600);
});

test("rename() puts one file over another in one step", async (t) => {
  const dir = await scratchDir(t);
  await files.write(`${dir}/old`, "old");
  await files.write(`${dir}/new`, "new");
  const moved = await files.info(`${dir}/new`);
  await files.rename(`${dir}/new`, `${dir}/old`);
  assert.deepEqual(await files.list(dir), ["old"]);
  assert.equal((await files.info(`${dir}/old`))?.ino, moved?.ino);
});

test("makeDir() fails where nothing can be made, also in /proc", async () => {
  await assert.rejects(files.makeDir("/proc/nowhere/below", { recursive: true }));
  await assert.rejects(files.makeDir("/dev/null/below", { recursive: true }));
});

test("makeDir() refuses an existing folder unless recursive, and sets the mode", async (t) => {
  const dir = await scratchDir(t);
  await files.makeDir(`${dir}/a`, { mode: 0o700 });
  assert.equal((await files.info(`${dir}/a`))?.mode, 0o700);
  await assert.rejects(files.makeDir(`${dir}/a`), { code: "EEXIST" });
  await assert.rejects(files.makeDir(`${dir}/b/c`), missing);
  await files.makeDir(`${dir}/b/c`, { recursive: true });
  await files.makeDir(`${dir}/b/c`, { recursive: true });
  assert.deepEqual(await files.list(dir), ["a", "b"]);
});

test("makeTempDir() makes a new private folder each time", async (t) => {
  const dir = await scratchDir(t);
  const [one, two] = [await files.makeTempDir(`${dir}/x-`), await files.makeTempDir(`${dir}/x-`)];
  assert.notEqual(one, two);
  assert.ok(one.startsWith(`${dir}/x-`));
  assert.equal((await files.info(one))?.mode, 0o700);
});

test("removeDir() takes an empty folder and no other, and minds no missing path", async (t) => {
  const dir = await scratchDir(t);
  await files.makeDir(`${dir}/a/b`, { recursive: true });
  await assert.rejects(files.removeDir(`${dir}/a`), { code: "ENOTEMPTY" });
  await files.removeDir(`${dir}/a/b`);
  await files.removeDir(`${dir}/a/b`);
  assert.deepEqual(await files.list(`${dir}/a`), []);
});

test("remove() takes a whole folder, takes a link but not its target, and minds no missing path", async (t) => {
  const dir = await scratchDir(t);
  await files.makeDir(`${dir}/a/b`, { recursive: true });
  await files.write(`${dir}/kept`, "");
  await symlink(`${dir}/kept`, `${dir}/a/link`);
  await files.remove(`${dir}/a`);
  await files.remove(`${dir}/a`);
  assert.deepEqual(await files.list(dir), ["kept"]);
});

test("info() returns the kind of each entry without following links; target() follows them", async (t) => {
  const dir = await scratchDir(t);
  await files.write(`${dir}/file`, "abc");
  await symlink("file", `${dir}/link`);
  await symlink("nowhere", `${dir}/dangling`);
  assert.equal(spawnSync("mkfifo", [`${dir}/fifo`]).status, 0);
  const kinds = async (ask: typeof files.info): Promise<unknown[]> =>
    await Promise.all(
      ["file", "link", "dangling", "fifo", ".", "none", "file/x"].map(async (name) =>
        (await ask(`${dir}/${name}`))?.kind ?? null
      ),
    );
  assert.deepEqual(await kinds(files.info), ["file", "symlink", "symlink", "other", "directory", null, null]);
  assert.deepEqual(await kinds(files.target), ["file", "file", null, "other", "directory", null, null]);
  const [info, target] = [await files.info(`${dir}/file`), await files.target(`${dir}/link`)];
  assert.deepEqual(info, target);
  assert.equal(info?.size, 3);
});

test("info() gives the bytes that a file takes, without its holes; usedBytes() those of a whole file system", async (t) => {
  const dir = await scratchDir(t);
  await files.write(`${dir}/whole`, "x".repeat(1 << 20));
  await files.write(`${dir}/holes`, "");
  await files.truncate(`${dir}/holes`, 1 << 20);
  await files.sync(`${dir}/whole`);
  const taken = async (name: string): Promise<number> => (await files.info(`${dir}/${name}`))?.allocatedBytes ?? -1;
  assert.deepEqual([await taken("whole") >= 1 << 20, await taken("holes")], [true, 0]);
  assert.ok((await files.usedBytes(dir) ?? 0) >= 1 << 20);
  assert.equal(await files.usedBytes(`${dir}/none`), null);
});

test("info() has a change time by the system's clock, which moves when somebody sets the time of modification back", async (t) => {
  const path = `${await scratchDir(t)}/a`;
  const startMs = Date.now();
  await files.write(path, "a");
  const { atimeMs, mtimeMs } = await stat(path);
  const before = (await files.info(path))!;
  // Two seconds: one is cut off by some runtimes, and a file system's clock may tick as slowly.
  assert.ok(before.changedMs > startMs - 2_000 && before.changedMs <= Date.now());
  const after = await until(async () => {
    await files.write(path, "b");
    await utimes(path, atimeMs / 1000, mtimeMs / 1000);
    const info = (await files.info(path))!;
    return info.changedMs > before.changedMs && info;
  }, "the next tick of the file system's clock");
  assert.equal(Math.trunc((after as typeof before).modifiedMs), Math.trunc(before.modifiedMs));
});

test("fileSystem() gives the kernel's number for the kind of a file system, and null where there is none", async (t) => {
  assert.deepEqual(await Promise.all(["/proc", `${await scratchDir(t)}/none`].map(files.fileSystem)), [0x9fa0, null]);
});

test("info() shows setuid and who may write", async () => {
  const tmp = await files.info("/tmp");
  assert.equal(tmp?.mode, 0o1777);
  assert.equal(tmp?.uid, 0);
});

test("target() reaches through the root of another process", async () => {
  const outside = await files.target("/usr/lib");
  const through = await files.target("/proc/self/root/usr/lib");
  assert.deepEqual([through?.dev, through?.ino], [outside?.dev, outside?.ino]);
});

test("links are read as text or resolved whole", async (t) => {
  const dir = await scratchDir(t);
  await files.makeDir(`${dir}/real`);
  await symlink("real", `${dir}/link`);
  assert.equal(await files.readLink(`${dir}/link`), "real");
  assert.equal(await files.realPath(`${dir}/link/.`), `${dir}/real`);
});

test("a missing path rejects with ENOENT in every reader", async (t) => {
  const path = `${await scratchDir(t)}/none`;
  await assert.rejects(files.readText(path), missing);
  await assert.rejects(files.readBytes(path), missing);
  await assert.rejects(files.readHead(path, 1), missing);
  await assert.rejects(files.list(path), missing);
  await assert.rejects(files.realPath(path), missing);
  await assert.rejects(files.readLink(path), missing);
  await assert.rejects(files.rename(path, `${path}2`), missing);
});

test("findSocket() finds a unix socket at or below a path, and follows no link to one", async (t) => {
  const dir = await scratchDir(t);
  await files.makeDir(`${dir}/a/b`, { recursive: true });
  await files.write(`${dir}/a/file`, "");
  await symlink(dir, `${dir}/a/loop`);
  assert.equal(await files.findSocket(dir), null);
  assert.equal(await files.findSocket(`${dir}/absent`), null);
  const server = createServer().listen(`${dir}/a/b/s`);
  await once(server, "listening");
  t.after(() => void server.close());
  for (const path of [dir, `${dir}/a/b`, `${dir}/a/b/s`]) assert.equal(await files.findSocket(path), `${dir}/a/b/s`);
  assert.equal(await files.findSocket(`${dir}/a/loop`), null);
});

test("makeLink() and setMode() make links and set bits", async (t) => {
  const dir = await scratchDir(t);
  await files.write(`${dir}/a`, "a");
  await files.makeLink(`${dir}/link`, "a");
  assert.equal(await files.readLink(`${dir}/link`), "a");
  await assert.rejects(files.makeLink(`${dir}/link`, "b"), { code: "EEXIST" });
  await files.setMode(`${dir}/a`, 0o444);
  assert.equal((await files.info(`${dir}/a`))?.mode, 0o444);
});

test("digest() and copyFile() read regular files to their end, whatever their size", async (t) => {
  const dir = await scratchDir(t);
  const large = new Uint8Array(700_001).fill(7);
  for (const content of ["", "abc", large]) {
    const size = typeof content === "string" ? content.length : content.length;
    await files.write(`${dir}/a`, content);
    const sha256 = createHash("sha256").update(content).digest("hex");
    const expected = { bytes: size, sha256, file: await files.info(`${dir}/a`) };
    assert.deepEqual(await files.digest(`${dir}/a`, { maxBytes: size }), expected);
    assert.deepEqual(await files.copyFile(`${dir}/a`, `${dir}/b`, { maxBytes: size, mode: 0o444 }), expected);
    assert.deepEqual([...await files.readBytes(`${dir}/b`)].length, size);
    assert.equal((await files.info(`${dir}/b`))?.mode, 0o444);
    await files.remove(`${dir}/b`);
  }
  await assert.rejects(files.digest(`${dir}/a`, { maxBytes: 700_000 }), { code: "EFBIG" });
});

test("digest() and copyFile() follow no link, wait for no pipe and write over nothing", async (t) => {
  const dir = await scratchDir(t);
  await files.write(`${dir}/a`, "a");
  await files.makeLink(`${dir}/link`, "a");
  spawnSync("mkfifo", [`${dir}/pipe`]);
  const some = { maxBytes: 10, mode: 0o600 };
  await assert.rejects(files.digest(`${dir}/link`, some), { code: "ELOOP" });
  await assert.rejects(files.digest(`${dir}/pipe`, some), { code: "EINVAL" });
  await assert.rejects(files.digest(dir, some), (error: { code: string }) => /EINVAL|EISDIR/.test(error.code));
  await assert.rejects(files.digest(`${dir}/none`, some), missing);
  await assert.rejects(files.copyFile(`${dir}/a`, `${dir}/link`, some), { code: "EEXIST" });
});

test("sync() takes a file and a folder", async (t) => {
  const dir = await scratchDir(t);
  await files.write(`${dir}/a`, "a");
  await files.sync(`${dir}/a`);
  await files.sync(dir);
});
