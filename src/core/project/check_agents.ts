/**
 * Checks the plugins of one agent, and of one project, against each other.
 *
 * @module
 */
import type { DocumentReport, IssueText } from "../documents/document_report.ts";
import type { DocumentPath } from "../documents/places.ts";
import type { HostError, HostErrorCode } from "../errors/host_error.ts";
import { BUILTIN_NAMES } from "../manifest/manifest.ts";
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
  readonly entry: CascadeEntry;
  /** Id of its instance; null when no such plugin was found. */
  readonly instance: string | null;
  /** Null when the plugin cannot be used. */
  readonly plugin: ResolvedPlugin | null;
  /** Why the plugin cannot be used. Empty for one that is not installed. */
  readonly errors: readonly HostError[];
}

interface Into {
  readonly refusals: PluginRefusal[];
  readonly warnings: Issue[];
}

/** Returns every agent with the plugins it may have; refusals and warnings go to `into`. */
export function checkAgents(project: Project, outcomes: readonly Outcome[], into: Into): ResolvedAgent[] {
  const checker = new AgentChecker(project.document.report, into);
  return project.agents.map((agent) => checker.check(agent, outcomes.filter(({ entry }) => entry.agent === agent)));
}

const isCompactor = ({ manifest }: ResolvedPlugin): boolean => manifest.roles.includes("compactor");

class AgentChecker {
  readonly #report: DocumentReport;
  readonly #into: Into;
  // Enabling, storage and tools go by the plugin's name: one name is one package, and one shared process is one key.
  readonly #packages = new Map<string, string>();
  readonly #sharedKeys = new Map<string, string>();

  constructor(report: DocumentReport, into: Into) {
    this.#report = report;
    this.#into = into;
  }

  /** Checks one agent; `own` are the outcomes of its declarations. */
  check(agent: AgentSpec, own: readonly Outcome[]): ResolvedAgent {
    const plugins: ResolvedPlugin[] = [];
    for (const { plugin } of own) {
      if (!plugin) continue;
      const error = this.#clash(agent, plugin, plugins) ?? this.#secondCompactor(agent, plugin, plugins);
      if (error) {
        this.#into.refusals.push({ agent: agent.path, key: plugin.key, instance: plugin.instance, error });
        continue;
      }
      this.#packages.set(plugin.plugin, plugin.package);
      if (plugin.isolation === "project") this.#sharedKeys.set(plugin.plugin, plugin.key);
      plugins.push(plugin);
    }
    this.#warnOfHooks(agent, plugins);
    this.#warnOfTools(agent, own);
    const { path, parent, rest } = agent;
    return { path, parent, plugins, compaction: this.#withoutFalseDelegate(agent, plugins, own), rest };
  }

  /** Returns why a plugin cannot run beside those before it, or null. */
  #clash(agent: AgentSpec, one: ResolvedPlugin, before: readonly ResolvedPlugin[]): HostError | null {
    const { key, plugin, package: pkg, isolation, manifest } = one;
    const refuse = (message: string, first: string, second: string): HostError => {
      const tools = manifest.tools.map(({ name }) => `${plugin}.${name}`);
      const data = { first, second, plugin, tools, agent_path: agent.path };
      const path = stepsTo(agent.path, "plugins", key);
      return this.#report.failure("project.duplicate_plugin", path, { message, part: "key", data });
    };
    const known = this.#packages.get(plugin);
    if (known !== undefined && known !== pkg) {
      return refuse(`Packages ${shown(known)} and ${shown(pkg)} are both plugin "${plugin}"`, known, pkg);
    }
    const twin = before.find((other) => other.plugin === plugin);
    if (twin) {
      return refuse(`Plugin "${plugin}" is declared on this agent already, as ${shown(twin.key)}`, twin.key, key);
    }
    const shared = isolation === "project" ? this.#sharedKeys.get(plugin) : undefined;
    if (shared === undefined || shared === key) return null;
    return refuse(`Plugin "${plugin}" is shared by the project already, as ${shown(shared)}`, shared, key);
  }

