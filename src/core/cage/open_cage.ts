/**
 * Builds the cage of one start of one program.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { Exit, Runtime } from "../ports/ports.ts";
import type { Cage, CageRequest } from "./cage.ts";
import type { CagePlan } from "./cage_plan.ts";
import { compileCage } from "./compile_cage.ts";
import { diagnose, limitFailure } from "./diagnose.ts";
import { endLeftovers, firstPid, sweepRun } from "./end_leftovers.ts";
import { findBash } from "./find_bash.ts";
import { gatherFacts } from "./gather_facts.ts";
import { launchCommand, readStatus, writeLaunchFiles, writeNodeFiles, writeOrders } from "./launcher.ts";
import { DEFAULT_LIMITS } from "./limits/cage_limits.ts";
import { makeGroups, removeGroups, settleGroups } from "./limits/control_group.ts";
import { groupPlan, scopedCommand } from "./limits/limit_parts.ts";
import { startWatchdog, type Watchdog } from "./limits/watchdog.ts";
import { type Gatekeeper, openGatekeeper } from "./net/gatekeeper.ts";
import { hostRules, netMode, SOCKET_FILE } from "./net/net_parts.ts";
import { boundOptions } from "./net/trust_parts.ts";
import { enterHome, readyNext, takeReady } from "./ready_launcher.ts";
import { verifyMounts } from "./verify_mounts.ts";
import { requirePermissions } from "./require_permissions.ts";
import { verifyWalls } from "./verify_walls.ts";

const PRIVATE = { recursive: true, mode: 0o700 };
/** How a launcher for a start to come differs. */
const waiting = { ownNetwork: false, waits: true };

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

/** Plans a start, writes its files and returns the cage that stands on them. */
async function buildCage(request: CageRequest, runtime: Runtime, mayWait: boolean): Promise<Cage> {
  const { files } = runtime;
  const { home } = request.places;
  await requireGround(runtime);
  const [bash] = await Promise.all([findBash(files), files.makeDir(`${home}/run`, PRIVATE)]);
  const facts = await gatherFacts(request, runtime);
  await sweepOnce(home, runtime);
  const { tier, isRoot } = facts;
  const canWait = mayWait && tier.name !== "systemd" && runtime.processes.mayWait !== false;
  const ready = canWait && facts.hostNetwork === null ? await takeReady(home, runtime) : null;
  const dir = ready?.dir ?? await files.makeTempDir(`${home}/run/cage-`);
  const leaveHome = enterHome(home);
  const { limits = DEFAULT_LIMITS, overlays = [] } = request;
  const name = runtime.ids.create("kaged");
  const groups = groupPlan(tier, limits, name);
  let closed = false;
  let watchdog: Watchdog | null = null;
  let gatekeeper: Gatekeeper | null = null;
  // The launcher's files hold the plan, so the cage keeps only these parts of it.
  let kept: Pick<CagePlan, "net" | "granted" | "ownNetwork">;
  const close = async (): Promise<void> => {
    closed = true;
    watchdog?.stop();
    await ready?.discard();
    await gatekeeper?.close();
    await endLeftovers(dir, runtime);
    // A group that could not be removed keeps the folder: its list of groups is how the next host finds it.
    if (await removeGroups(groups.dirs, runtime)) await files.remove(dir);
    await leaveHome();
  };
  try {
    const bound = await boundOptions(request, runtime);
    const trust = bound && { authority: bound.authority.certificate, roots: bound.roots };
    const plan = compileCage(request, { ...facts, runDir: dir, trust });
    kept = { net: plan.net, granted: plan.granted, ownNetwork: plan.ownNetwork };
    // First the list, then the groups: a host that dies in between leaves none that nobody knows of.
    await writeOrders(plan, { groups: groups.dirs, dir, files });
    const nodes = ready === null && plan.sealsNodes ? writeNodeFiles(dir, files) : null;
    await Promise.all([makeGroups(groups, files), writeLaunchFiles(plan, dir, files), nodes]);
    if (netMode(kept.net) === "gated") gatekeeper = await gatekeeperIn(dir, { request, bound, net: kept.net }, runtime);
  } catch (error) {
    await close();
    throw error;
  }
  const launcher = launchCommand(bash, dir, { isRoot, ownNetwork: kept.ownNetwork });
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
      if (closed || tier.name !== "watchdog") return;
      watchdog ??= startWatchdog(() => firstPid(dir, files), limits, runtime);
    },
    async settle(): Promise<void> {
      if (closed) return;
      if (canWait) readyNext(home, (to) => launchCommand(bash, to, { ...waiting, isRoot }), runtime);
      await settleGroups(groups, files);
    },
    async verifyMounts(): Promise<void> {
      const { childPid: pid, launcher } = await readStatus(dir, files);
      if (closed) return;
      const ownNetwork = netMode(kept.net) !== "all";
      const mounts = verifyMounts(pid, { granted: kept.granted, overlays, isRoot }, files);
      mounts.catch(() => {}); // A missing wall comes first.
      if (pid !== null) await verifyWalls(pid, { ownNetwork, launcher }, runtime);
      await mounts;
    },
    diagnose: async (exit: Exit, stderr) =>
      await diagnose({ exit, status: await readStatus(dir, files), stderr, isRoot }, files) ??
        await limitFailure(exit, { limits, groups: groups.dirs, watchdog }, files),
    close,
  };
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
  try {
    await files.target("/proc/self/root/"); // verifyMounts() reads there.
  } catch (cause) {
    throw new HostError("cage.no_permission", `Cannot cage plugins: ${messageOf(cause)}`, {
      cause,
      hint: "Start Deno with the permissions of docs/embed-deno.md",
    });
  }
}
