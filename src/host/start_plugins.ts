/**
 * Starts the plugins of a project; what cannot start is told, and holds nobody up.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import { asHostError, HostError } from "../core/errors/host_error.ts";
import type { ResolvedInstance } from "../core/project/types.ts";
import type { PluginSpec, Supervisor } from "../core/supervisor/types.ts";
import { auditLoad, refusedInstance } from "./audit_load.ts";
import type { HostProject } from "./host_project.ts";

/** What starting needs. */
export interface StartOptions {
  /** The project. */
  readonly loaded: HostProject;
  /** Looks after the processes. */
  readonly supervisor: Supervisor;
  /** Where audit events go. */
  readonly audit: Audit;
  /** Whether the project was never started before. */
  readonly isFirst: boolean;
}

/** What came of it. */
export interface StartReport {
  /** Instances that run. */
  running: string[];
  /** Instances that do not, and why; they may still come up by themselves. */
  failed: { instance: string; error: HostError }[];
}

/** Registers every instance that is not yet, and starts those that may run. */
export async function startPlugins({ loaded, supervisor, audit, isFirst }: StartOptions): Promise<StartReport> {
  const { resolved } = loaded;
  const failed = resolved.refusals.map((refusal) => ({
    instance: refusedInstance(refusal, resolved.id),
    error: refusal.error,
  }));
  if (isFirst) auditLoad(resolved, audit);
  const registered = new Set(supervisor.plugins().map(({ instance }) => instance));
  for (const instance of resolved.instances.filter((one) => !registered.has(one.instance))) {
    const error = await registerInstance(instance, loaded, supervisor);
    if (error) failed.push({ instance: instance.instance, error });
  }
  const started = await supervisor.startAll();
  const told = new Set([...failed, ...started.failed].map(({ instance }) => instance));
  const disabled = supervisor.plugins().filter(({ instance, status }) => status === "disabled" && !told.has(instance));
  return {
    running: started.running,
    failed: [
      ...failed,
      ...started.failed,
      ...disabled.map(({ instance, plugin }) => ({ instance, error: disabledError(plugin) })),
    ],
  };
}

/** Returns what the supervisor is told of an instance. */
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

/** Has an instance looked after, without starting it; returns why it cannot be, or null. */
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

/** Why a plugin that nobody enabled does nothing. */
export function disabledError(plugin: string): HostError {
  return new HostError("plugin.disabled", `[BLOCKED] Plugin "${plugin}" is not enabled`, {
    data: { plugin },
    hint: `Run kaged plugin enable ${plugin}`,
  });
}
