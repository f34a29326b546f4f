/**
 * The file system through `node:fs`, which all three runtimes have.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { constants, type Stats } from "node:fs";
import * as fs from "node:fs/promises";
import { dirname } from "node:path";
import type { FileDigest, FileInfo, Files, OpenFile, ReadWhole } from "../../core/ports/ports.ts";

/** The file system of all three runtimes. */
export const files: Files = {
  readText: (path) => patiently(() => fs.readFile(path, "utf8")),
  readBytes: (path) => patiently(() => fs.readFile(path)),
  readHead: (path, count) => readPart(path, count, () => 0),
  readTail: (path, count) => readPart(path, count, (size) => Math.max(0, size - count)),
  readRange: (path, from, count) => readPart(path, count, () => from),
  write: (path, content, mode = 0o600) => patiently(() => fs.writeFile(path, content, { mode })),
  append: (path, text) => patiently(() => fs.appendFile(path, text, { mode: 0o600 })),
  openToAppend,
  truncate: (path, size) => fs.truncate(path, size),
  rename: (from, to) => fs.rename(from, to),
  link: (from, to) => fs.link(from, to),
  async makeDir(path, { recursive = false, mode = 0o777 } = {}): Promise<void> {
    await (recursive ? makeDirs(path, mode) : fs.mkdir(path, { mode }));
  },
  makeTempDir: (prefix) => fs.mkdtemp(prefix),
  remove: (path) => patiently(() => fs.rm(path, { recursive: true, force: true })),
  removeDir,
  list: async (path) => (await patiently(() => fs.readdir(path))).sort(),
  info: (path) => orNull(fs.lstat(path)),
  target: (path) => orNull(fs.stat(path)),
  usedBytes: (path) => fs.statfs(path).then(({ blocks, bfree, bsize }) => (blocks - bfree) * bsize, () => null),
  fileSystem: (path) => fs.statfs(path).then(({ type }) => type, () => null),
  realPath: (path) => fs.realpath(path),
  readLink: (path) => fs.readlink(path),
  makeLink: (path, target) => fs.symlink(target, path),
  setMode: (path, mode) => fs.chmod(path, mode),
  digest: (path, options) => readWhole(path, options, () => {}),
  copyFile,
  sync,
  freeBytes: (path) => fs.statfs(path).then(({ bavail, bsize }) => bavail * bsize, () => null),
  findSocket,
};

async function openToAppend(path: string): Promise<OpenFile> {
  const handle = await patiently(() => fs.open(path, "a", 0o600));
  return {
    async append(bytes) {
      for (let at = 0; at < bytes.length;) at += (await handle.write(bytes, at)).bytesWritten;
    },
    close: () => handle.close(),
  };
}

/** Time in which plugins that start at once give back the descriptors of the files they read and write. */
const DESCRIPTOR_MS = 500;
const DESCRIPTOR_STEP_MS = 10;

