/**
 * Project file, operator's file and manifests → what each agent gets and which processes run. Nothing here starts
 * anything, and a plugin that cannot be used is left out with its reason while the rest goes on.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import { baseRefused, cascade, type CascadeEntry, type EffectiveDeclaration } from "./cascade.ts";
import { checkAgents, type Outcome } from "./check_agents.ts";
import { evaluatePlugin } from "./evaluate_plugin.ts";
import { Finder } from "./finder.ts";
import { hostPlugins } from "./host_plugins.ts";
import type { LocalConfig } from "./local_config.ts";
import { type Locate, pluginNameOf } from "./locate.ts";
import {
  type AgentSpec,
  type Issue,
  type MissingPlugin,
  type PluginRefusal,
  type Project,
  type ResolvedAgent,
  type ResolvedInstance,
  type ResolvedPlugin,
  type ResolvedProject,
  stepsTo,
} from "./types.ts";
import { variablePlaces } from "./variables.ts";

/** Everything a project is resolved from. */
export interface ResolveOptions {
  readonly project: Project;
  readonly local: LocalConfig;
  readonly locate: Locate;
  /** A variable of the host's environment, or null. */
  readonly env: (name: string) => string | null;
}

/** Resolves a project. Never throws for the content of a file: refusals and warnings are in the result. */
export async function resolveProject({ project, local, locate, env }: ResolveOptions): Promise<ResolvedProject> {
  const warnings: Issue[] = [...project.warnings, ...local.warnings];
  const found = new Finder({ locate, local, env, warnings });
  const outcomes = new Map<CascadeEntry, Outcome>();
  const missing = new Map<string, MissingPlugin>();
  const unfit = new Map<string, MissingPlugin>();
  const bases = new Map<string, ResolvedPlugin>();
  const entries = cascade(project);
  // Base declarations first, wherever in the tree they stand: the others share their config.
  for (const entry of [...entries].sort((a, b) => Number(a.base !== null) - Number(b.base !== null))) {
    outcomes.set(entry, await outcomeOf(entry));
  }
  const inOrder = entries.map((entry) => outcomes.get(entry)!);
  for (const { entry } of inOrder) warnOfVariables(entry, project, warnings);
  const refusals: PluginRefusal[] = inOrder.flatMap(({ entry, instance, errors }) =>
    errors.map((error) => refusal(entry, instance, error))
  );
  const agents = checkAgents(project, inOrder, { refusals, warnings });
  const instances = instancesOf(agents, bases);
  const declared = new Set(entries.map(({ declaration: { package: pkg = "" } }) => pluginNameOf(pkg)));
  await hostPlugins(local, found, { declared, instances, refusals });
  const lacking = { missing: [...missing.values()], unfit: [...unfit.values()] };
  return { id: project.id, dir: project.dir, agents, instances, ...lacking, refusals, warnings };

  async function outcomeOf(entry: CascadeEntry): Promise<Outcome> {
    const { outcome, base } = entry;
    if (!isEffective(outcome)) return { entry, instance: null, plugin: null, errors: [outcome] };
    const location = await found.plugin(outcome.package);
    if (location === null) {
      noteMissing(missing, entry, outcome);
      return { entry, instance: null, plugin: null, errors: [] };
    }
    if (!("manifest" in location)) return { entry, instance: null, plugin: null, errors: [location] };
    const instance = instanceOf(project, entry.agent, { plugin: location.manifest.name, isolation: outcome.isolation });
    const baseOutcome = base ? outcomes.get(base) : undefined;
    if (base && !baseOutcome?.plugin) {
      return { entry, instance, plugin: null, errors: [baseRefused(project, entry, base)] };
    }
    const result = await evaluatePlugin(project, entry, {
      declaration: outcome,
      location,
      instance,
      system: await found.system(outcome.package, location),
      base: baseOutcome?.plugin ?? null,
      localFile: local.file,
    });
    if (!("plugin" in result)) {
      // A folder the embedder vouches for is the embedder's to change.
      const isUnfit = location.hash !== undefined && result.some(({ code }) => code === "project.version_mismatch");
      if (isUnfit) noteMissing(unfit, entry, outcome);
      return { entry, instance, plugin: null, errors: result };
    }
    if (!base && !bases.has(result.instance)) bases.set(result.instance, result);
    return { entry, instance, plugin: result, errors: [] };
  }
}

function isEffective(outcome: EffectiveDeclaration | HostError): outcome is EffectiveDeclaration {
  return "versions" in outcome;
}

/** Returns the id of the instance that serves an agent. */
function instanceOf(
  { id }: Project,
  { path }: AgentSpec,
  { plugin, isolation }: Pick<ResolvedPlugin, "plugin" | "isolation">,
): string {
  return isolation === "project" ? `${plugin}@${id}` : `${plugin}@${id}/${path}`;
}

function refusal({ agent, declaration }: CascadeEntry, instance: string | null, error: HostError): PluginRefusal {
  return { agent: agent.path, key: declaration.key, instance, error };
}

function noteMissing(
  missing: Map<string, MissingPlugin>,
  { agent }: CascadeEntry,
  { package: pkg, source, versions }: EffectiveDeclaration,
): void {
  const known = missing.get(pkg);
  const agents = [...known?.agents ?? [], agent.path];
  missing.set(pkg, {
    package: pkg,
    source: known?.source ?? source,
    version: known?.version ?? versions[0] ?? null,
    agents,
  });
}

/** Committed files are not filled: a text that looks like a variable there is a slip. */
function warnOfVariables({ agent, declaration }: CascadeEntry, project: Project, warnings: Issue[]): void {
  for (const place of variablePlaces(declaration.config ?? {})) {
    const path = [...stepsTo(agent.path, "plugins", declaration.key, "config"), ...place];
    warnings.push(project.document.report.issue("project.variable_unfilled", path));
  }
}

/** Returns one process for each instance id, in the order they are first declared. */
function instancesOf(agents: readonly ResolvedAgent[], bases: ReadonlyMap<string, ResolvedPlugin>): ResolvedInstance[] {
  const instances = new Map<string, ResolvedInstance>();
  for (const { path, plugins } of agents) {
    for (const { instance, package: pkg, plugin, dir, hash, manifest, config } of plugins) {
      const served = [...instances.get(instance)?.agents ?? [], path];
      const base = bases.get(instance)?.config ?? config;
      const pinned = hash === undefined ? {} : { hash };
      instances.set(instance, {
        instance,
        package: pkg,
        plugin,
        dir,
        ...pinned,
        manifest,
        config: base,
        agents: served,
      });
    }
  }
  return [...instances.values()];
}
