/**
 * The project of a host while it runs: agents, their plugins and tools, the instances behind them.
 *
 * @module
 */
import { speaksMcp } from "../core/manifest/speaks_mcp.ts";
import type { Audit } from "../core/audit/audit.ts";
import { HostError } from "../core/errors/host_error.ts";
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { McpTool } from "../core/mcp/mcp_tool.ts";
import { type RefusedPlugin, refusedPlugins } from "../core/project/refused_plugins.ts";
import type { ResolvedAgent, ResolvedInstance, ResolvedPlugin, ResolvedProject } from "../core/project/types.ts";
import type { PluginInfo, Supervisor } from "../core/supervisor/types.ts";
import {
  type AgentTool,
  type AgentTools,
  agentTools,
  aliasesIn,
  describeTool,
  findTool,
  toolFromAlias,
  toolNamed,
} from "../core/tools/tool_registry.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import type { GatedTool } from "./gate_call.ts";
import type { HostTool } from "./types.ts";

/** A resolved project, looked at from the side of calls. */
export class HostModel {
  #project: ResolvedProject;
  #agents: ReadonlyMap<string, ResolvedAgent>;
  #refused: readonly RefusedPlugin[];
  #tools = new Map<string, AgentTools>();
  readonly #listed = new Map<string, readonly McpTool[]>();
  /** Full names of the tools of each instance that are quarantined. */
  readonly #held = new Map<string, readonly string[]>();

  /** Looks at a resolved project. */
  constructor(project: ResolvedProject) {
    this.#project = project;
    this.#refused = refusedPlugins(project);
    this.#agents = new Map(project.agents.map((agent) => [agent.path, agent]));
  }

  /** The project as it was last resolved, with the config of knobs that were turned since. */
  get project(): ResolvedProject {
    return this.#project;
  }

  /** Plugins that the project declares and the host does not run as they are declared. */
  get refused(): readonly RefusedPlugin[] {
    return this.#refused;
  }

