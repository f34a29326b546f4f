/**
 * The files of a plugin: which are allowed, their hash as one tree, and how they are copied.
 *
 * @module
 */
import { asHostError, HostError, messageOf } from "../errors/host_error.ts";
import type { FileDigest, FileInfo, Files } from "../ports/ports.ts";
import { sha256 } from "../values/sha256.ts";
import { isSameState, type TreeHash, type TreeMemory } from "./tree_memory.ts";

/** How much a plugin may bring. */
export interface TreeLimits {
  /** Most bytes of all files together. */
  readonly maxBytes: number;
  /** Most files, folders and links together. */
  readonly maxEntries: number;
}

/** The part of {@link TreeLimits} that a tree exceeds. */
export type SizeLimit = "bytes" | "entries";

/** The option of commands that raises each limit. */
export const SIZE_FLAGS: Readonly<Record<SizeLimit, string>> = { bytes: "--max-size", entries: "--max-files" };

/** Returns in words how a tree exceeds a limit. */
export function overText(over: SizeLimit, { maxBytes, maxEntries }: TreeLimits): string {
  return over === "bytes" ? `more than ${megabytes(maxBytes)} MB` : `more than ${maxEntries} files`;
}

/** The limits unless the operator raises them: 256 MiB in 20 000 entries. */
export const TREE_LIMITS: TreeLimits = { maxBytes: 256 * 1024 * 1024, maxEntries: 20_000 };

/** One thing in a plugin's folder; `path` is relative to it, `mode` has the twelve bits that chmod sets. */
type TreeEntry =
  | { readonly kind: "directory"; readonly path: string; readonly mode: number }
  | TreeFile
  | { readonly kind: "symlink"; readonly path: string; readonly target: string };

interface TreeFile {
  readonly kind: "file";
  readonly path: string;
  readonly mode: number;
  readonly isExecutable: boolean;
  readonly info: FileInfo;
}

/** Modes of an installed file, and of an installed program or folder. */
const READ = 0o444;
const RUN = 0o555;

/** Left out of the copy and of the hash: a plugin does not need the history of its checkout. */
const LEFT_OUT: readonly string[] = [".git"];

/** Files that are looked at, and read, at the same time. */
const LOOKS_AT_ONCE = 64;
const READS_AT_ONCE = 4;

/**
 * Lists everything in a plugin's folder, folders before what is in them.
 *
 * @throws {HostError} `install.too_large`, `install.link_outside`, `install.special_file` or `install.unreadable`.
 */
async function listTree(dir: string, files: Files, limits: TreeLimits): Promise<TreeEntry[]> {
  return await readable(dir, async () => {
    const entries: TreeEntry[] = [];
    let bytes = 0;
    // Level by level: many small folders are then looked at together.
    for (let folders = [""]; folders.length > 0;) {
      const paths = await pathsIn(dir, folders, { files, most: limits.maxEntries - entries.length });
      if (paths === null) throw tooLarge(dir, "entries", limits);
      folders = [];
      for await (const [path, info] of inParts(paths, LOOKS_AT_ONCE, (path) => files.info(`${dir}/${path}`))) {
        const entry = await treeEntry(dir, path, info, files);
        if (entry.kind === "directory") folders.push(path);
        if (entry.kind === "file") bytes += entry.info.size;
        if (bytes > limits.maxBytes) throw tooLarge(dir, "bytes", limits);
        entries.push(entry);
      }
    }
    return entries;
  });
}

/** Returns the paths of everything that lies directly in some folders of `dir`; null where that is more than `most`. */
async function pathsIn(
  dir: string,
  folders: readonly string[],
  { files, most }: { readonly files: Files; readonly most: number },
): Promise<string[] | null> {
  const paths: string[] = [];
  const list = (folder: string): Promise<string[]> => files.list(folder === "" ? dir : `${dir}/${folder}`);
  for await (const [folder, names] of inParts(folders, LOOKS_AT_ONCE, list)) {
    for (const name of names) {
      if (folder === "" && LEFT_OUT.includes(name)) continue;
      if (paths.length >= most) return null;
      paths.push(folder === "" ? name : `${folder}/${name}`);
    }
  }
  return paths;
}

async function treeEntry(dir: string, path: string, info: FileInfo | null, files: Files): Promise<TreeEntry> {
  const mode = (info?.mode ?? 0) & 0o7777;
  switch (info?.kind) {
    case "directory":
      return { kind: "directory", path, mode };
    case "file":
      return { kind: "file", path, mode, isExecutable: (mode & 0o100) !== 0, info };
    case "symlink":
      return { kind: "symlink", path, target: await insideTarget(dir, path, files) };
    default:
      throw new HostError("install.special_file", `"${dir}/${path}" is no file, no folder and no link`, {
        data: { dir, path },
        hint: "Remove it: a plugin holds no pipes, devices and sockets",
      });
  }
}