  #secondCompactor(agent: AgentSpec, one: ResolvedPlugin, before: readonly ResolvedPlugin[]): HostError | null {
    const first = isCompactor(one) ? before.find(isCompactor) : undefined;
    if (!first) return null;
    return this.#report.failure("project.second_compactor", stepsTo(agent.path, "plugins", one.key), {
      message: `Agent "${agent.path}" has a compactor already: "${first.plugin}"; "${one.plugin}" is refused`,
      part: "key",
      data: { first: first.plugin, second: one.plugin, agent_path: agent.path },
    });
  }

  #warnOfHooks({ path }: AgentSpec, plugins: readonly ResolvedPlugin[]): void {
    for (const { key, plugin, illegalHooks } of plugins) {
      for (const hook of illegalHooks) {
        const message = `Hook "${hook}" of "${plugin}" fires for the primary agent only, and never for "${path}"`;
        this.#warn("project.hook_illegal", stepsTo(path, "plugins", key, "hooks"), { message });
      }
    }
  }

  /** Warns of switches for tools that no plugin has; the tools of a plugin that is not installed are not known. */
  #warnOfTools(agent: AgentSpec, own: readonly Outcome[]): void {
    const plugins = own.flatMap(({ plugin }) => plugin ?? []);
    const tools = plugins.flatMap(({ plugin, manifest }) => manifest.tools.map(({ name }) => `${plugin}.${name}`));
    const absent = own.filter(({ plugin }) => !plugin).map(({ entry: { outcome } }) => {
      return "package" in outcome ? pluginNameOf(outcome.package) : null;
    });
    for (const name of Object.keys(agent.tools)) {
      const [group = ""] = name.split(".");
      const owner = plugins.find(({ plugin }) => plugin === group);
      const isOthers = BUILTIN_NAMES.includes(group) && !owner;
      // An MCP server lists its tools once it runs.
      const isServed = owner?.manifest.runtime === "mcp_stdio";
      const isUnknown = absent.includes(group) || absent.includes(null);
      if (tools.includes(name) || isOthers || isServed || isUnknown) continue;
      const message = `No plugin of "${agent.path}" has a tool ${shown(name)}`;
      const hint = didYouMean(name, tools, `Tools of this agent: ${tools.join(", ") || "none"}`);
      this.#warn("project.unknown_tool", stepsTo(agent.path, "tools", name), { message, hint, part: "key" });
    }
  }

  /** Returns the agent's compaction settings, without a delegate that cannot compact. */
  #withoutFalseDelegate(
    { path: agent, compaction }: AgentSpec,
    plugins: readonly ResolvedPlugin[],
    own: readonly Outcome[],
  ): CompactionSettings {
    const { delegate } = compaction;
    if (delegate === null) return compaction;
    const plugin = plugins.find(({ key }) => key === delegate);
    if (plugin && isCompactor(plugin) && plugin.hooks.includes("pre_compact")) return compaction;
    const keys = own.map(({ entry }) => entry.declaration.key);
    // A plugin that is declared and was refused, or is not installed, has been reported.
    if (plugin || !keys.includes(delegate)) {
      const message = !plugin
        ? `Agent "${agent}" delegates compaction to ${shown(delegate)}, which it does not declare`
        : isCompactor(plugin)
        ? `Compactor ${shown(delegate)} does not get the hook pre_compact on "${agent}"`
        : `Plugin ${shown(delegate)} is no compactor`;
      const hint = didYouMean(delegate, keys, `Plugins of this agent: ${keys.join(", ") || "none"}`);
      const path = stepsTo(agent, "compaction", "delegate", "plugin");
      const error = this.#report.failure("project.invalid_delegate", path, {
        message,
        ...(!plugin && { hint }),
        data: { agent_path: agent, delegate },
      });
      this.#into.refusals.push({ agent, key: delegate, instance: null, error });
    }
    return { ...compaction, delegate: null };
  }

  #warn(code: HostErrorCode, path: DocumentPath, text: IssueText): void {
    this.#into.warnings.push(this.#report.issue(code, path, text));
  }
}
