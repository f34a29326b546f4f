/**
 * What plugins of one agent, and of one project, may not be together.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { shown } from "../values/shown_value.ts";
import type { CascadeEntry } from "./cascade.ts";
import { pluginNameOf } from "./locate.ts";
import {
  type AgentSpec,
  type CompactionSettings,
  type Issue,
  type PluginRefusal,
  type Project,
  type ResolvedAgent,
  type ResolvedPlugin,
  stepsTo,
} from "./types.ts";

/** A plugin of one agent, or why there is none. */
export interface Outcome {
  /** The declaration. */
  readonly entry: CascadeEntry;
  /** Id of its instance, when the plugin is known. */
  readonly instance: string | null;
  /** The plugin, when it can be used. */
  readonly plugin: ResolvedPlugin | null;
  /** Why it cannot. None for a plugin that is not installed. */
  readonly errors: readonly HostError[];
}

interface Into {
  readonly refusals: PluginRefusal[];
  readonly warnings: Issue[];
}

/** Tools that are not plugins': who writes their switches means no plugin. */
const BUILTIN_GROUPS: readonly string[] = ["file", "search", "code", "debug", "shell", "kaged"];

/** Returns every agent with the plugins it may have; what is refused or doubtful goes to `into`. */
export function checkAgents(project: Project, outcomes: readonly Outcome[], into: Into): ResolvedAgent[] {
  // Enabling, storage and tools go by the plugin's name: one name is one package, and one shared process is one key.
  const packages = new Map<string, string>();
  const sharedKeys = new Map<string, string>();
  return project.agents.map((agent) => {
    const own = outcomes.filter(({ entry }) => entry.agent === agent);
    const plugins: ResolvedPlugin[] = [];
    for (const { plugin } of own) {
      if (!plugin) continue;
      const error = clash(project, agent, plugin, { plugins, packages, sharedKeys }) ??
        secondCompactor(project, agent, plugin, plugins);
      if (error) {
        into.refusals.push({ agent: agent.path, key: plugin.key, instance: plugin.instance, error });
        continue;
      }
      packages.set(plugin.plugin, plugin.package);
      if (plugin.isolation === "project") sharedKeys.set(plugin.plugin, plugin.key);
      plugins.push(plugin);
    }
    warnOfHooks(project, agent, plugins, into.warnings);
    warnOfTools(project, agent, own, into.warnings);
    const compaction = checkDelegate(project, agent, { plugins, own, refusals: into.refusals });
    return { path: agent.path, parent: agent.parent, plugins, compaction, rest: agent.rest };
  });
}

/** Why a plugin cannot run beside those before it, or null. */
function clash(
  project: Project,
  agent: AgentSpec,
  { key, plugin, package: pkg, isolation, manifest }: ResolvedPlugin,
  { plugins, packages, sharedKeys }: {
    readonly plugins: readonly ResolvedPlugin[];
    readonly packages: ReadonlyMap<string, string>;
    readonly sharedKeys: ReadonlyMap<string, string>;
  },
): HostError | null {
  const path = stepsTo(agent.path, "plugins", key);
  const refuse = (message: string, first: string, second: string): HostError =>
    project.document.report.failure("project.duplicate_plugin", path, {
      message,
      part: "key",
      data: {
        first,
        second,
        plugin,
        tools: manifest.tools.map(({ name }) => `${plugin}.${name}`),
        agent_path: agent.path,
      },
    });
  const known = packages.get(plugin);
  if (known !== undefined && known !== pkg) {
    return refuse(`Packages ${shown(known)} and ${shown(pkg)} are both plugin "${plugin}"`, known, pkg);
  }
  const twin = plugins.find((other) => other.plugin === plugin);
  if (twin) return refuse(`Plugin "${plugin}" is declared on this agent already, as ${shown(twin.key)}`, twin.key, key);
  const shared = isolation === "project" ? sharedKeys.get(plugin) : undefined;
  if (shared === undefined || shared === key) return null;
  return refuse(`Plugin "${plugin}" is shared by the project already, as ${shown(shared)}`, shared, key);
}

