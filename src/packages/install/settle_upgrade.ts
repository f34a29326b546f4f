/**
 * The last step of an upgrade: running hosts take up the new version, or the version before comes back. Commands and
 * hosts take this step alike.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { isMap } from "../../core/values/plain_data.ts";
import type { ReplacedVersion } from "./apply.ts";
import type { InstallPlan } from "./plan.ts";

/** A running host, as an upgrade sees it. */
export interface UpgradeHost {
  /** Whether the plugin ran there before the upgrade. */
  readonly wasUp: boolean;
  /** Whether the upgrade is undone if the plugin cannot start there. */
  readonly isWanted: boolean;
  /**
   * Has the host run the installed version; returns why it does not, or null. `reload` leaves a process alone that the
   * installed version cannot replace, `restart` ends it.
   */
  order(order: "reload" | "restart"): Promise<HostError | null>;
}

/** A running host of another process. */
export interface OtherHost extends UpgradeHost {
  /** As of any host; `repin` has it read the pinned tools of the plugin again. */
  order(order: "reload" | "restart" | "repin"): Promise<HostError | null>;
}

/** How an upgrade ended that was not undone. */
export interface SettledUpgrade {
  /** Whether the plugin ran in a host, and runs again in each. */
  readonly isUp: boolean;
  /** Why it does not run in hosts where it does not have to. */
  readonly failures: readonly HostError[];
}

/**
 * Has running hosts take up a plugin that was just upgraded. Where it cannot start in a host that wants it, the version
 * before comes back, on the disk and in every host.
 *
 * @throws {HostError} `install.upgrade_failed`, which names the version that is installed now and the reason.
 */
export async function settleUpgrade(
  plan: InstallPlan,
  replaced: ReplacedVersion | null,
  hosts: readonly UpgradeHost[],
): Promise<SettledUpgrade> {
  const answers = await Promise.all(hosts.map(async (host) => ({ host, failure: await host.order("reload") })));
  const failed = answers.flatMap(({ host, failure }) =>
    failure === null || isOfAnother(failure) ? [] : [{ host, failure }]
  );
  const cause = failed.find(({ host, failure }) => host.isWanted && failure.code !== "plugin.disabled")?.failure;
  if (cause) {
    const isBack = await replaced?.bringBack(cause) ?? false;
    // A host whose reload failed still runs the old version. Where it did not run, no process of the new one may stay.
    const others = answers.filter(({ failure }) => failure?.code !== "plugin.reload_failed");
    if (isBack) await Promise.all(others.map(({ host }) => host.order(host.wasUp ? "reload" : "restart")));
    throw upgradeFailed(plan, cause, isBack);
  }
  const isUp = failed.length === 0 && hosts.some(({ wasUp }) => wasUp);
  return { isUp, failures: failed.map(({ failure }) => failure) };
}

/** Whether a host failed because its project has no use of the plugin: nobody declares it, or it may not have it. */
export function isOfAnother({ code, data }: HostError): boolean {
  return code === "plugin.unknown" ||
    (code === "plugin.refused" && isMap(data) && data.reason === "plugin.not_installed");
}

function upgradeFailed({ manifest, installed }: InstallPlan, failure: HostError, isBack: boolean): HostError {
  const { name, version } = manifest;
  const old = installed!.version;
  const state = isBack ? `"${name}" is at ${old} again` : `"${name}" is installed as ${version}`;
  return new HostError("install.upgrade_failed", `${state}: version ${version} could not start. ${failure.message}`, {
    data: { plugin: name, version, kept: isBack ? old : null, reason: failure.code },
    hint: failure.hint ?? `Try it first: kaged plugin check ${isBack ? "<folder>" : name}`,
    cause: failure,
  });
}
