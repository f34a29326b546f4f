/**
 * Ends what a cage leaves behind when bubblewrap itself is killed.
 *
 * Bubblewrap's child asks to die with its parent only some way into its work. When the parent is killed before that, by
 * whomever, the child waits for it forever, or goes on and starts the plugin with nobody above it.
 *
 * @module
 */
import type { Files, Runtime } from "../ports/ports.ts";
import { type CageStatus, HOSTS_FD, readStatus } from "./launcher.ts";

/** Looks at a killed process before it is left to the kernel: some ten milliseconds are usual on a busy machine. */
const MAX_LOOKS = 20_000;

/** Kills the processes of the cage whose files lie in `dir`, if its bubblewrap ended without reporting their end. */
export async function endLeftovers(dir: string, { files, processes }: Runtime): Promise<void> {
  const status = await readStatus(dir, files);
  if (!status.launched || status.exitCode !== null) return;
  // Without a whole report the child is known by the file it was handed.
  const isWhole = status.childPid !== null && status.pidNamespace !== null;
  const left = isWhole ? [await livingFirst(status, files)] : await holdersOf(`${dir}/hosts`, files);
  for (const pid of left) {
    if (pid === null) continue;
    processes.signal(pid, "SIGKILL");
    // The first process of a cage becomes a zombie once all others are gone.
    for (let look = 0; look < MAX_LOOKS && !await isGoneOr("ZX", pid, files); look++);
  }
}

/** Returns the first process of the cage whose files lie in `dir`, or null when it has none yet or no more. */
export async function firstPid(dir: string, files: Files): Promise<number | null> {
  return await livingFirst(await readStatus(dir, files), files);
}

/** By its namespace, not by its id alone: ids are used again. */
async function livingFirst({ childPid, pidNamespace }: CageStatus, files: Files): Promise<number | null> {
  if (childPid === null || pidNamespace === null) return null;
  return await linkOf(`/proc/${childPid}/ns/pid`, files) === `pid:[${pidNamespace}]` ? childPid : null;
}

/** Whether a process is gone or in one of the states of `/proc/<pid>/stat`; `Z` waits to be reaped, `T` is stopped. */
export async function isGoneOr(states: string, pid: number, files: Files): Promise<boolean> {
  const stat = await files.readText(`/proc/${pid}/stat`).catch(() => null);
  return stat === null || states.includes(stat.charAt(stat.lastIndexOf(")") + 2));
}

/** Returns the children of a process with one thread. */
export async function childrenOf(pid: number, files: Files): Promise<number[]> {
  const text = await files.readText(`/proc/${pid}/task/${pid}/children`).catch(() => "");
  return text.split(" ").map(Number).filter((child) => child > 1);
}

async function holdersOf(path: string, files: Files): Promise<number[]> {
  const pids = (await files.list("/proc")).filter((name) => /^[0-9]+$/.test(name)).map(Number);
  const links = await Promise.all(pids.map((pid) => linkOf(`/proc/${pid}/fd/${HOSTS_FD}`, files)));
  return pids.filter((_, i) => links[i] === path);
}

/** The text of a link, or null when there is none that may be read. */
async function linkOf(path: string, files: Files): Promise<string | null> {
  return await files.readLink(path).catch(() => null);
}