function secondCompactor(
  project: Project,
  agent: AgentSpec,
  { key, plugin, manifest }: ResolvedPlugin,
  before: readonly ResolvedPlugin[],
): HostError | null {
  const isCompactor = (one: Pick<ResolvedPlugin, "manifest">): boolean => one.manifest.roles.includes("compactor");
  const first = isCompactor({ manifest }) ? before.find(isCompactor) : undefined;
  if (!first) return null;
  return project.document.report.failure("project.second_compactor", stepsTo(agent.path, "plugins", key), {
    message: `Agent "${agent.path}" has a compactor already: "${first.plugin}"; "${plugin}" is refused`,
    part: "key",
    data: { first: first.plugin, second: plugin, agent_path: agent.path },
  });
}

function warnOfHooks(project: Project, agent: AgentSpec, plugins: readonly ResolvedPlugin[], warnings: Issue[]): void {
  for (const { key, plugin, illegalHooks } of plugins) {
    for (const hook of illegalHooks) {
      const message = `Hook "${hook}" of "${plugin}" fires for the primary agent only, and never for "${agent.path}"`;
      const path = stepsTo(agent.path, "plugins", key, "hooks");
      warnings.push(project.document.report.issue("project.hook_illegal", path, { message }));
    }
  }
}

/** Warns of switches for tools nobody has; what a plugin that is not there would bring is not known. */
function warnOfTools(project: Project, agent: AgentSpec, own: readonly Outcome[], warnings: Issue[]): void {
  const plugins = own.flatMap(({ plugin }) => plugin ? [plugin] : []);
  const tools = plugins.flatMap(({ plugin, manifest }) => manifest.tools.map(({ name }) => `${plugin}.${name}`));
  const absent = own.filter(({ plugin }) => !plugin).map(({ entry: { outcome } }) => {
    return "package" in outcome ? pluginNameOf(outcome.package) : null;
  });
  for (const name of Object.keys(agent.tools)) {
    const [group = ""] = name.split(".");
    const owner = plugins.find(({ plugin }) => plugin === group);
    const isOthers = BUILTIN_GROUPS.includes(group) && !owner;
    // What an MCP server offers is known once it runs.
    if (
      tools.includes(name) || isOthers || owner?.manifest.runtime === "mcp_stdio" || absent.includes(group) ||
      absent.includes(null)
    ) continue;
    const otherwise = tools.length > 0 ? `Tools of this agent: ${tools.join(", ")}` : "This agent has no plugin tools";
    warnings.push(project.document.report.issue("project.unknown_tool", stepsTo(agent.path, "tools", name), {
      message: `No plugin of "${agent.path}" has a tool ${shown(name)}`,
      hint: didYouMean(name, tools, otherwise),
      part: "key",
    }));
  }
}

/** Returns the agent's compaction settings, without a delegate that cannot compact. */
function checkDelegate(
  project: Project,
  { path: agentPath, compaction }: AgentSpec,
  { plugins, own, refusals }: {
    readonly plugins: readonly ResolvedPlugin[];
    readonly own: readonly Outcome[];
    readonly refusals: PluginRefusal[];
  },
): CompactionSettings {
  const { delegate } = compaction;
  if (delegate === null) return compaction;
  const plugin = plugins.find(({ key }) => key === delegate);
  if (plugin?.manifest.roles.includes("compactor") && plugin.hooks.includes("pre_compact")) return compaction;
  const isDeclared = own.some(({ entry }) => entry.declaration.key === delegate);
  // A plugin that is declared and was refused, or is not installed, has been told of.
  if (plugin || !isDeclared) {
    const keys = own.map(({ entry }) => entry.declaration.key);
    const message = !plugin
      ? `Agent "${agentPath}" delegates compaction to ${shown(delegate)}, which it does not declare`
      : plugin.manifest.roles.includes("compactor")
      ? `Compactor ${shown(delegate)} does not get the hook pre_compact on "${agentPath}"`
      : `Plugin ${shown(delegate)} is no compactor`;
    const hint = plugin ? undefined : didYouMean(delegate, keys, `Plugins of this agent: ${keys.join(", ") || "none"}`);
    const path = stepsTo(agentPath, "compaction", "delegate", "plugin");
    const error = project.document.report.failure("project.invalid_delegate", path, {
      message,
      ...(hint && { hint }),
      data: { agent_path: agentPath, delegate },
    });
    refusals.push({ agent: agentPath, key: delegate, instance: null, error });
  }
  return { ...compaction, delegate: null };
}
