/**
 * The tools of each agent.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { ManifestTool } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { ResolvedAgent, ResolvedPlugin } from "../project/types.ts";
import type { JsonSchema } from "../schema/json_schema.ts";
import { didYouMean } from "../values/nearest_word.ts";
import { safeAlias, safeAliases } from "./safe_alias.ts";

/** A tool as one agent has it. */
export interface AgentTool {
  /** Full name: `<plugin>.<tool>`. */
  readonly name: string;
  readonly description: string;
  readonly parametersSchema: JsonSchema;
  /** The tool as its MCP server listed it; absent for any other plugin's. */
  readonly definition?: Readonly<Record<string, unknown>>;
  /** The plugin that offers it, as the agent gets it. */
  readonly owner: ResolvedPlugin;
}

/** The tools of one agent by full name, in the order plugins are declared and tools are listed. */
export type AgentTools = ReadonlyMap<string, AgentTool>;

/** Tools that MCP servers have listed, by instance. */
export type ListedTools = ReadonlyMap<string, readonly McpTool[]>;

/** Returns the tools an agent has: those of its plugins, without the ones switched off. */
export function agentTools({ plugins }: ResolvedAgent, listed: ListedTools = new Map()): AgentTools {
  const tools = new Map<string, AgentTool>();
  for (const owner of plugins) {
    const off = new Set(owner.toolsOff);
    for (const tool of [...owner.manifest.tools, ...listed.get(owner.instance) ?? []]) {
      const name = `${owner.plugin}.${tool.name}`;
      // The first keeps its name: a second one was refused when the project was resolved.
      if (!off.has(name) && !tools.has(name)) tools.set(name, { ...describeTool(name, tool), owner });
    }
  }
  return tools;
}

/** Returns a tool of a manifest or an MCP server under its full name. */
export function describeTool(name: string, tool: ManifestTool | McpTool): Omit<AgentTool, "owner"> {
  const { description, parameters_schema: parametersSchema } = tool;
  const { definition } = "definition" in tool ? tool : {};
  return { name, description, parametersSchema, ...(definition && { definition }) };
}

/**
 * Returns a tool of an agent, by its full name or by the alias that chat APIs take.
 *
 * @throws {HostError} `tool.unknown`, with the tools the agent has.
 */
export function findTool(given: string, agent: ResolvedAgent, tools: AgentTools): AgentTool {
  const tool = toolNamed(given, tools);
  if (tool) return tool;
  const name = toolFromAlias(given);
  const known = [...tools.keys()];
  const isOff = agent.plugins.some(({ toolsOff }) => toolsOff.includes(name));
  const otherwise = known.length > 0 ? `Its tools: ${known.join(", ")}` : "It has no tools";
  throw new HostError("tool.unknown", `Agent "${agent.path}" has no tool "${name}"`, {
    data: { tool: name, agent_path: agent.path, known },
    hint: isOff ? `It is switched off under tools: of "${agent.path}"` : didYouMean(name, known, otherwise),
  });
}

/** Returns a tool by its full name or its alias; undefined where there is none. */
export function toolNamed(given: string, tools: AgentTools): AgentTool | undefined {
  return tools.get(toolFromAlias(given)) ?? tools.get(namesOf(tools).get(given) ?? "");
}

/** Returns the alias of each tool of an agent, by its full name. */
export function aliasesIn(tools: AgentTools): ReadonlyMap<string, string> {
  const known = ALIASES.get(tools);
  if (known) return known.aliases;
  const aliases = safeAliases(tools.keys());
  ALIASES.set(tools, { aliases, names: new Map([...aliases].map(([name, alias]) => [alias, name])) });
  return aliases;
}

/** Made when they are first asked for: most calls come by a name that needs none of it. */
const ALIASES = new WeakMap<
  AgentTools,
  { readonly aliases: ReadonlyMap<string, string>; readonly names: ReadonlyMap<string, string> }
>();

function namesOf(tools: AgentTools): ReadonlyMap<string, string> {
  aliasesIn(tools);
  return ALIASES.get(tools)!.names;
}

/**
 * Returns the name of a tool as chat APIs take it: of `^[a-zA-Z0-9_-]{1,64}$`. A longer one ends in a hash.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(toolAlias("memory-markdown.recall"), "memory-markdown__recall");
 * assert.equal(toolFromAlias("memory-markdown__recall"), "memory-markdown.recall");
 * ```
 */
export function toolAlias(tool: string): string {
  return safeAlias(tool);
}

/**
 * Returns the tool an alias stands for; a full name, and any other, comes back as it is. An alias that ends in a hash
 * can only be found among the tools of an agent: `host.callTool()` takes it.
 */
export function toolFromAlias(alias: string): string {
  // A plugin's name holds no underscore and a tool's does not begin with one: the first pair is the dot.
  return alias.includes(".") ? alias : alias.replace("__", ".");
}
