/**
 * The tools of a host's agents, as its sessions list, search, find and count them.
 *
 * @module
 */
import { countTokens, tokenCounter } from "../core/compaction/messages.ts";
import type { Supervisor } from "../core/supervisor/types.ts";
import { indexOfTools, searchIndex } from "../core/tools/search_index.ts";
import { callableTools, type HostModel } from "./model.ts";
import type { ToolPorts } from "./tool_own.ts";
import { definitionCosts } from "./tool_usage.ts";
import type { HostOptions } from "./types.ts";

/** Returns the tools of a host's agents. */
export function toolPorts(
  rooms: {
    readonly model: HostModel;
    readonly supervisor: Pick<Supervisor, "plugins">;
    readonly options: Pick<HostOptions, "countTokens">;
  },
): ToolPorts {
  const { model, options } = rooms;
  const count = tokenCounter(options.countTokens ?? countTokens);
  const tokens = (text: string): number => count({ role: "tool", content: text });
  const costs = definitionCosts(tokens);
  return {
    tools: (agent) => callableTools(agent, rooms),
    findTool: (name, agent) => model.tool(name, agent),
    search(query, agent) {
      const callable = new Set(callableTools(agent, rooms).map(({ name }) => name));
      return searchIndex(indexOfTools(model.tools(agent)), query).filter(({ name }) => callable.has(name));
    },
    definitions: (agent) => costs(model.tools(agent)),
    tokens,
  };
}
