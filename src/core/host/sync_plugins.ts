/**
 * Brings the processes of a host in line with a project that was resolved anew.
 *
 * @module
 */
import { asHostError, type HostError } from "../errors.ts";
import type { ResolvedInstance } from "../project/types.ts";
import { canonicalText } from "../schema/canonical_text.ts";
import type { Supervisor } from "../supervisor/types.ts";
import type { HostProject } from "./host_project.ts";
import type { HostModel } from "./model.ts";
import { registerInstance } from "./start_plugins.ts";

/** What is brought in line. */
export interface SyncPorts {
  /** What the host knows of the project. */
  readonly model: HostModel;
  /** Looks after the processes. */
  readonly supervisor: Supervisor;
}

/**
 * Takes over `fresh`: what is gone stops, what is new or has other files starts, what has another config is told, and
 * every instance of `restart` starts anew. Returns what could not be started.
 */
export async function syncPlugins(
  fresh: HostProject,
  { model, supervisor }: SyncPorts,
  restart: string | null = null,
): Promise<Map<string, HostError>> {
  const before = new Map(model.project.instances.map((one) => [one.instance, one]));
  const after = new Map(fresh.resolved.instances.map((one) => [one.instance, one]));
  const registered = supervisor.plugins().filter(({ instance }) => before.has(instance));
  const stays = ({ instance, plugin }: { instance: string; plugin: string }): boolean =>
    plugin !== restart && isSame(before.get(instance), after.get(instance));
  await Promise.all(registered.filter((one) => !stays(one)).map(({ instance }) => supervisor.unregister(instance)));
  model.adopt(fresh.resolved);
  const failed = new Map<string, HostError>();
  const fail = (instance: string) => (error: unknown): void => void failed.set(instance, asHostError(error));
  const kept = new Set(registered.filter(stays).map(({ instance }) => instance));
  await Promise.all(fresh.resolved.instances.map(async (one) => {
    const { instance, config } = one;
    if (kept.has(instance)) {
      const isTold = canonicalText(before.get(instance)!.config) !== canonicalText(config);
      return isTold ? await supervisor.updateConfig(instance, config).catch(fail(instance)) : undefined;
    }
    const error = await registerInstance(one, fresh, supervisor);
    if (error) failed.set(instance, error);
    else if (fresh.isEnabled(one)) await supervisor.start(instance).catch(fail(instance));
  }));
  return failed;
}

/** Whether the same files are run. */
function isSame(a: ResolvedInstance | undefined, b: ResolvedInstance | undefined): boolean {
  return a !== undefined && b !== undefined && a.dir === b.dir && a.hash === b.hash;
}
