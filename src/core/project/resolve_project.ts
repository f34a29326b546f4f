/**
 * Project file, operator's file and manifests → what each agent gets and which processes run. Nothing here starts
 * anything, and a plugin that cannot be used is left out with its reason while the rest goes on.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { baseRefused, cascade, type CascadeEntry, type EffectiveDeclaration } from "./cascade.ts";
import { checkAgents, type Outcome, refusalOf } from "./check_agents.ts";
import { evaluatePlugin, systemPlace } from "./evaluate_plugin.ts";
import { defined } from "../values/plain_data.ts";
import type { LocalConfig } from "./local_config.ts";
import { type Find, type FindOptions, type LocateOptions, pluginFinder, pluginNameOf } from "./locate.ts";
import { isPackageName, npmInstall } from "./node_modules.ts";
import { configError, pluginConfig } from "./plugin_config.ts";
import {
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

/** Resolves a project. Never throws for the content of a file: refusals and warnings are in the result. */
export async function resolveProject(
  { project, packagesFrom, ...options }: FindOptions & Pick<LocateOptions, "packagesFrom"> & {
    readonly project: Project;
  },
): Promise<ResolvedProject> {
  const { local } = options;
  const warnings: Issue[] = [...project.warnings, ...local.warnings];
  const find = pluginFinder(options, warnings);
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
  const refusals: PluginRefusal[] = inOrder.flatMap((one) => one.errors.map((error) => refusalOf(one, error)));
  const agents = checkAgents(project, inOrder, { refusals, warnings });
  const instances = instancesOf(agents, bases);
  const declared = new Set(entries.map(({ declaration: { package: pkg = "" } }) => pluginNameOf(pkg)));
  await hostPlugins(local, find, { declared, instances, refusals });
  const lacking = { missing: [...missing.values()], unfit: [...unfit.values()] };
  return { id: project.id, dir: project.dir, agents, instances, ...lacking, refusals, warnings };

  async function outcomeOf(entry: CascadeEntry): Promise<Outcome> {
    const { outcome: declaration, base, agent } = entry;
    const nowhere = { entry, instance: null, found: null, plugin: null };
    if (!("versions" in declaration)) return { ...nowhere, errors: [declaration] };
    const found = await find(declaration.package);
    if (found === null) {
      noteMissing(missing, entry, declaration);
      return { ...nowhere, errors: [notInstalled(declaration, packagesFrom)] };
    }
    if (!("manifest" in found)) return { ...nowhere, errors: [found] };
    const shared = `${found.manifest.name}@${project.id}`;
    const instance = declaration.isolation === "project" ? shared : `${shared}/${agent.path}`;
    const basePlugin = base && outcomes.get(base)!.plugin;
    const without = (errors: readonly HostError[]): Outcome => ({ entry, instance, found, plugin: null, errors });
    if (base && !basePlugin) return without([baseRefused(project, entry, base)]);
    const localFile = local.file;
    const plugin = await evaluatePlugin(project, entry, { declaration, found, instance, base: basePlugin, localFile });
    if (!("plugin" in plugin)) {
      // A folder the embedder vouches for is the embedder's to change.
      const isUnfit = found.hash !== undefined && plugin.some(({ code }) => code === "project.version_mismatch");
      if (isUnfit) noteMissing(unfit, entry, declaration);
      return without(plugin);
    }
    if (!base && !bases.has(instance)) bases.set(instance, plugin);
    return { entry, instance, found, plugin, errors: [] };
  }
}

function noteMissing(
  missing: Map<string, MissingPlugin>,
  { agent }: CascadeEntry,
  { package: pkg, source, versions }: EffectiveDeclaration,
): void {
  const known = missing.get(pkg) ?? { source: null, version: null, agents: [] };
  const version = known.version ?? versions[0] ?? null;
  const agents = [...known.agents, agent.path];
  missing.set(pkg, { package: pkg, source: known.source ?? source, version, agents });
}

function notInstalled({ package: pkg, source, versions }: EffectiveDeclaration, packagesFrom?: string): HostError {
  const version = versions[0] ?? null;
  const fitting = version === null ? "" : ` in a version that fits ${version}`;
  const install = source === null ? `Install it, or pass --plugin ${pkg}=<dir>` : `Install it from ${source}`;
  return new HostError("plugin.not_installed", `Plugin "${pkg}" is not installed${fitting}`, {
    data: { package: pkg, source, version },
    hint: packagesFrom !== undefined && isPackageName(pkg) ? npmInstall(pkg, version) : install,
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
    for (const one of plugins) {
      const { instance, package: pkg, plugin, dir, hash, contentHash, manifest } = one;
      const agents = [...instances.get(instance)?.agents ?? [], path];
      const { config, starts } = bases.get(instance) ?? one;
      const own = { instance, package: pkg, plugin, dir, ...defined({ hash, contentHash }) };
      instances.set(instance, { ...own, manifest, config, ...defined({ starts }), agents });
    }
  }
  return [...instances.values()];
}

/** Adds one process for each plugin that the operator enabled for all projects and no agent declares, or a refusal. */
async function hostPlugins(
  local: LocalConfig,
  find: Find,
  { declared, instances, refusals }: {
    readonly declared: ReadonlySet<string>;
    readonly instances: ResolvedInstance[];
    readonly refusals: PluginRefusal[];
  },
): Promise<void> {
  for (const { name, local: isLocal, enabled, package: pkg = name } of local.records.values()) {
    if (!isLocal || !enabled || declared.has(name)) continue;
    const found = await find(pkg);
    if (found === null) continue;
    const identity = { agent: "", key: name, instance: name, plugin: name, package: pkg, isolation: "agent" } as const;
    if (!("manifest" in found)) {
      refusals.push({ ...identity, found: null, error: found });
      continue;
    }
    const { manifest, dir, hash, system } = found;
    const refused = { ...identity, found: { manifest, dir } };
    const result = await pluginConfig(manifest, { declared: {}, isolation: "agent", system });
    if ("config" in result) {
      const own = { instance: name, package: pkg, plugin: name, dir, ...defined({ hash }) };
      instances.push({ ...own, manifest, config: result.config, agents: [] });
      continue;
    }
    for (const problem of result) {
      const about = { plugin: name, agent: "", ...systemPlace(local.file, pkg, problem) };
      refusals.push({ ...refused, error: configError(problem, about) });
    }
  }
}
