/**
 * Starts the plugins of a project. One that cannot start is reported, and holds up no other.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import { asHostError, HostError } from "../core/errors/host_error.ts";
import { refusedPlugins } from "../core/project/refused_plugins.ts";
import type { ResolvedInstance } from "../core/project/types.ts";
import type { PluginSpec, Supervisor } from "../core/supervisor/types.ts";
import { auditLoad } from "./audit_load.ts";
import type { HostProject } from "./host_project.ts";

/** The rooms of the host that a start passes. */
export interface StartOptions {
  readonly loaded: HostProject;
  readonly supervisor: Supervisor;
  readonly audit: Audit;
  /** Whether the project was never started before: only then is its load audited. */
  readonly isFirst: boolean;
}

/** Instances by how their start went. */
export interface StartReport {
  running: string[];
  /** They may still come up by themselves. */
  failed: { instance: string; error: HostError }[];
}

/** Registers every instance that is not yet, and starts those that may run. */
export async function startPlugins({ loaded, supervisor, audit, isFirst }: StartOptions): Promise<StartReport> {
  const { resolved } = loaded;
  const delegates = resolved.refusals.filter(({ error }) => error.code === "project.invalid_delegate");
  const failed = [
    ...refusedPlugins(resolved).map(({ instance, error }) => ({ instance, error })),
    ...delegates.map(({ agent, key, error }) => ({ instance: `${key}@${resolved.id}/${agent}`, error })),
  ];
  if (isFirst) auditLoad(resolved, audit);
  const registered = new Set(supervisor.plugins().map(({ instance }) => instance));
  for (const instance of resolved.instances.filter((one) => !registered.has(one.instance))) {
    const error = await registerInstance(instance, loaded, supervisor);
    if (error) failed.push({ instance: instance.instance, error });
  }
  const started = await supervisor.startAll();
  const reported = new Set([...failed, ...started.failed].map(({ instance }) => instance));
  const disabled = supervisor.plugins().filter(({ instance, status }) =>
    status === "disabled" && !reported.has(instance)
  );
  return {
    running: started.running,
    failed: [
      ...failed,
      ...started.failed,
      ...disabled.map(({ instance, plugin }) => ({ instance, error: disabledError(plugin) })),
    ],
  };
}

/** Returns an instance as the supervisor registers it. */
export function specOf(
  one: ResolvedInstance,
  { resolved, isEnabled }: Pick<HostProject, "resolved" | "isEnabled">,
): PluginSpec {
  const { dir, hash, instance, config } = one;
  return {
    dir,
    ...(hash !== undefined && { hash }),
    instance,
    config,
    projectDir: resolved.dir,
    projects: [resolved.id],
    enabled: isEnabled(one),
  };
}

/** Registers an instance with the supervisor, without starting it; returns why that fails, or null. */
export async function registerInstance(
  instance: ResolvedInstance,
  project: Pick<HostProject, "resolved" | "isEnabled">,
  supervisor: Supervisor,
): Promise<HostError | null> {
  try {
    await supervisor.register(specOf(instance, project));
    return null;
  } catch (error) {
    return asHostError(error);
  }
}

/** Returns the error of a plugin that the operator has not enabled. */
export function disabledError(plugin: string): HostError {
  return new HostError("plugin.disabled", `[BLOCKED] Plugin "${plugin}" is not enabled`, {
    data: { plugin },
    hint: `Run kaged plugin enable ${plugin}`,
  });
}
