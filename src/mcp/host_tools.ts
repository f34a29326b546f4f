/**
 * The tools of one agent as MCP clients see them.
 *
 * @module
 */
import type { Host, HostTool } from "../host/types.ts";

/** A tool in a `tools/list` answer. */
export interface OfferedTool extends Record<string, unknown> {
  /** Name that every client accepts: `<plugin>__<tool>`. */
  name: string;
  description: string;
  inputSchema: { type: "object" } & Record<string, unknown>;
}

/** Fields that a tool of an MCP server keeps of how its server listed it. */
const KEPT: readonly string[] = ["title", "annotations", "outputSchema"];

/** Returns the tools of an agent. */
export function offeredTools(host: Pick<Host, "tools">, agent: string): OfferedTool[] {
  return host.tools(agent).map(offeredTool);
}

function offeredTool({ alias: name, description, parametersSchema, definition = {} }: HostTool): OfferedTool {
  const kept = Object.entries(definition).filter(([key]) => KEPT.includes(key));
  return { ...Object.fromEntries(kept), name, description, inputSchema: { ...parametersSchema, type: "object" } };
}
