/**
 * Finds the best way to hold cages to their limits on this machine, by trying each.
 *
 * @module
 */
import { messageOf } from "../../errors/host_error.ts";
import type { Files, Runtime } from "../../ports/ports.ts";
import { outputOf } from "../output_of.ts";
import { DEFAULT_LIMITS, type LimitTier, type LimitTierName } from "./cage_limits.ts";
import { makeGroups, writeSettings } from "./control_group.ts";
import { groupPlan, scopeArgs, scopeEnv } from "./limit_parts.ts";
import { type OwnGroups, ownGroups } from "./own_groups.ts";

/** The best tier that works on this machine. */
export interface TierChoice {
  readonly tier: LimitTier;
  /** Each better one, and why it does not work here. */
  readonly passed: readonly { readonly name: LimitTierName; readonly why: string }[];
}

const PRLIMIT_PATHS = ["/usr/bin/prlimit", "/bin/prlimit"];
const SYSTEMD_RUN = "/usr/bin/systemd-run";
/** Without start-up files: with a socket as stdin bash would read them. */
const BASH: readonly [string, ...string[]] = ["/bin/bash", "--norc", "--noprofile", "-c"];

/** One answer per file system: it holds as long as the host lives. */
const known = new WeakMap<Files, Promise<TierChoice>>();

/** Returns the best way; tried at the first call of a process. */
export function chooseTier(runtime: Runtime): Promise<TierChoice> {
  const chosen = known.get(runtime.files) ?? tryAll(runtime);
  known.set(runtime.files, chosen);
  return chosen;
}

async function tryAll(runtime: Runtime): Promise<TierChoice> {
  const { files } = runtime;
  const read = (path: string): Promise<string> => files.readText(path).catch(() => "");
  const groups = ownGroups(await read("/proc/self/mountinfo"), await read("/proc/self/cgroup"));
  const attempts: readonly [LimitTierName, () => LimitTier | Promise<LimitTier>][] = [
    ["cgroup2", () => unifiedTier(groups, files)],
    ["systemd", () => systemdTier(runtime)],
    ["cgroup1", () => controllersTier(groups)],
  ];
  const passed: { name: LimitTierName; why: string }[] = [];
  for (const [name, attempt] of attempts) {
    try {
      const tier = await attempt();
      await rehearse(tier, runtime);
      await removeStale(tier, runtime);
      return { tier, passed };
    } catch (error) {
      passed.push({ name, why: messageOf(error) });
    }
  }
  return { tier: { name: "watchdog", prlimit: await firstFile(PRLIMIT_PATHS, files) }, passed };
}

/** A group that nobody joined for so long belongs to a host that died, and whose home is gone with its list of groups. */
const STALE_MS = 3_600_000;

/** Removes old empty groups; one that holds a process cannot be removed. */
async function removeStale(tier: LimitTier, { files, clock }: Runtime): Promise<void> {
  for (const dir of groupPlan(tier, DEFAULT_LIMITS, "any").dirs) {
    const base = dir.slice(0, dir.lastIndexOf("/"));
    for (const name of (await files.list(base)).filter((name) => name.startsWith("kaged_"))) {
      const info = await files.info(`${base}/${name}`).catch(() => null);
      const isOld = info !== null && clock.now() - info.modifiedMs > STALE_MS;
      if (isOld) await files.removeDir(`${base}/${name}`).catch(() => {});
    }
  }
}

async function unifiedTier({ unified }: OwnGroups, files: Files): Promise<LimitTier> {
  if (unified === null) throw new Error("no tree of version 2 is mounted");
  return { name: "cgroup2", base: await roomForGroups(unified, files) };
}

function controllersTier({ byController }: OwnGroups): LimitTier {
  const { memory, pids, cpu } = byController;
  const absent = Object.entries({ memory, pids, cpu }).filter(([, dir]) => dir === undefined).map(([name]) => name);
  if (memory === undefined || pids === undefined || cpu === undefined) {
    throw new Error(`no tree of version 1 has ${absent.join(", ")}`);
  }
  return { name: "cgroup1", memory, pids, cpu };
}

async function systemdTier(runtime: Runtime): Promise<LimitTier> {
  const { files, uid } = runtime;
  if (await firstFile([SYSTEMD_RUN], files) === null) throw new Error(`there is no ${SYSTEMD_RUN}`);
  const door = uid === 0 ? "/run/systemd/private" : `/run/user/${uid}/bus`;
  if (await files.target(door).catch(() => null) === null) throw new Error(`systemd does not run: no ${door}`);
  const env = scopeEnv(uid);
  const said = await outputOf(runtime, SYSTEMD_RUN, [...scopeArgs(uid), "--", ...BASH, "echo joined"], env);
  if (said.trim() !== "joined") throw new Error(`systemd gives no scope: ${said.trim().slice(0, 200)}`);
  return { name: "systemd", program: SYSTEMD_RUN, env };
}

/** Makes groups, lets a process join them and removes them; nothing, for a tier without groups of the host's own. */
async function rehearse(tier: LimitTier, runtime: Runtime): Promise<void> {
  const { files, ids, uid } = runtime;
  const plan = groupPlan(tier, DEFAULT_LIMITS, ids.create("kaged-try"));
  if (plan.dirs.length === 0) return;
  await makeGroups(plan, files);
  try {
    await writeSettings([...plan.settings, ...plan.later], files);
    // Moving a process into a group needs write access to the common ancestor, which making the group does not need:
    // only a user who is not root can lack it.
    if (uid === 0) return;
    const join = 'for dir; do echo $$ >"$dir/cgroup.procs" || exit; done; echo joined';
    const said = await outputOf(runtime, BASH[0], [...BASH.slice(1), join, "join", ...plan.dirs]);
    if (said.trim() !== "joined") throw new Error(`no process may join: ${said.trim().slice(0, 200)}`);
  } finally {
    for (const dir of plan.dirs) await files.removeDir(dir).catch(() => {});
  }
}

async function firstFile(paths: readonly string[], files: Files): Promise<string | null> {
  for (const path of paths) {
    if ((await files.target(path).catch(() => null))?.kind === "file") return path;
  }
  return null;
}

const CONTROLLERS = ["cpu", "memory", "pids"];
/** Group that the host moves itself into. */
const HOST_GROUP = "kaged-host";

/**
 * Returns the folder groups of version 2 can be made in; rejects with why there is none. A group that hands its
 * controllers on to others must hold no process itself, so the host may have to move one level down.
 */
async function roomForGroups(own: string, files: Files): Promise<string> {
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