/** Tries again while no descriptor is free to open a file with: nothing was done by then. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (let waitedMs = 0;; waitedMs += DESCRIPTOR_STEP_MS) {
    try {
      return await work();
    } catch (error) {
      const { code } = error as { code?: string };
      if ((code !== "EMFILE" && code !== "ENFILE") || waitedMs >= DESCRIPTOR_MS) throw error;
      await new Promise((resolve) => setTimeout(resolve, DESCRIPTOR_STEP_MS));
    }
  }
}

const PIECE_BYTES = 256 * 1024;

/** Hands a regular file to `take` piece by piece; `take` may keep nothing, the piece is used again. */
async function readWhole(
  path: string,
  { maxBytes }: ReadWhole,
  take: (piece: Uint8Array) => void | Promise<void>,
): Promise<FileDigest> {
  // O_NONBLOCK: opening a named pipe would wait for a writer.
  const opened = await patiently(() => fs.open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
  try {
    const file = fileInfo(await opened.stat());
    if (file.kind !== "file") throw systemError("EINVAL", `not a regular file, open '${path}'`);
    const hash = createHash("sha256");
    // As long as the file and no longer: to clear 256 KiB for each of thousands of small files took most of the time.
    const room = Buffer.alloc(Math.min(file.size + 1, PIECE_BYTES));
    for (let bytes = 0;;) {
      const { bytesRead } = await opened.read(room, 0, room.length, null);
      if (bytesRead === 0) return { bytes, sha256: hash.digest("hex"), file };
      bytes += bytesRead;
      if (bytes > maxBytes) throw systemError("EFBIG", `file too large, read '${path}'`);
      const piece = room.subarray(0, bytesRead);
      hash.update(piece);
      await take(piece);
    }
  } finally {
    await opened.close();
  }
}

async function copyFile(from: string, to: string, options: ReadWhole & { mode: number }): Promise<FileDigest> {
  const copy = await fs.open(to, "wx", options.mode);
  try {
    return await readWhole(from, options, (piece) => copy.writeFile(piece));
  } finally {
    await copy.close();
  }
}

async function sync(path: string): Promise<void> {
  const opened = await fs.open(path, "r");
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

function systemError(code: string, text: string): Error {
  return Object.assign(new Error(`${code}: ${text}`), { code });
}

async function findSocket(path: string): Promise<string | null> {
  const stats = await fs.lstat(path).catch(() => null);
  if (stats?.isSocket()) return path;
  if (!stats?.isDirectory()) return null;
  for (const entry of await fs.readdir(path, { withFileTypes: true }).catch(() => [])) {
    // A plain file needs no second look; the kind of other entries is not known on every runtime.
    if (entry.isFile() || entry.isSymbolicLink()) continue;
    const found = await findSocket(path === "/" ? `/${entry.name}` : `${path}/${entry.name}`);
    if (found !== null) return found;
  }
  return null;
}

/** One folder at a time: Node's own recursive form never ends under `/proc`. */
async function makeDirs(path: string, mode: number): Promise<void> {
  const isThere = async (): Promise<boolean> => (await orNull(fs.stat(path)))?.kind === "directory";
  if (await isThere()) return;
  if (dirname(path) !== path) await makeDirs(dirname(path), mode);
  try {
    await fs.mkdir(path, { mode });
  } catch (error) {
    if (!await isThere()) throw error; // Another process has made it meanwhile.
  }
}

/** Reads up to `count` bytes, from where `start` says for a file of that size. */
async function readPart(path: string, count: number, start: (size: number) => number): Promise<Uint8Array> {
  const file = await fs.open(path, "r");
  try {
    const from = start((await file.stat()).size);
    const part = Buffer.alloc(count);
    let filled = 0;
    while (filled < count) {
      const { bytesRead } = await file.read(part, filled, count - filled, from + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return part.subarray(0, filled);
  } finally {
    await file.close();
  }
}

const BUSY_STEP_MS = 2;

async function removeDir(path: string, { busyMs = 0 }: { readonly busyMs?: number } = {}): Promise<void> {
  for (let waitedMs = 0;; waitedMs += BUSY_STEP_MS) {
    try {
      return await fs.rmdir(path);
    } catch (error) {
      const { code } = error as { code?: string };
      if (code === "ENOENT") return;
      if (code !== "EBUSY" || waitedMs >= busyMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_STEP_MS));
    }
  }
}

async function orNull(asked: Promise<Stats>): Promise<FileInfo | null> {
  try {
    return fileInfo(await asked);
  } catch (error) {
    // ENOTDIR: a component on the way is a file, so nothing stands at the path either.
    const { code } = error as { code?: string };
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw error;
  }
}

function fileInfo(stats: Stats): FileInfo {
  return {
    kind: stats.isFile() ? "file" : stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "symlink" : "other",
    dev: stats.dev,
    ino: stats.ino,
    mode: stats.mode & 0o7777,
    uid: stats.uid,
    size: stats.size,
    allocatedBytes: stats.blocks * 512,
    modifiedMs: stats.mtimeMs,
    changedMs: stats.ctimeMs,
  };
}
