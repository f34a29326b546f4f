/**
 * Builds the cage of one start of one program.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { Command, Exit, Files, Runtime } from "../ports/ports.ts";
import { askedOnce } from "./asked_once.ts";
import type { Cage, CageRequest } from "./cage.ts";
import type { CagePlan, MachineFacts } from "./cage_plan.ts";
import { compileCage } from "./compile_cage.ts";
import { diagnose, limitFailure } from "./diagnose.ts";
import { endLeftovers, firstPid, sweepRun } from "./end_leftovers.ts";
import { findBash } from "./find_bash.ts";
import { gatherFacts } from "./gather_facts.ts";
import { type CageStatus, launchCommand, readStatus, writeLaunchFiles, writeOrders } from "./launcher.ts";
import { DEFAULT_LIMITS } from "./limits/cage_limits.ts";
import { makeGroups, removeGroups, settleGroups } from "./limits/control_group.ts";
import { groupPlan, scopedCommand } from "./limits/limit_parts.ts";
import { startWatchdog, type Watchdog } from "./limits/watchdog.ts";
import { type Gatekeeper, openGatekeeper } from "./net/gatekeeper.ts";
import { hostRules, netMode, SOCKET_FILE } from "./net/net_parts.ts";
import { boundOptions } from "./net/trust_parts.ts";
import { endStale, enterHome, hasOthers, keeperOf, makeKeeper, readyNext, takeReady } from "./ready_launcher.ts";
import { verifyMounts } from "./verify_mounts.ts";
import { requirePermissions } from "./require_permissions.ts";
import { verifyWalls } from "./verify_walls.ts";

/** Bubblewrap reports its child some 2 ms after a launcher that waited goes on, and a program answers after 15 or more. */
const REPORTED_MS = 8;
const PRIVATE = { recursive: true, mode: 0o700 };

/**
 * Builds a cage. There is no way around it: what cannot be caged is not started. With `mayWait` its launcher may be one
 * that waited for it: see {@link Cage.waiting}.
 *
 * @throws {HostError} `cage.*` or `capability.*`
 */
