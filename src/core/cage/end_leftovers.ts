/**
 * Ends what a cage leaves behind when bubblewrap itself is killed.
 *
 * Bubblewrap's child asks to die with its parent only some way into its work. When the parent is killed before that, by
 * whomever, the child waits for it forever, or goes on and starts the plugin with nobody above it.
 *
 * @module
 */
import type { Files, Runtime } from "../ports.ts";
import { HOSTS_FD, readStatus } from "./launcher.ts";

/** Looks at a killed process before it is left to the kernel: some ten milliseconds are usual on a busy machine. */
const MAX_LOOKS = 20_000;

/** Kills the processes of the cage whose files lie in `dir`, if its bubblewrap ended without reporting their end. */
export async function endLeftovers(dir: string, { files, processes }: Runtime): Promise<void> {
  const { launched, childPid, pidNamespace, exitCode } = await readStatus(dir, files);
  if (!launched || exitCode !== null) return;
  // Without a whole report the child is known by the file it was handed.
  const left = childPid === null || pidNamespace === null
    ? await holdersOf(`${dir}/hosts`, files)
    : await linkOf(`/proc/${childPid}/ns/pid`, files) === `pid:[${pidNamespace}]`
    ? [childPid]
    : [];
  for (const pid of left) {
    processes.signal(pid, "SIGKILL");
    for (let look = 0; look < MAX_LOOKS && !await hasEnded(pid, files); look++);
  }
}

/** Whether a process is gone or waits to be reaped: the first of a cage does that once all others are gone. */
async function hasEnded(pid: number, files: Files): Promise<boolean> {
  const stat = await files.readText(`/proc/${pid}/stat`).catch(() => null);
  return stat === null || "ZX".includes(stat.charAt(stat.lastIndexOf(")") + 2));
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
