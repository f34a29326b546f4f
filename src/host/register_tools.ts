/**
 * Tools that become known while a plugin runs: those an MCP server lists.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import type { McpTool } from "../core/mcp/mcp_tool.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";
import type { HostModel } from "./model.ts";

/** Gives the agents of an instance the tools it has listed, and audits each that an agent did not have before. */
export function registerTools({ instance, plugin: name, tools }: PluginInfo, model: HostModel, audit: Audit): void {
  const agents = model.project.instances.find((one) => one.instance === instance)?.agents ?? [];
  const before = new Map(agents.map((agent) => [agent, new Set(model.tools(agent).keys())]));
  model.adoptTools(instance, tools.filter((tool): tool is McpTool => "definition" in tool));
  for (const agent_path of agents) {
    for (const tool of model.tools(agent_path).keys()) {
      if (before.get(agent_path)?.has(tool)) continue;
      audit.emit("plugin.tool_registered", { name, instance }, { tool, agent_path });
    }
  }
}
