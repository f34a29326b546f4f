/**
 * What a host offers over MCP: the tools of one agent.
 *
 * @module
 */
import type { Host, HostTool } from "../host/types.ts";
import { toolAlias } from "../core/tools/tool_alias.ts";

/** One tool as MCP clients see it. */
export interface OfferedTool extends Record<string, unknown> {
  /** Name that every client accepts: `<plugin>__<tool>`. */
  name: string;
  /** What it does. */
  description: string;
  /** What its arguments look like. */
  inputSchema: { type: "object" } & Record<string, unknown>;
}

/** What a tool of an MCP server keeps of how its server listed it. */
const KEPT: readonly string[] = ["title", "annotations", "outputSchema"];

/** Returns the tools of an agent. */
export function offeredTools(host: Pick<Host, "tools">, agent: string): OfferedTool[] {
  return host.tools(agent).map(offeredTool);
}

function offeredTool({ name, description, parameters_schema, definition = {} }: HostTool): OfferedTool {
  const kept = Object.entries(definition).filter(([key]) => KEPT.includes(key));
  const inputSchema = { ...parameters_schema, type: "object" as const };
  return { ...Object.fromEntries(kept), name: toolAlias(name), description, inputSchema };
}
