/**
 * The first half of a reload: every step that can fail, taken while the old processes still serve.
 *
 * @module
 */
import { asHostError, HostError } from "../core/errors/host_error.ts";
import type { ResolvedInstance, ResolvedProject } from "../core/project/types.ts";
import type { Replacement, Supervisor } from "../core/supervisor/types.ts";
import { factsOf } from "./audit_load.ts";
import type { HostProject } from "./host_project.ts";
import { disabledError, type RegisterPorts, specOf } from "./start_plugins.ts";

/** Throws unless a plugin with these instances can be reloaded: it is not disabled, and the host runs. */
export function checkReloadable(
  plugin: string,
  instances: readonly ResolvedInstance[],
  { supervisor, failedReloads }: Pick<RegisterPorts, "supervisor" | "failedReloads">,
  isVouchedFor: (instance: ResolvedInstance) => boolean,
): void {
  const live = new Map(supervisor.plugins().map((info) => [info.instance, info.status]));
  const unregistered = (instance: string) => failedReloads.ofRegistration(instance) ? "refused" : "stopped";
  const states = instances.map(({ instance }) => live.get(instance) ?? unregistered(instance));
  // A folder that the embedder vouches for has no install record that could have enabled it meanwhile.
  if (instances.every(isVouchedFor) && states.every((state) => state === "disabled")) throw disabledError(plugin);
  if (states.some((state) => state !== "stopped")) return;
  throw new HostError("plugin.unavailable", `[BLOCKED] Plugin "${plugin}" is stopped`, {
    data: { plugin, status: "stopped" },
    hint: "Start the host first",
  });
}

/** Throws the error of a refusal that is new in `fresh` and would take the plugin from an agent that has it. */
export function checkNotRefused(plugin: string, before: ResolvedProject, fresh: ResolvedProject): void {
  const uses = new Set(
    before.agents.flatMap(({ path, plugins }) =>
      plugins.filter((one) => one.plugin === plugin).map(({ key }) => `${path} ${key}`)
    ),
  );
  const own = new Set(before.instances.filter((one) => one.plugin === plugin).map(({ instance }) => instance));
  const known = new Set(before.refusals.map(factsOf));
  const refusal = fresh.refusals.find((one) => {
    const isOwn = one.agent === "" ? own.has(one.instance ?? "") : uses.has(`${one.agent} ${one.key}`);
    // One that was uninstalled goes, as the operator wanted.
    return isOwn && one.error.code !== "plugin.not_installed" && !known.has(factsOf(one));
  });
  if (refusal) throw refusal.error;
}

/**
 * Starts a new process beside each running instance of a plugin. Rejects with the first failure, once the processes that
 * did start are ended.
 */
export async function prepareReload(
  plugin: string,
  fresh: HostProject,
  supervisor: Supervisor,
): Promise<Map<string, Replacement>> {
  const running = new Set(
    supervisor.plugins().filter(({ status }) => status === "running").map(({ instance }) => instance),
  );
  const own = fresh.resolved.instances.filter((one) =>
    one.plugin === plugin && running.has(one.instance) && fresh.isEnabled(one)
  );
  const tries = await Promise.allSettled(own.map((one) => supervisor.replace(one.instance, specOf(one, fresh))));
  const ready = new Map(
    tries.flatMap((one, at) => one.status === "fulfilled" ? [[own[at]!.instance, one.value] as const] : []),
  );
  const failure = tries.find((one) => one.status === "rejected");
  if (!failure) return ready;
  const error = asHostError(failure.reason);
  await discardAll(ready, error);
  throw error;
}

/** Ends the processes of replacements that will not be used because of `error`. */
export async function discardAll(replacements: ReadonlyMap<string, Replacement>, error: HostError): Promise<void> {
  await Promise.all(Array.from(replacements.values(), (replacement) => replacement.discard(error)));
}

/** The failure of a reload whose plugin still runs as before. */
export function reloadFailed(plugin: string, cause: HostError): HostError {
  return new HostError("plugin.reload_failed", `Plugin "${plugin}" goes on as it was: ${cause.message}`, {
    data: { plugin, reason: cause.code, ...(cause.data !== undefined && { cause: cause.data }) },
    ...(cause.hint !== undefined && { hint: cause.hint }),
    cause,
  });
}
