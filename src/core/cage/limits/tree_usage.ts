/**
 * Adds up what the processes of a cage use, as far as `/proc` shows it from outside.
 *
 * @module
 */
import type { Files } from "../../ports/ports.ts";
import { PRIVATE_HOME } from "../private_home.ts";

/** Folders of a cage that lie in memory. */
const IN_MEMORY = ["/tmp", "/dev/shm", PRIVATE_HOME];
/** Names that the kernel gives to memory in the form of a file: `memfd_create`, shared mappings, shared segments. */
const MEMORY_FILE = /^\/(memfd:|dev\/zero|SYSV).*\(deleted\)$/;

/** The usage of a process and all its descendants. */
export interface TreeUsage {
  /** Memory of their own, without files. */
  readonly ownBytes: number;
  /** The most that one of them has of that: as much is used at least, whatever they share. */
  readonly largestBytes: number;
  /** Memory in the form of files that they have mapped and touched. */
  readonly mappedBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
  readonly pids: readonly number[];
}

/**
 * Returns the usage of a process and all its descendants; files on disk do not count. One that ends meanwhile counts
 * for nothing. The quick way counts a page once for each process that shares it, as forked ones do; the `exact` way
 * counts it once, and takes longer.
 */
export async function treeUsage(pid: number, files: Files, exact: boolean): Promise<TreeUsage> {
  const read = (name: string): Promise<string> => files.readText(`/proc/${pid}/${name}`).catch(() => "");
  const threads = await files.list(`/proc/${pid}/task`).catch(() => []);
  const [memory, ...children] = await Promise.all([
    ownMemory(read, exact),
    ...threads.map((thread) => read(`task/${thread}/children`)),
  ]);
  const below = await Promise.all(
    children.flatMap((text) => text.split(" ").map(Number).filter((id) => id > 1))
      .map((id) => treeUsage(id, files, exact)),
  );
  return below.reduce((sum, one) => ({
    ownBytes: sum.ownBytes + one.ownBytes,
    largestBytes: Math.max(sum.largestBytes, one.largestBytes),
    mappedBytes: sum.mappedBytes + one.mappedBytes,
    tasks: sum.tasks + one.tasks,
    pids: [...sum.pids, ...one.pids],
  }), { ...memory, largestBytes: memory.ownBytes, tasks: threads.length, pids: [pid] });
}

async function ownMemory(
  read: (name: string) => Promise<string>,
  exact: boolean,
): Promise<Pick<TreeUsage, "ownBytes" | "mappedBytes">> {
  const [rollup, status] = await Promise.all([exact ? read("smaps_rollup") : "", read("status")]);
  // A kernel without that file, or one that does not let us read it, is asked the quick way.
  const own = bytesOf(rollup, "Pss_Anon") ?? bytesOf(status, "RssAnon") ?? 0;
  const mapped = bytesOf(rollup, "Pss_Shmem") ?? bytesOf(status, "RssShmem") ?? 0;
  return { ownBytes: own + (bytesOf(status, "HugetlbPages") ?? 0), mappedBytes: mapped };
}

/** Returns a field of a text like `/proc/self/status`, or null when it is not there. */
function bytesOf(text: string, field: string): number | null {
  const kib = new RegExp(`^${field}:\\s*(\\d+) kB$`, "m").exec(text)?.[1];
  return kib === undefined ? null : Number(kib) * 1024;
}

/** Returns all memory of the machine that has the form of files, an upper bound for any cage; null if not to be had. */
export async function sharedOfMachine(files: Files): Promise<number | null> {
  return bytesOf(await files.readText("/proc/meminfo").catch(() => ""), "Shmem");
}

/**
 * Returns the memory in the form of files that a cage holds, mapped or not: what its processes have open or mapped, each
 * file once, and its folders in memory with all that was unlinked there. One process after another, because each may
 * have thousands of descriptors.
 */
export async function heldBytes(pids: readonly number[], files: Files): Promise<number> {
  const held = new Map<string, { exact: boolean; bytes: number }>();
  for (const pid of pids) {
    for (const { id, bytes, exact } of [...await openFiles(pid, files), ...await mappedFiles(pid, files)]) {
      const known = held.get(id);
      // Two processes may map different parts of one file: without its size, the larger part is known at least.
      if (exact || (!known?.exact && bytes > (known?.bytes ?? 0))) held.set(id, { exact, bytes });
    }
  }
  const folders = await Promise.all(IN_MEMORY.map((path) => folderBytes(pids[0]!, path, files)));
  return [...held.values(), ...folders.map((bytes) => ({ bytes }))].reduce((sum, { bytes }) => sum + bytes, 0);
}

interface HeldFile {
  /** Device and inode. */
  readonly id: string;
  readonly bytes: number;
  /** Whether `bytes` is the memory it takes, and not only the part that is mapped. */
  readonly exact: boolean;
}

async function openFiles(pid: number, files: Files): Promise<HeldFile[]> {
  const names = await files.list(`/proc/${pid}/fd`).catch(() => []);
  const found = await Promise.all(names.map(async (name) => {
    const path = `/proc/${pid}/fd/${name}`;
    const link = await files.readLink(path).catch(() => "");
    return MEMORY_FILE.test(link) ? await fileAt(path, files) : null;
  }));
  return found.filter((file) => file !== null);
}

async function fileAt(path: string, files: Files): Promise<HeldFile | null> {
  const info = await files.target(path).catch(() => null);
  return info && { id: `${info.dev}:${info.ino}`, bytes: info.allocatedBytes, exact: true };
}

/** Files that are mapped, their descriptor perhaps closed: only a root host may ask for their size then. */
async function mappedFiles(pid: number, files: Files): Promise<HeldFile[]> {
  const lines = (await files.readText(`/proc/${pid}/maps`).catch(() => "")).split("\n");
  const parts = new Map<string, { range: string; bytes: number }>();
  for (const line of lines) {
    const [range = "", , , device = "", inode = ""] = line.split(" ", 5);
    if (!MEMORY_FILE.test(line.slice(line.indexOf("/")))) continue;
    const [from = 0, to = 0] = range.split("-").map((address) => Number.parseInt(address, 16));
    const id = `${deviceNumber(device)}:${inode}`;
    parts.set(id, { range, bytes: (parts.get(id)?.bytes ?? 0) + to - from });
  }
  return await Promise.all(
    [...parts].map(async ([id, { range, bytes }]) =>
      await fileAt(`/proc/${pid}/map_files/${range}`, files) ?? { id, bytes, exact: false }
    ),
  );
}

/** Returns `st_dev` for the hexadecimal `major:minor` of `/proc/<pid>/maps`, as the C library puts it together. */
function deviceNumber(text: string): number {
  const [major = 0, minor = 0] = text.split(":").map((part) => Number.parseInt(part, 16));
  return (minor & 0xff) + major * 0x100 + (minor >> 8) * 0x100000;
}

/** Memory of a folder of the cage; 0 while the cage is still being built and shows the host's own. */
async function folderBytes(pid: number, path: string, files: Files): Promise<number> {
  const inside = `/proc/${pid}/root${path}`;
  const [own, hosts] = await Promise.all([inside, path].map((at) => files.target(at).catch(() => null)));
  if (!own || own.dev === hosts?.dev) return 0;
  return await files.usedBytes(inside) ?? 0;
}