/**
 * Returns the hash of a plugin's folder. With a `memory` its files are read only where the listing differs from the one
 * that the memory has.
 *
 * @throws {HostError} as {@link listTree} does.
 */
export async function hashTree(
  dir: string,
  files: Files,
  limits: TreeLimits = TREE_LIMITS,
  memory: TreeMemory | null = null,
): Promise<TreeHash> {
  return await hashListed(dir, await listTree(dir, files, limits), { files, memory });
}

async function hashListed(
  dir: string,
  entries: readonly TreeEntry[],
  { files, memory }: { readonly files: Files; readonly memory: TreeMemory | null },
): Promise<TreeHash> {
  return await readable(dir, async () => {
    const stamp = await memory?.stamp(dir, entries) ?? null;
    const known = stamp === null ? null : memory!.recall(dir, stamp);
    if (known) return known;
    let isAsListed = true;
    const tree = await hashEntries(entries, async ({ path, info }) => {
      const digest = await files.digest(`${dir}/${path}`, { maxBytes: info.size });
      // Between listing and reading another folder may stand here for a moment: its content must not go with this stamp.
      isAsListed &&= isSameState(digest.file, info);
      return digest;
    });
    if (stamp !== null && isAsListed) memory!.keep(dir, stamp, tree);
    return tree;
  });
}

/**
 * Copies a plugin's folder to a new one: read-only, without setuid bits, no link followed. Returns the hash of the copy.
 * A failed copy is left in place: the caller removes it.
 *
 * @throws {HostError} as {@link listTree} does; `install.no_space` when the disk is full.
 */
export async function copyTree(
  from: string,
  to: string,
  { files, limits }: { readonly files: Files; readonly limits: TreeLimits },
): Promise<TreeHash> {
  const entries = await listTree(from, files, limits);
  return await readable(from, async () => {
    await files.makeDir(to, { mode: 0o700 });
    for (const entry of entries) {
      const path = `${to}/${entry.path}`;
      if (entry.kind === "directory") await files.makeDir(path, { mode: 0o700 });
      if (entry.kind === "symlink") await files.makeLink(path, entry.target);
    }
    const copied = await hashEntries(entries, ({ path, isExecutable, info: { size: maxBytes } }) => {
      const mode = isExecutable ? RUN : READ;
      return files.copyFile(`${from}/${path}`, `${to}/${path}`, { maxBytes, mode });
    });
    // Deepest first: nothing can be made in a folder that is read-only already.
    for (const { path } of entries.filter(({ kind }) => kind === "directory").reverse()) {
      await files.setMode(`${to}/${path}`, RUN);
    }
    await files.setMode(to, RUN);
    return copied;
  });
}

/** Removes a folder that {@link copyTree} made, or a part of it; a missing one is fine. */
export async function removeTree(dir: string, files: Files): Promise<void> {
  const open = async (folder: string): Promise<void> => {
    await files.setMode(folder, 0o700);
    for (const name of await files.list(folder)) {
      if ((await files.info(`${folder}/${name}`))?.kind === "directory") await open(`${folder}/${name}`);
    }
  };
  if ((await files.info(dir))?.kind === "directory") await open(dir);
  await files.remove(dir);
}

/**
 * Hashes entries; `read` digests a file, of which no more is read than was listed. The order in which a folder lists its
 * names does not matter.
 */
async function hashEntries(
  entries: readonly TreeEntry[],
  read: (file: TreeFile) => Promise<FileDigest>,
): Promise<TreeHash> {
  let bytes = 0;
  const lines: string[] = [];
  const digestOf = async (entry: TreeEntry) => entry.kind === "file" ? await read(entry) : null;
  for await (const [entry, digest] of inParts(entries, READS_AT_ONCE, digestOf)) {
    if (entry.kind === "directory") lines.push(JSON.stringify([entry.path, "d"]));
    else if (entry.kind === "symlink") lines.push(JSON.stringify([entry.path, "l", entry.target]));
    else {
      bytes += digest!.bytes;
      lines.push(JSON.stringify([entry.path, entry.isExecutable ? "x" : "f", digest!.sha256]));
    }
  }
  return { hash: `sha256:${await sha256(lines.sort().join("\n"))}`, bytes };
}

/** Asks for a few at a time, in order. After a failure nothing is under way any more: the caller may remove a half copy. */
async function* inParts<T, A>(all: readonly T[], size: number, ask: (one: T) => Promise<A>): AsyncGenerator<[T, A]> {
  for (let at = 0; at < all.length; at += size) {
    const part = all.slice(at, at + size);
    const answers = await Promise.allSettled(part.map(ask));
    for (const [index, answer] of answers.entries()) {
      if (answer.status === "rejected") throw answer.reason;
      yield [part[index]!, answer.value];
    }
  }
}

