/**
 * The row about limits: the kernel, systemd or the host holds plugins to them.
 *
 * @module
 */
import { DEFAULT_LIMITS, type LimitTierName } from "../../core/cage/limits/cage_limits.ts";
import { chooseTier, type TierChoice } from "../../core/cage/limits/choose_tier.ts";
import { LOOK_INTERVAL_MS } from "../../core/cage/limits/watchdog.ts";
import type { Runtime } from "../../core/ports/ports.ts";
import type { MachineRow } from "./report.ts";

const BY: Readonly<Record<Exclude<LimitTierName, "watchdog">, string>> = {
  cgroup2: "the kernel, by control groups of version 2",
  systemd: "systemd, by a scope for each plugin",
  cgroup1: "the kernel, by control groups of version 1",
};

/** Returns the row about limits. */
export async function limitsRow(runtime: Runtime): Promise<MachineRow> {
  return judgeLimits(await chooseTier(runtime), runtime.uid);
}

/** Judges the way that was found. */
export function judgeLimits({ tier, passed }: TierChoice, uid: number | null): MachineRow {
  const id = "limits";
  const { memory_mb, cpu_shares, pids } = DEFAULT_LIMITS;
  const limits = `${memory_mb} MB, ${cpu_shares} CPU shares, ${pids} processes and threads`;
  if (tier.name !== "watchdog") {
    return { id, status: "ok", detail: `${tier.name}: ${limits}, kept by ${BY[tier.name]}` };
  }
  const why = passed.map(({ name, why }) => `${name}: ${why}`).join("; ");
  const looks = `the host looks every ${LOOK_INTERVAL_MS} ms and ends what is over; CPU shares are not kept`;
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
    : "Run the host as root, or log in through systemd: loginctl enable-linger";
}
