/**
 * Brings the processes of a host in line with a project that was resolved anew.
 *
 * @module
 */
import { asHostError, type HostError } from "../core/errors/host_error.ts";
import type { ResolvedInstance } from "../core/project/types.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import type { Replacement, Supervisor } from "../core/supervisor/types.ts";
import type { HostProject } from "./host_project.ts";
import type { HostModel } from "./model.ts";
import { registerInstance } from "./start_plugins.ts";

/** What is brought in line. */
export interface SyncPorts {
  /** What the host knows of the project. */
  readonly model: HostModel;
  /** Looks after the processes. */
  readonly supervisor: Supervisor;
  /** Runs when the model has another project, before any plugin is called through it. */
  readonly onAdopted: () => void;
}

/** What is started anew although it looks the same. */
export interface Renewal {
  /** A plugin: each of its instances is started anew. */
  readonly plugin?: string;
  /** Those that have another process standing ready, which takes over. */
  readonly replacements?: ReadonlyMap<string, Replacement>;
}

/** What came of it. */
export interface SyncOutcome {
  /** What could not be started. */
  readonly failed: ReadonlyMap<string, HostError>;
  /** Resolves when every process that was taken over from is gone. */
  readonly gone: Promise<unknown>;
}

/**
 * Takes over `fresh`: replacements take over in the same turn, what is gone stops, what is new or has other files
 * starts, what has another config is told. Throws, and changes nothing, when a replacement has ended.
 */
export async function syncPlugins(
  fresh: HostProject,
  { model, supervisor, onAdopted }: SyncPorts,
  { plugin: renewed, replacements = new Map() }: Renewal = {},
): Promise<SyncOutcome> {
  for (const { error } of replacements.values()) if (error) throw error;
  const before = new Map(model.project.instances.map((one) => [one.instance, one]));
  const after = new Map(fresh.resolved.instances.map((one) => [one.instance, one]));
  const registered = supervisor.plugins().filter(({ instance }) => before.has(instance));
  const stays = ({ instance, plugin }: { instance: string; plugin: string }): boolean =>
    plugin !== renewed && isSame(before.get(instance), after.get(instance));
  model.adopt(fresh.resolved);
  onAdopted();
  const gone = Promise.allSettled(Array.from(replacements.values(), (replacement) => replacement.commit()));

  const others = registered.filter(({ instance }) => !replacements.has(instance));
  await Promise.all(others.filter((one) => !stays(one)).map(({ instance }) => supervisor.unregister(instance)));
  const failed = new Map<string, HostError>();
  const fail = (instance: string) => (error: unknown): void => void failed.set(instance, asHostError(error));
  const kept = new Set(others.filter(stays).map(({ instance }) => instance));
  await Promise.all(fresh.resolved.instances.map(async (one) => {
    const { instance, config } = one;
    if (replacements.has(instance)) return;
    if (kept.has(instance)) {
      const isTold = canonicalText(before.get(instance)!.config) !== canonicalText(config);
      return isTold ? await supervisor.updateConfig(instance, config).catch(fail(instance)) : undefined;
    }
    const error = await registerInstance(one, fresh, supervisor);
    if (error) failed.set(instance, error);
    else if (fresh.isEnabled(one)) await supervisor.start(instance).catch(fail(instance));
  }));
  return { failed, gone };
}

/** Whether the same files are run. */
function isSame(a: ResolvedInstance | undefined, b: ResolvedInstance | undefined): boolean {
  return a !== undefined && b !== undefined && a.dir === b.dir && a.hash === b.hash;
}