async function insideTarget(dir: string, path: string, files: Files): Promise<string> {
  const target = await files.readLink(`${dir}/${path}`);
  const problem = linkProblem(path, target);
  if (problem === null) return target;
  throw new HostError("install.link_outside", `The link "${dir}/${path}" ${problem}`, {
    data: { dir, path, target },
    hint: "A plugin's links stay in its folder: replace it by what it leads to",
  });
}

function tooLarge(dir: string, over: SizeLimit, limits: TreeLimits): HostError {
  return new HostError("install.too_large", `The plugin in "${dir}" has ${overText(over, limits)}`, {
    data: { dir, over, max_bytes: limits.maxBytes, max_entries: limits.maxEntries },
    hint: `Remove what it does not need to run; where it is meant, raise the limit with ${SIZE_FLAGS[over]}`,
  });
}

/** Turns an error of the file system into one of ours: a full disk, an unreadable file, one that grew meanwhile. */
async function readable<T>(dir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (thrown instanceof HostError) throw thrown;
    throw treeFailure(thrown, dir);
  }
}

/** Returns a failure of the file system as one of ours. */
export function treeFailure(thrown: unknown, dir: string): HostError {
  const { code } = thrown as { code?: unknown };
  const options = { data: { dir, code }, cause: thrown };
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new HostError("install.no_space", `There is no room left on the disk: ${messageOf(thrown)}`, {
      ...options,
      hint: "Make room and try again: nothing was changed",
    });
  }
  if (code === "EFBIG" || code === "EINVAL" || code === "ELOOP" || code === "ENOENT") {
    return new HostError("install.changed", `"${dir}" changed while it was read: ${messageOf(thrown)}`, {
      ...options,
      hint: "Try again when nobody writes to it",
    });
  }
  return new HostError("install.unreadable", `Cannot read or write a file of the plugin: ${messageOf(thrown)}`, {
    ...options,
    hint: "Check the path and its permissions",
  });
}

const megabytes = (bytes: number): number => Math.round(bytes / 1024 / 1024);

/**
 * Returns what is wrong with a link at `path`, relative to the plugin's folder, or null. Steps up come first in its text
 * and are no more than lead to the folder: then every link on the way leads inside too, and so does this one, whatever
 * stands there. A step up after a name could follow another link first.
 */
export function linkProblem(path: string, target: string): string | null {
  if (target.startsWith("/")) return `leads to "${target}", outside the plugin`;
  const steps = target.split("/").filter((step) => step !== "" && step !== ".");
  const ups = steps.findIndex((step) => step !== "..");
  const leading = ups === -1 ? steps.length : ups;
  if (leading > path.split("/").length - 1) return `leads to "${target}", outside the plugin`;
  return steps.slice(leading).includes("..") ? `leads to "${target}": a step up after a name` : null;
}

/** A plugin installed under a raised limit must still verify, so there is none here. */
const NO_LIMITS = { maxBytes: Number.MAX_SAFE_INTEGER, maxEntries: Number.MAX_SAFE_INTEGER };

/**
 * Compares an installed plugin's folder with the hash that was pinned when it was installed, and its modes with those
 * that {@link copyTree} sets: a mode may lack bits, as under a strict umask, and have none more, such as a write or a
 * set-uid bit. Extended attributes are not looked at.
 *
 * @throws {HostError} `plugin.tampered`, with both hashes in `data`.
 */
export async function verifyTree(
  plugin: string,
  dir: string,
  pinned: string,
  files: Files,
  memory: TreeMemory | null = null,
): Promise<void> {
  let found: string | null = null;
  let cause: HostError | null = null;
  let why = "";
  try {
    const entries = await listTree(dir, files, NO_LIMITS);
    ({ hash: found } = await hashListed(dir, entries, { files, memory }));
    const root: TreeEntry = { kind: "directory", path: ".", mode: ((await files.info(dir))?.mode ?? 0) & 0o7777 };
    const wider = [root, ...entries].find(isWider);
    if (found === pinned && !wider) return;
    if (found === pinned && wider) why = `: "${wider.path}" has the mode 0${wider.mode.toString(8)}`;
  } catch (thrown) {
    cause = asHostError(thrown);
    why = `: ${cause.message}`;
  }
  throw new HostError("plugin.tampered", `[BLOCKED] The files of "${plugin}" changed since it was installed${why}`, {
    data: { plugin, dir, expected: pinned, found },
    hint: `Look at ${dir}, then install the plugin again or run kaged plugin uninstall ${plugin}`,
    ...(cause && { cause }),
  });
}

/** Whether an entry has a bit that no installed entry has. A link has no mode of its own. */
function isWider(entry: TreeEntry): entry is Exclude<TreeEntry, { readonly kind: "symlink" }> {
  if (entry.kind === "symlink") return false;
  const mode = entry.kind === "directory" || entry.isExecutable ? RUN : READ;
  return (entry.mode & ~mode) !== 0;
}
