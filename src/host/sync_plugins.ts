/**
 * Brings the processes of a host in line with a freshly resolved project.
 *
 * @module
 */
import { asHostError, type HostError } from "../core/errors/host_error.ts";
import type { ResolvedInstance } from "../core/project/types.ts";
import { canonicalText } from "../core/values/canonical_text.ts";
import type { PluginInfo, Replacement } from "../core/supervisor/types.ts";
import type { HostProject } from "./host_project.ts";
import type { HostModel } from "./model.ts";
import { registerInstances, type RegisterPorts, specOf } from "./start_plugins.ts";

/** The model and the processes that follow the project. */
export interface SyncPorts extends RegisterPorts {
  readonly model: HostModel;
  /** Called when the model has the new project, before any plugin is called through it. */
  readonly onAdopted: (fresh: HostProject) => void;
}

/** Instances to start again although their files are the same. */
export interface Renewal {
  /** Every instance of this plugin is started again. */
  readonly plugin?: string;
  /** By instance: a process that is ready to take over. Given, one that came up meanwhile is replaced likewise. */
  readonly replacements?: ReadonlyMap<string, Replacement>;
}

/** The outcome of {@link syncPlugins}. */
export interface SyncOutcome {
  /** By instance: why it could not be started or reconfigured. */
  readonly failed: ReadonlyMap<string, HostError>;
  /** Resolves when every replaced process has ended. */
  readonly gone: Promise<unknown>;
}

/**
 * Adopts `fresh`: replacements take over in the same turn of the event loop, instances that are gone stop, instances that
 * are new or have other files or capabilities start, and instances with another config get it. Throws, and changes nothing, when a
 * replacement has ended already.
 */
export async function syncPlugins(
  fresh: HostProject,
  { model, onAdopted, ...ports }: SyncPorts,
  { plugin: renewed, replacements: given }: Renewal = {},
): Promise<SyncOutcome> {
  const { supervisor } = ports;
  const replacements = given ?? new Map<string, Replacement>();
  for (const { error } of replacements.values()) if (error) throw error;
  const before = new Map(model.project.instances.map((one) => [one.instance, one]));
  const after = new Map(fresh.resolved.instances.map((one) => [one.instance, one]));
  const registered = supervisor.plugins().filter(({ instance }) => before.has(instance));
  const wasUp = new Set(registered.filter(isUp).map(({ instance }) => instance));
  const stays = ({ instance, plugin }: { instance: string; plugin: string }): boolean =>
    plugin !== renewed && isSame(before.get(instance), after.get(instance));
  model.adopt(fresh.resolved);
  onAdopted(fresh);
  const leaving = Array.from(replacements.values(), (replacement) => replacement.commit());

  const others = registered.filter(({ instance }) => !replacements.has(instance));
  const failed = new Map<string, HostError>();
  const fail = (instance: string) => (error: unknown): void => void failed.set(instance, asHostError(error));
  const kept = new Set(others.filter(stays).map(({ instance }) => instance));
  const changed = new Set<string>();
  await Promise.all(
    others.filter((one) => !stays(one)).map(async ({ instance }) => {
      const one = after.get(instance);
      if (!one || !fresh.isEnabled(one)) return await supervisor.unregister(instance);
      if (await exchange(one, fresh, ports)) return void changed.add(instance);
      const next = given && await overtake(one, fresh, ports).catch(fail(instance));
      if (next) leaving.push(next.commit());
      if (next || failed.has(instance)) changed.add(instance);
      else await supervisor.unregister(instance);
    }),
  );
  await Promise.all(fresh.resolved.instances.map(async (one) => {
    const { instance, config } = one;
    if (replacements.has(instance) || changed.has(instance)) return;
    if (kept.has(instance)) {
      const hasChanged = canonicalText(before.get(instance)!.config) !== canonicalText(config);
      return hasChanged ? await supervisor.updateConfig(instance, config).catch(fail(instance)) : undefined;
    }
    const [error] = await registerInstances([one], fresh, ports);
    if (error) failed.set(instance, error);
    else if (fresh.isEnabled(one)) {
      // One that had a process gets another: whoever restarts it wants to see it run.
      const start = wasUp.has(instance) ? supervisor.start : supervisor.ready;
      await start(instance).catch(fail(instance));
    }
  }));
  return { failed, gone: Promise.allSettled(leaving) };
}

/** Gives an instance that rests its new files. False when it does not, or cannot with those. */
async function exchange(one: ResolvedInstance, fresh: HostProject, ports: RegisterPorts): Promise<boolean> {
  const { supervisor, pins, failedReloads } = ports;
  const spec = specOf(one, fresh, pins);
  if (supervisor.plugin(one.instance).status !== "resting") return false;
  if (!await supervisor.exchange(spec).catch(() => false)) return false;
  if (spec.pinnedTools) pins?.recall(one, spec.pinnedTools);
  failedReloads.noteRegistration(one.instance, null);
  return true;
}

/** Starts a process beside one that a call has woken since the replacements were prepared. Null where none has. */
async function overtake(one: ResolvedInstance, fresh: HostProject, ports: RegisterPorts): Promise<Replacement | null> {
  const { supervisor, pins } = ports;
  const status = (): string => supervisor.plugin(one.instance).status;
  if (status() === "spawning") await supervisor.wake(one.instance, "reload").catch(() => {});
  if (status() !== "running") return null;
  return await supervisor.replace(one.instance, specOf(one, fresh, pins));
}

function isUp({ status }: PluginInfo): boolean {
  return status === "running" || status === "spawning" || status === "crashed";
}

/**
 * Whether both run the same files with the same capabilities, and start at the same time. A host that was added meanwhile restarts nothing: the
 * running gatekeeper lets it through, or asks.
 */
function isSame(a: ResolvedInstance | undefined, b: ResolvedInstance | undefined): boolean {
  if (a === undefined || b === undefined || a.dir !== b.dir || a.hash !== b.hash) return false;
  if (canonicalText(a.starts ?? {}) !== canonicalText(b.starts ?? {})) return false;
  if ((a.manifest.added ?? []).some((host) => !b.manifest.capabilities.includes(host))) return false;
  return canonicalText(a.manifest.withheld ?? []) === canonicalText(b.manifest.withheld ?? []);
}