  /** Returns an agent. Throws `agent.unknown`. */
  agent(path: string): ResolvedAgent {
    const agent = this.#agents.get(path);
    if (agent) return agent;
    const known = [...this.#agents.keys()];
    throw new HostError("agent.unknown", `The project has no agent "${path}"`, {
      data: { agent_path: path, known },
      hint: didYouMean(path, known, `Its agents: ${known.join(", ")}`),
    });
  }

  /** Returns the tools of an agent. */
  tools(path: string): AgentTools {
    const known = this.#tools.get(path);
    if (known) return known;
    const tools = agentTools(this.agent(path), this.#listed);
    this.#tools.set(path, tools);
    return tools;
  }

  /**
   * Returns one tool of an agent. Throws `agent.unknown`, `tool.unknown`, `tool.quarantined`, or `plugin.refused` for a
   * refused plugin's.
   */
  tool(name: string, path: string): AgentTool {
    const agent = this.agent(path);
    const tools = this.tools(path);
    const found = toolNamed(name, tools);
    if (found) return found;
    const full = toolFromAlias(name);
    const [plugin = ""] = full.split(".");
    const refused = agent.plugins.some((one) => one.plugin === plugin) ? null : this.#refusedAs(plugin, path);
    if (refused) throw refusedError(refused);
    const isHeld = this.#project.instances.some(({ instance, agents: serves }) =>
      (serves.length === 0 || serves.includes(path)) && this.held(instance).includes(full)
    );
    if (isHeld) throw quarantinedError(full, plugin);
    return findTool(name, agent, tools);
  }

  /** Whether calls of a tool pass the gate, by its name or its alias: the tools of the agent's plugins do. */
  isGatedTool(name: string, path: string): boolean {
    if (!this.#agents.has(path)) return false;
    return toolNamed(name, this.tools(path)) !== undefined;
  }

  /**
   * Returns the tool that a method of an instance names, as an agent has it; null when the method is no tool. Throws
   * `tool.unknown` for one that the agent does not have.
   */
  toolOf({ plugin, instance, manifest, agents }: ResolvedInstance, method: string, path: string): GatedTool | null {
    const offered = [...manifest.tools, ...this.#listed.get(instance) ?? []];
    const tool = offered.find(({ name }) => `${plugin}.${name}` === method);
    // Every method of an MCP server is a tool, whether it has listed it yet or not.
    if (!tool && (!speaksMcp(manifest) || method === "ping")) return null;
    const isUndeclared = agents.length === 0; // A plugin of the operator's own serves every agent as it is.
    if (!tool || !isUndeclared) return this.tool(method, path);
    return { ...describeTool(method, tool), owner: { plugin, instance, override: null } };
  }

  /** Returns the instances of a plugin. Throws `plugin.unknown`, or `plugin.refused` when it has none for that reason. */
  instancesOf(plugin: string): ResolvedInstance[] {
    const instances = this.#project.instances.filter((instance) => instance.plugin === plugin);
    if (instances.length > 0) return instances;
    const refused = this.#refusedAs(plugin);
    if (refused) throw refusedError(refused);
    const known = [...new Set([...this.#project.instances, ...this.#refused].map((one) => one.plugin))];
    throw new HostError("plugin.unknown", `The project has no plugin "${plugin}"`, {
      data: { plugin, known },
      hint: didYouMean(plugin, known, known.length > 0 ? `Its plugins: ${known.join(", ")}` : "It has none"),
    });
  }

  /**
   * Returns the instance a call of a method is for: the one of `agent`; without an agent the only one, else the
   * primary's. Throws `plugin.unknown` or `instance.ambiguous`.
   */
  chooseInstance(plugin: string, agent: string | undefined): ResolvedInstance {
    const instances = this.instancesOf(plugin);
    if (agent !== undefined) {
      this.agent(agent);
      // A plugin of the operator's that no agent declares serves them all.
      const own = instances.find(({ agents }) => agents.includes(agent)) ??
        instances.find(({ agents }) => agents.length === 0);
      if (own) return own;
      const refused = this.#refusedAs(plugin, agent);
      if (refused) throw refusedError(refused);
      throw new HostError("plugin.unknown", `Agent "${agent}" has no plugin "${plugin}"`, {
        data: { plugin, agent_path: agent, agents: instances.flatMap(({ agents }) => agents) },
        hint: "Declare it on that agent, or name an agent that declares it",
      });
    }
    const [first] = instances;
    const chosen = instances.length === 1 ? first : instances.find(({ agents }) => agents.includes(PRIMARY));
    if (chosen) return chosen;
    throw new HostError(
      "instance.ambiguous",
      `Plugin "${plugin}" runs ${instances.length} times, never for "primary"`,
      {
        data: { plugin, instances: instances.map(({ instance }) => instance) },
        hint: "Name the agent whose plugin is meant",
      },
    );
  }

  /** Whether a plugin has no instance because it is refused. */
  isRefused(plugin: string): boolean {
    return this.#refusedAs(plugin) !== null && !this.#project.instances.some((one) => one.plugin === plugin);
  }

  /** Returns the refused plugin of that name or key that an agent, or any, declares; null when there is none. */
  #refusedAs(name: string, path?: string): RefusedPlugin | null {
    const own = this.#refused.filter(({ agents }) =>
      path === undefined || agents.length === 0 || agents.includes(path)
    );
    return own.find(({ plugin }) => plugin === name) ?? own.find(({ key }) => key === name) ?? null;
  }

  /** Returns a plugin of an agent by the key it is declared under, or undefined. */
  plugin(path: string, key: string): ResolvedPlugin | undefined {
    return this.agent(path).plugins.find((plugin) => plugin.key === key);
  }

  /** Takes over a project that was resolved anew. What MCP servers listed is kept for the instances that are left. */
  adopt(project: ResolvedProject): void {
    this.#project = project;
    this.#refused = refusedPlugins(project);
    this.#agents = new Map(project.agents.map((agent) => [agent.path, agent]));
    this.#tools = new Map();
    const left = new Set(project.instances.map(({ instance }) => instance));
    for (const known of [this.#listed, this.#held]) {
      for (const instance of known.keys()) if (!left.has(instance)) known.delete(instance);
    }
  }

  /** Full names of the tools that an instance lists and agents do not get, because they are not as pinned. */
  held(instance: string): readonly string[] {
    return this.#held.get(instance) ?? [];
  }

  hasListed(instance: string): boolean {
    return this.#listed.has(instance);
  }

  /** Takes over what an MCP server has listed; `held` are full names of tools that it lists beside. */
  adoptTools(instance: string, tools: readonly McpTool[], held: readonly string[] = []): void {
    this.#listed.set(instance, tools);
    this.#held.set(instance, held);
    this.#tools = new Map();
  }

  /** Changes the config of one instance, and of each agent that it serves. */
  changeConfig(instance: string, change: (config: ResolvedPlugin["config"]) => ResolvedPlugin["config"]): void {
    const changed = <T extends Pick<ResolvedPlugin, "instance" | "config">>(one: T): T =>
      one.instance === instance ? { ...one, config: change(one.config) } : one;
    const agents = this.#project.agents.map((agent) => ({ ...agent, plugins: agent.plugins.map(changed) }));
    this.#project = { ...this.#project, agents, instances: this.#project.instances.map(changed) };
    this.#agents = new Map(agents.map((agent) => [agent.path, agent]));
    this.#tools = new Map();
  }

  /** Takes over the config of one instance from a project that was resolved anew; nothing else changes. */
  adoptConfig(instance: string, fresh: ResolvedProject): void {
    const freshPlugins = new Map(fresh.agents.map(({ path, plugins }) => [path, plugins]));
    const agents = this.#project.agents.map((agent) => ({
      ...agent,
      plugins: agent.plugins.map((plugin) => {
        if (plugin.instance !== instance) return plugin;
        const match = freshPlugins.get(agent.path)?.find((one) => one.key === plugin.key && one.instance === instance);
        if (!match) return plugin;
        const { config, shownConfig, override } = match;
        return { ...plugin, config, shownConfig, override };
      }),
    }));
    const instances = this.#project.instances.map((one) => {
      const config = fresh.instances.find((other) => other.instance === one.instance)?.config;
      return one.instance === instance && config ? { ...one, config } : one;
    });
    this.#project = { ...this.#project, agents, instances };
    this.#agents = new Map(agents.map((agent) => [agent.path, agent]));
    this.#tools = new Map();
  }
}

