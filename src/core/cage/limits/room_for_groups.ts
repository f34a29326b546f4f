/**
 * Makes room for groups of version 2 below the host's own. A group that hands its controllers on to others must hold no
 * process itself, so the host may have to move one level down.
 *
 * @module
 */
import type { Files } from "../../ports/ports.ts";

const CONTROLLERS = ["cpu", "memory", "pids"];
/** Group that the host moves itself into. */
const HOST_GROUP = "kaged-host";

/** Returns the folder groups can be made in. Rejects with why there is none. */
export async function roomForGroups(own: string, files: Files): Promise<string> {
  // A host started by another host inherits its group: where that one had moved down, the base is one level up.
  const base = own.endsWith(`/${HOST_GROUP}`) ? own.slice(0, -HOST_GROUP.length - 1) : own;
  const words = async (name: string): Promise<string[]> =>
    (await files.readText(`${base}/${name}`)).split(/\s+/).filter((word) => word !== "");
  const offered = await words("cgroup.controllers");
  const absent = CONTROLLERS.filter((name) => !offered.includes(name));
  if (absent.length > 0) throw new Error(`the host's group has no ${absent.join(", ")} to give on`);
  const given = await words("cgroup.subtree_control");
  if (CONTROLLERS.every((name) => given.includes(name))) return base;

  const give = (): Promise<void> =>
    files.write(`${base}/cgroup.subtree_control`, CONTROLLERS.map((name) => `+${name}`).join(" "));
  try {
    await give(); // Only the root of all groups may hold processes too.
    return base;
  } catch (error) {
    const self = await files.readLink("/proc/self");
    const others = (await words("cgroup.procs")).filter((pid) => pid !== self);
    if ((error as { code?: string }).code !== "EBUSY") throw error;
    if (others.length > 0) throw new Error(`${others.length} other processes share the host's group`);
    await moveDown(self, base, files, give);
    return base;
  }
}

async function moveDown(self: string, base: string, files: Files, give: () => Promise<void>): Promise<void> {
  await files.makeDir(`${base}/${HOST_GROUP}`, { recursive: true, mode: 0o755 });
  await files.write(`${base}/${HOST_GROUP}/cgroup.procs`, self);
  try {
    await give();
  } catch (error) {
    await files.write(`${base}/cgroup.procs`, self);
    await files.removeDir(`${base}/${HOST_GROUP}`).catch(() => {});
    throw error;
  }
}
