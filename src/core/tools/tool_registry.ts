/**
 * The tools of each agent.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import type { JsonSchema } from "../manifest/manifest.ts";
import { didYouMean } from "../manifest/nearest_word.ts";
import type { ResolvedAgent, ResolvedPlugin } from "../project/types.ts";

/** A tool of an agent. */
export interface AgentTool {
  /** Full name: `<plugin>.<tool>`. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** What its arguments look like. */
  readonly parameters_schema: JsonSchema;
  /** The plugin that offers it, as the agent gets it. */
  readonly owner: ResolvedPlugin;
}

/** The tools of one agent by full name, in the order plugins are declared and tools are listed. */
export type AgentTools = ReadonlyMap<string, AgentTool>;

/** Returns the tools an agent has: those of its plugins, without the ones switched off. */
export function agentTools({ plugins }: ResolvedAgent): AgentTools {
  const tools = new Map<string, AgentTool>();
  for (const owner of plugins) {
    const on = new Set(owner.tools);
    for (const { name: short, description, parameters_schema } of owner.manifest.tools) {
      const name = `${owner.plugin}.${short}`;
      // The first keeps its name: a second one was refused when the project was resolved.
      if (on.has(name) && !tools.has(name)) tools.set(name, { name, description, parameters_schema, owner });
    }
  }
  return tools;
}

/**
 * Returns a tool of an agent.
 *
 * @throws {HostError} `tool.unknown`, with what the agent has instead.
 */
export function findTool(name: string, agent: ResolvedAgent, tools: AgentTools): AgentTool {
  const tool = tools.get(name);
  if (tool) return tool;
  const known = [...tools.keys()];
  const isOff = agent.plugins.some(({ plugin, manifest }) =>
    manifest.tools.some((one) => `${plugin}.${one.name}` === name)
  );
  const otherwise = known.length > 0 ? `Its tools: ${known.join(", ")}` : "It has no tools";
  throw new HostError("tool.unknown", `Agent "${agent.path}" has no tool "${name}"`, {
    data: { tool: name, agent_path: agent.path, known },
    hint: isOff ? `It is switched off under tools: of "${agent.path}"` : didYouMean(name, known, otherwise),
  });
}
