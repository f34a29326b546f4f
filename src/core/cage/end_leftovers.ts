/**
 * Ends what a cage leaves behind when bubblewrap itself, or the host, is killed.
 *
 * Bubblewrap's child asks to die with its parent only some way into its work. When the parent is killed before that, by
 * whomever, the child waits for it forever, or goes on and starts the plugin with nobody above it.
 *
 * @module
 */
import type { Files, Runtime } from "../ports/ports.ts";
import { type CageStatus, HOSTS_FD, launcherIds, readGroups, readStatus, READY_FILE, STATUS_FD } from "./launcher.ts";
import { removeGroups } from "./limits/control_group.ts";

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

/** A cage that was never started may still be: another host writes its files at this moment. */
const STALE_MS = 3_600_000;

/** Ends and removes each cage under `<home>/run` whose host is gone. What cannot be removed is left where it is. */
export async function sweepRun(home: string, runtime: Runtime): Promise<void> {
  const { files } = runtime;
  const names = (await files.list(`${home}/run`).catch(() => [])).filter((name) => /^(cage|ready|nodes)-/.test(name));
  await Promise.all(names.map((name) => sweepCage(`${home}/run/${name}`, runtime).catch(() => {})));
}

async function sweepCage(dir: string, runtime: Runtime): Promise<void> {
  const { clock, files, processes } = runtime;
  const report = (await files.info(`${dir}/status`)) === null ? READY_FILE : "status";
  const ids = await launcherIds(dir, files, report);
  if (ids === null) {
    const info = await files.info(dir);
    if (info !== null && clock.now() - info.modifiedMs > STALE_MS) await clear(dir, runtime);
    return;
  }
  const { launcher, host } = ids;
  // By its descriptor, not by its id alone: ids are used again.
  const lives = await linkOf(`/proc/${launcher}/fd/${STATUS_FD}`, files) === `${dir}/${report}`;
  if (lives && await parentOf(launcher, files) === host) return;
  if (lives) processes.signal(launcher, "SIGKILL");
  await endLeftovers(dir, runtime);
  await clear(dir, runtime);
}

/** Removes the files of a cage. While a group of it stays, so does the folder: it holds the only list of groups. */
async function clear(dir: string, runtime: Runtime): Promise<void> {
  if (await removeGroups(await readGroups(dir, runtime.files), runtime)) await runtime.files.remove(dir);
}

async function parentOf(pid: number, files: Files): Promise<number | null> {
  const status = await files.readText(`/proc/${pid}/status`).catch(() => "");
  const parent = /^PPid:\s*(\d+)/m.exec(status)?.[1];
  return parent === undefined ? null : Number(parent);
}
