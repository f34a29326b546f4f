/**
 * How many tokens the tools of each plugin cost: their definitions, and the results of their calls.
 *
 * @module
 */
import type { AgentTools } from "../core/tools/tool_registry.ts";
import { HOST_TOOLS } from "../core/tools/host_tools.ts";

/** Definitions of one plugin's tools. */
export interface DefinitionCost {
  readonly tools: number;
  readonly tokens: number;
}

type Tokens = (text: string) => number;
type Defined = { readonly name: string; readonly description: string; readonly parametersSchema: unknown };

/** Returns what the definitions of an agent's tools cost, by plugin; each list is counted once. */
export function definitionCosts(tokens: Tokens): (tools: AgentTools) => ReadonlyMap<string, DefinitionCost> {
  const known = new WeakMap<AgentTools, ReadonlyMap<string, DefinitionCost>>();
  return (tools) => {
    const before = known.get(tools);
    if (before) return before;
    const costs = new Map<string, DefinitionCost>();
    const all = [
      ...[...tools.values()].map((tool) => ({ plugin: tool.owner.plugin, tool: tool as Defined })),
      ...Object.values(HOST_TOOLS).map((tool) => ({ plugin: tool.plugin, tool })),
    ];
    for (const { plugin, tool: { name, description, parametersSchema: parameters } } of all) {
      const cost = costs.get(plugin) ?? { tools: 0, tokens: 0 };
      const more = tokens(JSON.stringify({ name, description, parameters }));
      costs.set(plugin, { tools: cost.tools + 1, tokens: cost.tokens + more });
    }
    known.set(tools, costs);
    return costs;
  };
}

/** Calls of one plugin's tools. */
export interface CallCount {
  readonly calls: number;
  readonly failed: number;
  readonly resultTokens: number;
}

/** Counts the calls of one session. */
export class CallCounts {
  readonly #counts = new Map<string, Map<string, CallCount>>();

  /** Adds a call that has ended; `tokens` are those of its result, null when it failed. */
  add(agent: string, plugin: string, tokens: number | null): void {
    let own = this.#counts.get(agent);
    if (!own) this.#counts.set(agent, own = new Map());
    const { calls, failed, resultTokens } = own.get(plugin) ?? NONE;
    own.set(plugin, {
      calls: calls + 1,
      failed: failed + (tokens === null ? 1 : 0),
      resultTokens: resultTokens + (tokens ?? 0),
    });
  }

  /** Returns the calls that an agent has made of a plugin's tools. */
  of(agent: string, plugin: string): CallCount {
    return this.#counts.get(agent)?.get(plugin) ?? NONE;
  }

  /** Returns the plugins whose tools an agent has called. */
  plugins(agent: string): string[] {
    return [...this.#counts.get(agent)?.keys() ?? []];
  }
}

const NONE: CallCount = { calls: 0, failed: 0, resultTokens: 0 };
