/**
 * Starts the plugins of a project. One that cannot start is reported, and holds up no other.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import { HostError } from "../core/errors/host_error.ts";
import { onDemandOf } from "../core/project/start_settings.ts";
import { netLimitsOf } from "../core/project/net_rules.ts";
import { refusedPlugins } from "../core/project/refused_plugins.ts";
import type { ResolvedInstance } from "../core/project/types.ts";
import type { PluginSpec, Supervisor } from "../core/supervisor/types.ts";
import { auditLoad, errorFacts } from "./audit_load.ts";
import type { FailedReloads } from "./failed_reloads.ts";
import type { HostPins } from "./host_pins.ts";
import type { HostProject } from "./host_project.ts";

/** The rooms that an instance is registered with. */
export interface RegisterPorts {
  readonly supervisor: Supervisor;
  /** Tools of MCP servers that may rest; without it each is started once. */
  readonly pins?: Pick<HostPins, "pinnedTools" | "recall">;
  readonly failedReloads: FailedReloads;
  readonly audit: Pick<Audit, "emit">;
}

/** The rooms of the host that a start passes. */
export interface StartOptions extends RegisterPorts {
  readonly loaded: HostProject;
  /** Whether the project was never started before: only then is its load audited. */
  readonly isFirst: boolean;
  /** Once it aborts, no further plugin is registered or started; those that were go down with the supervisor. */
  readonly signal: AbortSignal;
}

/** Instances by how their start went. */
export interface StartReport {
  running: string[];
  /** Without a process until the first call or hook. */
  resting: string[];
  /** They may still come up by themselves. */
  failed: { instance: string; error: HostError }[];
}

/** Registers every instance that is not yet, and starts those that may run. Rejects with the reason of the signal. */
export async function startPlugins({ loaded, isFirst, signal, ...ports }: StartOptions): Promise<StartReport> {
  const { resolved } = loaded;
  const { supervisor, audit } = ports;
  const delegates = resolved.refusals.filter(({ error }) => error.code === "project.invalid_delegate");
  const failed = [
    ...refusedPlugins(resolved).map(({ instance, error }) => ({ instance, error })),
    ...delegates.map(({ agent, key, error }) => ({ instance: `${key}@${resolved.id}/${agent}`, error })),
  ];
  const registered = new Set(supervisor.plugins().map(({ instance }) => instance));
  const fresh = resolved.instances.filter((one) => !registered.has(one.instance));
  const errors = await registerInstances(fresh, loaded, ports);
  errors.forEach((error, at) => error && failed.push({ instance: fresh[at]!.instance, error }));
  // Behind the reading of manifests, which would wait for the trail, and before any plugin can be called.
  if (isFirst) auditLoad(resolved, audit);
  signal.throwIfAborted();
  const { running, resting, ...others } = await supervisor.startAll();
  const disabled = others.disabled.map((instance) => ({
    instance,
    error: disabledError(supervisor.plugin(instance).plugin),
  }));
  return { running, resting, failed: [...failed, ...others.failed, ...disabled] };
}

/** The parts of a project that decide how an instance is registered. */
type SpecProject = Pick<HostProject, "resolved" | "isEnabled" | "operator">;

/** Returns an instance as the supervisor registers it. */
export function specOf(
  one: ResolvedInstance,
  { resolved, isEnabled, operator }: SpecProject,
  pins?: Pick<HostPins, "pinnedTools">,
): PluginSpec {
  const { dir, hash, instance, config, starts, manifest: { withheld, added } } = one;
  const onDemand = onDemandOf(starts, operator.plugins);
  const pinnedTools = onDemand === null ? undefined : pins?.pinnedTools(one);
  return {
    dir,
    instance,
    config,
    projectDir: resolved.dir,
    projects: [resolved.id],
    netLimits: netLimitsOf(operator.netRules, one),
    enabled: isEnabled(one),
    ...(hash !== undefined && { hash }),
    ...(withheld !== undefined && { withheld }),
    ...(added !== undefined && { added }),
    ...(onDemand !== null && { onDemand }),
    ...(pinnedTools !== undefined && { pinnedTools }),
  };
}

/**
 * Registers instances with the supervisor, without starting them. Returns why that fails, or null, for each: its files may
 * have changed since the project was read, and then it is refused like a plugin that was found so.
 */
export async function registerInstances(
  all: readonly ResolvedInstance[],
  project: SpecProject,
  { supervisor, pins, failedReloads, audit }: RegisterPorts,
): Promise<(HostError | null)[]> {
  const specs = all.map((one) => specOf(one, project, pins));
  const errors = await supervisor.registerAll(specs);
  all.forEach((one, at) => {
    const error = errors[at]!;
    failedReloads.noteRegistration(one.instance, error);
    if (error) return auditRefused(one, error, audit);
    const { pinnedTools } = specs[at]!;
    if (pinnedTools) pins?.recall(one, pinnedTools);
  });
  return errors;
}

function auditRefused(
  { instance, plugin: name, agents }: ResolvedInstance,
  error: HostError,
  audit: RegisterPorts["audit"],
): void {
  audit.emit("plugin.refused", { name, instance }, { ...errorFacts(error), agent_path: agents[0] ?? "" });
}

/** Returns the error of a plugin that the operator has not enabled. */
export function disabledError(plugin: string): HostError {
  return new HostError("plugin.disabled", `[BLOCKED] Plugin "${plugin}" is not enabled`, {
    data: { plugin },
    hint: `Run kaged plugin enable ${plugin}`,
  });
}