/** Returns why calls of a refused plugin fail. */
export function refusedError({ plugin, agents, error: cause }: RefusedPlugin): HostError {
  return new HostError("plugin.refused", `[BLOCKED] Plugin "${plugin}" is refused: ${cause.message}`, {
    data: { plugin, agents, reason: cause.code, ...(cause.data !== undefined && { cause: cause.data }) },
    ...(cause.hint !== undefined && { hint: cause.hint }),
    cause,
  });
}

/** Returns the tools of an agent, without those of plugins that stay down. Throws `agent.unknown`. */
export function callableTools(
  agent: string,
  { model, supervisor }: { readonly model: HostModel; readonly supervisor: Pick<Supervisor, "plugins"> },
): HostTool[] {
  const down = new Set(
    supervisor.plugins().filter(({ status }) => status === "failed" || status === "disabled")
      .map(({ instance }) => instance),
  );
  const tools = model.tools(agent);
  const aliases = aliasesIn(tools);
  return [...tools.values()].filter(({ owner }) => !down.has(owner.instance))
    .map(({ owner: { plugin }, ...tool }) => ({ ...tool, alias: aliases.get(tool.name)!, plugin }));
}

/** Returns why calls of a quarantined tool fail. */
export function quarantinedError(tool: string, plugin: string): HostError {
  return new HostError("tool.quarantined", `[BLOCKED] Tool "${tool}" is not as the operator agreed to it`, {
    data: { tool, plugin },
    hint: `See how it differs: kaged plugin info ${plugin}. To take it as it is: kaged plugin approve-tools ${plugin}`,
  });
}

/** The tools of one listing: those that agents get, and those held back because they are not as pinned. */
export interface ListedTools {
  readonly kept: readonly McpTool[];
  readonly held: readonly Pick<McpTool, "name">[];
}

/** Gives the agents of an instance the tools it has listed, and audits each that an agent did not have before. */
export function registerTools(
  { instance, plugin: name }: Pick<PluginInfo, "instance" | "plugin">,
  { kept, held }: ListedTools,
  { model, audit }: { readonly model: HostModel; readonly audit: Audit },
): void {
  const agents = model.project.instances.find((one) => one.instance === instance)?.agents ?? [];
  const before = new Map(agents.map((agent) => [agent, new Set(model.tools(agent).keys())]));
  model.adoptTools(instance, kept, held.map((tool) => `${name}.${tool.name}`));
  for (const agent_path of agents) {
    for (const tool of model.tools(agent_path).keys()) {
      if (before.get(agent_path)?.has(tool)) continue;
      audit.emit("plugin.tool_registered", { name, instance }, { tool, agent_path });
    }
  }
}
