/**
 * Makes, reads and removes the groups of one cage.
 *
 * @module
 */
import { HostError, messageOf } from "../../errors/host_error.ts";
import type { Files, Runtime } from "../../ports/ports.ts";
import type { GroupPlan, GroupSetting } from "./limit_parts.ts";

/** Attempts to empty and remove a group before it is left for the next host to sweep. */
const MAX_ATTEMPTS = 10;
/** How long the processes of a group may take to end. */
const ENDING_MS = 500;

/** Makes the groups, whose settings the launcher writes. Rejects with `cage.limits_failed`; what was made is removed then. */
export async function makeGroups({ dirs }: Pick<GroupPlan, "dirs">, files: Files): Promise<void> {
  try {
    await Promise.all(dirs.map((dir) => files.makeDir(dir, { mode: 0o755 })));
  } catch (cause) {
    for (const dir of dirs) await files.removeDir(dir).catch(() => {});
    throw limitsFailed(cause);
  }
}

/** Writes what the groups of a running plugin are limited to. Rejects with `cage.limits_failed`. */
export async function settleGroups({ dirs, later }: GroupPlan, files: Files): Promise<void> {
  try {
    await writeSettings(later, files);
  } catch (cause) {
    // Groups that are gone have nobody to limit: the cage has ended.
    const left = await Promise.all(dirs.map((dir) => files.info(dir)));
    if (left.includes(null)) return;
    throw limitsFailed(cause);
  }
}

function limitsFailed(cause: unknown): HostError {
  return new HostError("cage.limits_failed", `Cannot limit the cage: ${messageOf(cause)}`, {
    cause,
    hint: "Run kaged doctor",
  });
}

/** Writes settings one after another; an optional one that the kernel lacks is left out. */
export async function writeSettings(settings: readonly GroupSetting[], files: Files): Promise<void> {
  for (const { path, value, optional } of settings) {
    await files.write(path, value).catch((error) => {
      if (!optional) throw error;
    });
  }
}

/** Ends what is left in the groups and removes them. Resolves to false when one could not be removed. */
export async function removeGroups(dirs: readonly string[], { files, processes }: Runtime): Promise<boolean> {
  const removed = await Promise.all(dirs.map(async (dir) => {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const busyMs = attempt === 0 ? 0 : ENDING_MS;
      if (await files.removeDir(dir, { busyMs }).then(() => true, () => false)) return true;
      const ids = await files.readText(`${dir}/cgroup.procs`).catch(() => "");
      // 0 stands for a process this one cannot see.
      for (const pid of ids.split("\n").map(Number)) if (pid > 1) processes.signal(pid, "SIGKILL");
    }
    return false;
  }));
  return removed.every((one) => one);
}

/** Whether the kernel ended a process of these groups for want of memory. */
export async function wasOutOfMemory(dirs: readonly string[], files: Files): Promise<boolean> {
  // Version 2 counts in the first file, version 1 in the second.
  const counts = await Promise.all(
    dirs.flatMap((dir) => [`${dir}/memory.events`, `${dir}/memory.oom_control`]).map(async (path) => {
      const text = await files.readText(path).catch(() => "");
      return Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0);
    }),
  );
  return counts.some((count) => count > 0);
}
