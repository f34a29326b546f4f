/**
 * Clears away the cages of hosts that died before they could.
 *
 * @module
 */
import type { Files, Runtime } from "../ports/ports.ts";
import { endLeftovers } from "./end_leftovers.ts";
import { readGroups, STATUS_FD } from "./launcher.ts";
import { removeGroups } from "./limits/control_group.ts";

/** A cage that was never started may still be: another host writes its files at this moment. */
const STALE_MS = 3_600_000;

/** Ends and removes each cage under `<home>/run` whose host is gone. What cannot be removed is left where it is. */
export async function sweepRun(home: string, runtime: Runtime): Promise<void> {
  const { files } = runtime;
  const names = (await files.list(`${home}/run`).catch(() => [])).filter((name) => name.startsWith("cage-"));
  await Promise.all(names.map((name) => sweepCage(`${home}/run/${name}`, runtime).catch(() => {})));
}

async function sweepCage(dir: string, runtime: Runtime): Promise<void> {
  const { clock, files, processes } = runtime;
  const ids = await files.readText(`${dir}/launcher`).catch(() => null);
  if (ids === null) {
    const info = await files.info(dir);
    if (info !== null && clock.now() - info.modifiedMs > STALE_MS) await clear(dir, runtime);
    return;
  }
  const [launcher = 0, host = 0] = ids.trim().split(" ").map(Number);
  // By its descriptor, not by its id alone: ids are used again.
  const lives = await files.readLink(`/proc/${launcher}/fd/${STATUS_FD}`).catch(() => null) === `${dir}/status`;
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
