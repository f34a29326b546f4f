/**
 * The doctor's rows about cages: bubblewrap, a real cage, and the way limits are kept.
 *
 * @module
 */
import type { CageRequest } from "../../core/cage/cage.ts";
import { findBash } from "../../core/cage/find_bash.ts";
import { findBwrap } from "../../core/cage/find_bwrap.ts";
import { DEFAULT_LIMITS, type LimitTierName } from "../../core/cage/limits/cage_limits.ts";
import type { TierChoice } from "../../core/cage/limits/choose_tier.ts";
import { LOOK_INTERVAL_MS } from "../../core/cage/limits/watchdog.ts";
import { type OwnNetwork, tryOwnNetwork } from "../../core/cage/net/own_network.ts";
import { probeCage } from "../../core/cage/probe_cage.ts";
import { RUN_AS_USER } from "../../core/cage/sealed_nodes.ts";
import { asHostError, type HostError } from "../../core/errors/host_error.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import type { MachineRow } from "./report.ts";

/** Flags that make a cage tighter where bubblewrap knows them, each with its use. */
const OPTIONAL_FLAGS: Readonly<Record<string, string>> = {
  "--disable-userns": "keeps plugins from making namespaces of their own",
  "--size": "keeps plugins from filling memory through /tmp",
};

/** The rows about bubblewrap and about a real cage, with the failure of that cage. */
export interface CageRows {
  readonly bubblewrap: MachineRow;
  readonly cage: MachineRow;
  /** How caged programs reach granted hosts; null where nothing can be caged. */
  readonly network: MachineRow | null;
  readonly error: HostError | null;
}

/**
 * Builds a real cage under `home` and returns the rows about it; `install` gives the command to install a package,
 * `runtimes` may name a bubblewrap of the operator's.
 */
export async function cageRows(
  runtime: Runtime,
  home: string,
  { install, runtimes }: {
    readonly install: (packageName: string) => string;
    readonly runtimes: CageRequest["runtimes"];
  },
): Promise<CageRows> {
  const failed = (id: string, { code, message, hint: ownHint }: HostError): MachineRow => {
    const hint = ["cage.bwrap_missing", "cage.bwrap_old"].includes(code) ? install("bubblewrap") : ownHint;
    return { id, status: "missing", detail: message, code, ...(hint !== undefined && { hint }) };
  };
  const { error, version } = await probeCage(runtime, home, runtimes);
  const bwrap = await findBwrap(runtime, runtimes).catch(asHostError);
  const cage: MachineRow = error === null
    ? { id: "cage", status: "ok", detail: "A program ran in a cage like the ones plugins get" }
    : failed("cage", error);
  if (!("flags" in bwrap)) return { bubblewrap: failed("bubblewrap", bwrap), cage, network: null, error };

  const detail = `bubblewrap ${version ?? "of an unknown version"} at ${bwrap.path}, only root can change it`;
  const absent = Object.entries(OPTIONAL_FLAGS).filter(([flag]) => !bwrap.flags.has(flag));
  const lacks = absent.map(([flag, use]) => `${flag}, which ${use}`).join(", and ");
  const bubblewrap: MachineRow = absent.length === 0 ? { id: "bubblewrap", status: "ok", detail } : {
    id: "bubblewrap",
    status: "degraded",
    detail: `${detail}, but it lacks ${lacks}`,
    hint: `${install("bubblewrap")}; 0.8 or newer is needed for them`,
  };
  const network = error === null
    ? judgeNetwork(await tryOwnNetwork({ bash: await findBash(runtime.files), bwrap: bwrap.path }, runtime))
    : null;
  return { bubblewrap, cage, network, error };
}

/** Judges how a caged program reaches a host that it was granted. */
export function judgeNetwork({ hosts, why }: OwnNetwork): MachineRow {
  const id = "network";
  if (hosts !== null) {
    return { id, status: "ok", detail: "Any program in a cage can connect to the hosts it was granted" };
  }
  return {
    id,
    status: "degraded",
    detail:
      `Below port 1024 a caged program reaches granted hosts only through the proxy of its cage, which some clients ` +
      `do not know: no user namespace could be made around that of the cage (${why})`,
    hint: "Allow /usr/bin/unshare to make user namespaces, and install iproute2 or perl",
  };
}

/** Judges who runs the host: root is never recommended, for one wall that fails would then cost the whole machine. */
export function judgeUser(uid: number | null, error: HostError | null): MachineRow {
  const id = "user";
  if (uid !== 0) return { id, status: "ok", detail: `User ${uid ?? "of an unknown id"}, not root` };
  const hint = RUN_AS_USER;
  if (error?.code === "cage.root_refused") {
    const { why } = error.data as { why: string };
    return { id, status: "missing", detail: `Root, whose walls cannot stand here: ${why}`, hint, code: error.code };
  }
  const walls = error === null
    ? "its walls stand: device nodes and /proc are read-only in a cage, and no file in it becomes set-id"
    : "whether the walls that root needs stand could not be tried";
  return { id, status: "degraded", detail: `Root, which is not recommended; ${walls}`, hint };
}

const BY: Readonly<Record<Exclude<LimitTierName, "watchdog">, string>> = {
  cgroup2: "the kernel, by control groups of version 2",
  systemd: "systemd, by a scope for each plugin",
  cgroup1: "the kernel, by control groups of version 1",
};

/** Judges the way that was found. */
export function judgeLimits({ tier, passed }: TierChoice, uid: number | null): MachineRow {
  const id = "limits";
  const { memory_mb, cpu_shares, pids } = DEFAULT_LIMITS;
  const limits = `${memory_mb} MB, ${cpu_shares} CPU shares, ${pids} processes and threads`;
  if (tier.name !== "watchdog") {
    return { id, status: "ok", detail: `${tier.name}: ${limits}, kept by ${BY[tier.name]}` };
  }
  const why = passed.map(({ name, why }) => `${name}: ${why}`).join("; ");
  const looks = `the host looks at least every ${LOOK_INTERVAL_MS} ms and ends what is over; CPU shares are not kept`;
  return { id, status: "degraded", detail: `watchdog: ${limits}, ${looks} (${why})`, hint: nextStep(passed, uid) };
}

/** The shortest way to something better. */
function nextStep(passed: TierChoice["passed"], uid: number | null): string {
  const group = "/sys/fs/cgroup/kaged";
  const isUnified = passed.some(({ name, why }) => name === "cgroup2" && /share|EACCES|permission/i.test(why));
  if (isUnified && uid !== 0) {
    const give = `sudo mkdir -p ${group} && sudo chown -R $(id -u) ${group}`;
    return `Run, in the shell that starts the host: ${give} && echo $$ | sudo tee ${group}/cgroup.procs`;
  }
  if (isUnified) return `Run, in the shell that starts the host: mkdir -p ${group} && echo $$ > ${group}/cgroup.procs`;
  return uid === 0
    ? "Run the host outside a container, or in one that may write to /sys/fs/cgroup"
    : "Let systemd run a manager for this user: loginctl enable-linger, then log in again";
}
