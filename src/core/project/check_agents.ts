/**
 * Checks the plugins of one agent, and of one project, against each other.
 *
 * @module
 */
import { speaksMcp } from "../manifest/speaks_mcp.ts";
import { namePattern } from "../rules/name_pattern.ts";
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
  /** Its folder and manifest; null when no such plugin was found, or its manifest cannot be read. */
  readonly found: PluginRefusal["found"];
  /** Null when the plugin cannot be used. */
  readonly plugin: ResolvedPlugin | null;
  /** Why the plugin cannot be used. */
  readonly errors: readonly HostError[];
}

interface Into {
  readonly refusals: PluginRefusal[];
  readonly warnings: Issue[];
}

/** Returns the refusal of a declaration because of `error`. */
export function refusalOf(
  { entry, instance, found }: Omit<Outcome, "plugin" | "errors">,
  error: HostError,
): PluginRefusal {
  const { agent: { path: agent }, declaration: { key, isolation: written = "agent" }, outcome } = entry;
  const { package: pkg, isolation } = "package" in outcome
    ? outcome
    : { package: entry.declaration.package ?? null, isolation: written };
  const plugin = found?.manifest.name ?? (pkg === null ? key : pluginNameOf(pkg));
  return { agent, key, instance, plugin, package: pkg, isolation, found: filesOf(found), error };
}

/** Leaves out everything else that a found plugin carries: the operator's secrets are part of it. */
function filesOf(found: PluginRefusal["found"]): PluginRefusal["found"] {
  return found && { manifest: found.manifest, dir: found.dir };
}

/** Returns every agent with the plugins it may have; refusals and warnings go to `into`. */
export function checkAgents(project: Project, outcomes: readonly Outcome[], into: Into): ResolvedAgent[] {
  const checker = new AgentChecker(project.document.report, into);
  return project.agents.map((agent) => checker.check(agent, outcomes.filter(({ entry }) => entry.agent === agent)));
}

/** An MCP server lists its tools once it runs. */
const isServer = ({ manifest }: ResolvedPlugin): boolean => speaksMcp(manifest);
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
    for (const outcome of own) {
      const { plugin } = outcome;
      if (!plugin) continue;
      const error = this.#clash(agent, plugin, plugins) ?? this.#secondCompactor(agent, plugin, plugins);
      if (error) {
        this.#into.refusals.push(refusalOf(outcome, error));
        continue;
      }
      this.#packages.set(plugin.plugin, plugin.package);
      if (plugin.isolation === "project") this.#sharedKeys.set(plugin.plugin, plugin.key);
      plugins.push(plugin);
    }
    this.#warnOfHooks(agent, plugins);
    this.#warnOfTools(agent, own);
    const { path, parent, compaction, rest } = agent;
    const declared = own.map(({ entry }) => entry.declaration.key);
    const delegateFault = this.#delegateFault(agent, plugins, declared);
    return { path, parent, plugins, declared, compaction, delegateFault, rest };
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
    for (const name of new Set([...Object.keys(agent.tools), ...Object.keys(agent.approvals)])) {
      if (name.includes("*")) {
        this.#warnOfPattern(agent, name, { tools, isWhole: absent.length === 0 && !plugins.some(isServer) });
        continue;
      }
      const [group = ""] = name.split(".");
      const owner = plugins.find(({ plugin }) => plugin === group);
      const isOthers = BUILTIN_NAMES.includes(group) && !owner;
      const isServed = owner !== undefined && isServer(owner);
      const isUnknown = absent.includes(group) || absent.includes(null);
      if (tools.includes(name) || isOthers || isServed || isUnknown) continue;
      const message = `No plugin of "${agent.path}" has a tool ${shown(name)}`;
      const hint = didYouMean(name, tools, `Tools of this agent: ${tools.join(", ") || "none"}`);
      this.#warn("project.unknown_tool", stepsTo(agent.path, "tools", name), { message, hint, part: "key" });
    }
  }

  /** Warns of a pattern that no tool fits; with tools that are not known, one of those may. */
  #warnOfPattern(
    { path }: AgentSpec,
    pattern: string,
    { tools, isWhole }: { readonly tools: readonly string[]; readonly isWhole: boolean },
  ): void {
    const [group = ""] = pattern.split(".");
    if (!isWhole || BUILTIN_NAMES.includes(group) || tools.some(namePattern(pattern))) return;
    const message = `No plugin of "${path}" has a tool that fits ${shown(pattern)}`;
    const hint = `Tools of this agent: ${tools.join(", ") || "none"}`;
    this.#warn("project.unknown_tool", stepsTo(path, "tools", pattern), { message, hint, part: "key" });
  }

  /** Returns why the agent's delegate cannot compact, or null. One that is no compactor at all is a refusal too. */
  #delegateFault(
    { path: agent, compaction: { delegate } }: AgentSpec,
    plugins: readonly ResolvedPlugin[],
    declared: readonly string[],
  ): string | null {
    if (delegate === null) return null;
    const plugin = plugins.find(({ key }) => key === delegate);
    if (plugin && isCompactor(plugin) && plugin.hooks.includes("pre_compact")) return null;
    if (!plugin && declared.includes(delegate)) {
      const refusal = this.#into.refusals.find((one) => one.agent === agent && one.key === delegate);
      return refusal ? refusal.error.message : `Plugin ${shown(delegate)} is not installed`;
    }
    const message = !plugin
      ? `Agent "${agent}" delegates compaction to ${shown(delegate)}, which it does not declare`
      : isCompactor(plugin)
      ? `Compactor ${shown(delegate)} does not get the hook pre_compact on "${agent}"`
      : `Plugin ${shown(delegate)} is no compactor`;
    const hint = didYouMean(delegate, declared, `Plugins of this agent: ${declared.join(", ") || "none"}`);
    const error = this.#report.failure("project.invalid_delegate", stepsTo(agent, "compaction", "delegate", "plugin"), {
      message,
      ...(!plugin && { hint }),
      data: { agent_path: agent, delegate },
    });
    const { plugin: name = delegate, package: pkg = null, instance = null, isolation = "agent" } = plugin ?? {};
    const found = filesOf(plugin ?? null);
    this.#into.refusals.push({ agent, key: delegate, instance, plugin: name, package: pkg, isolation, found, error });
    return message;
  }

  #warn(code: HostErrorCode, path: DocumentPath, text: IssueText): void {
    this.#into.warnings.push(this.#report.issue(code, path, text));
  }
}