export async function openCage(
  request: CageRequest,
  runtime: Runtime,
  { mayWait = false }: { readonly mayWait?: boolean } = {},
): Promise<Cage> {
  const { cleanUp = () => Promise.resolve() } = request;
  try {
    const cage = await buildCage(request, runtime, mayWait);
    return { ...cage, close: () => cage.close().finally(cleanUp) };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

/** Finds out about a start and builds its cage, as one of those of its home. */
async function buildCage(request: CageRequest, runtime: Runtime, mayWait: boolean): Promise<Cage> {
  const { files, uid } = runtime;
  const { home } = request.places;
  await requireGround(runtime);
  const bash = await findBash(files);
  await files.makeDir(`${home}/run`, PRIVATE);
  await sweepOnce(home, runtime);
  const isRoot = uid === 0;
  const canWait = mayWait && runtime.processes.mayWait !== false;
  const readyKeeper = async (): Promise<void> => {
    const keeperIn = (dir: string): Command => launchCommand(bash, dir, { isRoot, part: "keep" });
    if (isRoot && canWait) await makeKeeper(home, keeperIn, runtime);
  };
  const launchers: Launchers = {
    canWait,
    command(dir, ownNetwork) {
      const keeper = canWait && !ownNetwork ? keeperOf(home) : null;
      return launchCommand(bash, dir, { isRoot, ownNetwork, keeper });
    },
    async waiting(dir) {
      await readyKeeper();
      return launchCommand(bash, dir, { isRoot, keeper: keeperOf(home), part: "wait" });
    },
    leave: enterHome(home),
  };
  try {
    // Not for the only cage of a home: to seal nodes for itself takes less than to wait for a keeper.
    if (hasOthers(home)) void readyKeeper();
    const facts = await gatherFacts(request, runtime);
    await endStale(home, [...facts.grants, facts.installDir], files);
    return await planCage(request, facts, { launchers, runtime });
  } catch (error) {
    await launchers.leave();
    throw error;
  }
}

/** The launchers of a home, as one of its cages uses them. */
interface Launchers {
  readonly canWait: boolean;
  /** Returns the command of the launcher whose folder is `dir`. */
  command(dir: string, ownNetwork: boolean): Command;
  /** Returns the command of one for a start to come, which finds sealed nodes under root. */
  waiting(dir: string): Promise<Command>;
  /** The cage is gone. */
  readonly leave: () => Promise<void>;
}

/** Plans a start, writes its files and returns the cage that stands on them. */
async function planCage(
  request: CageRequest,
  facts: MachineFacts,
  { launchers, runtime }: { readonly launchers: Launchers; readonly runtime: Runtime },
): Promise<Cage> {
  const { files } = runtime;
  const { home } = request.places;
  const { tier, isRoot } = facts;
  const canWait = launchers.canWait && tier.name !== "systemd";
  const ready = canWait && facts.hostNetwork === null ? await takeReady(home, runtime) : null;
  const dir = ready?.dir ?? await files.makeTempDir(`${home}/run/cage-`);
  const { limits = DEFAULT_LIMITS, overlays = [] } = request;
  const name = runtime.ids.create("kaged");
  const groups = groupPlan(tier, limits, name);
  let closed = false;
  const report = reportOf(dir, runtime);
  let watchdog: Watchdog | null = null;
  let gatekeeper: Gatekeeper | null = null;
  // The launcher's files hold the plan, so the cage keeps only these parts of it.
  let kept: Pick<CagePlan, "net" | "granted" | "ownNetwork">;
  const close = async (): Promise<void> => {
    closed = true;
    watchdog?.stop();
    report.cancel();
    await ready?.discard();
    await gatekeeper?.close();
    await endLeftovers(dir, runtime);
    // A group that could not be removed keeps the folder: its list of groups is how the next host finds it.
    if (await removeGroups(groups.dirs, runtime)) await files.remove(dir);
    await launchers.leave();
  };
  let launcher: Command;
  try {
    const bound = await boundOptions(request, runtime);
    const trust = bound && { authority: bound.authority.certificate, roots: bound.roots };
    const plan = compileCage(request, { ...facts, runDir: dir, trust });
    kept = { net: plan.net, granted: plan.granted, ownNetwork: plan.ownNetwork };
    // First the list, then the groups: a host that dies in between leaves none that nobody knows of.
    await writeOrders(plan, { groups, dir, files });
    await Promise.all([makeGroups(groups, files), writeLaunchFiles(plan, dir, files)]);
    if (netMode(kept.net) === "gated") gatekeeper = await gatekeeperIn(dir, { request, bound, net: kept.net }, runtime);
    launcher = launchers.command(dir, kept.ownNetwork);
  } catch (error) {
    await close();
    throw error;
  }
  const childPid = async (): Promise<number | null> => (await readStatus(dir, files)).childPid;
  const command = tier.name === "systemd"
    ? scopedCommand(launcher, { tier, limits, name, uid: runtime.uid })
    : launcher;
  return {
    id: runtime.ids.create("cage"),
    command,
    waiting: ready,
    limits: { tier: tier.name, ...limits },
    childPid,
    connections: () => gatekeeper?.connections() ?? 0,
    watch(): void {
      if (closed) return;
      if (ready !== null) report.lookSoon();
      if (tier.name !== "watchdog") return;
      watchdog ??= startWatchdog(() => firstPid(dir, files), limits, runtime);
    },
    async settle(): Promise<void> {
      if (closed) return;
      if (canWait) readyNext(home, launchers.waiting, runtime);
      await settleGroups(groups, files);
    },
    async verifyMounts(): Promise<void> {
      const status = await report.read();
      if (!closed) await verifyCage(status, { ...kept, overlays, isRoot }, runtime);
    },
    diagnose: async (exit: Exit, stderr) =>
      await diagnose({ exit, status: await readStatus(dir, files), stderr, isRoot }, files) ??
        await limitFailure(exit, { limits, groups: groups.dirs, watchdog }, files),
    close,
  };
}

/** Reads bubblewrap's report: where it can, while the program starts, and not when that has answered and waits. */
function reportOf(dir: string, { files, clock }: Runtime) {
  let seen: CageStatus | null = null;
  let cancel = (): void => {};
  return {
    lookSoon(): void {
      const look = (): Promise<void> => readStatus(dir, files).then((status) => void (seen = status), () => {});
      cancel = clock.after(REPORTED_MS, () => void look());
    },
    cancel: (): void => cancel(),
    read: async (): Promise<CageStatus> => seen?.childPid ? seen : await readStatus(dir, files),
  };
}

/** Looks from outside at the mounts and walls of a cage. Rejects with `cage.path_swapped` or `cage.walls_missing`. */
async function verifyCage(
  { childPid: pid, launcher }: CageStatus,
  { net, ...places }: Pick<CagePlan, "net"> & Parameters<typeof verifyMounts>[1],
  runtime: Runtime,
): Promise<void> {
  const mounts = verifyMounts(pid, places, runtime.files);
  mounts.catch(() => {}); // A missing wall comes first.
  if (pid !== null) await verifyWalls(pid, { ownNetwork: netMode(net) !== "all", launcher }, runtime);
  await mounts;
}

function gatekeeperIn(
  dir: string,
  { request, bound, net }: {
    readonly request: CageRequest;
    readonly bound: Awaited<ReturnType<typeof boundOptions>>;
    readonly net: CagePlan["net"];
  },
  { network, clock }: Runtime,
): Promise<Gatekeeper> {
  const { onNet = () => {}, onRefused, askNetwork } = request;
  const path = `${dir}/${SOCKET_FILE}`;
  return openGatekeeper({ path, rules: hostRules(net), network, clock, onNet, bound, onRefused, askNetwork });
}

/** Homes this process has swept: another host that dies later is swept by whoever starts next. */
const swept = new Map<string, Promise<void>>();

async function sweepOnce(home: string, runtime: Runtime): Promise<void> {
  const sweep = swept.get(home) ?? sweepRun(home, runtime);
  swept.set(home, sweep);
  await sweep;
}

/** Rejects with `cage.unsupported` or `cage.no_permission` where no cage could be built or trusted. */
export async function requireGround(
  { platform, files, missingPermissions }: Pick<Runtime, "platform" | "files" | "missingPermissions">,
): Promise<void> {
  if (platform !== "linux") {
    throw new HostError("cage.unsupported", `Cannot cage plugins on "${platform}"`, {
      data: { platform },
      hint: "Run the host on Linux, for example in a virtual machine",
    });
  }
  requirePermissions(missingPermissions(null));
  await requireProc(files);
}

const requireProc = askedOnce(async (files: Files): Promise<void> => {
  try {
    await files.target("/proc/self/root/"); // verifyMounts() reads there.
  } catch (cause) {
    throw new HostError("cage.no_permission", `Cannot cage plugins: ${messageOf(cause)}`, {
      cause,
      hint: "Start Deno with the permissions of docs/embed-deno.md",
    });
  }
});
