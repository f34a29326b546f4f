/**
 * The tools of an agent, as a client lists and calls them.
 *
 * @module
 */
import type { CallAt, Host, HostTool } from "../host/types.ts";
import { exposedHooks, type OfferedTool } from "./exposed_hooks.ts";
import { type NameStyle, offeredNames } from "./offered_names.ts";

/** Fields that a tool of an MCP server keeps of how its server listed it. */
const KEPT = ["title", "annotations", "outputSchema", "icons", "execution", "_meta"];

/** The agent whose tools are served. */
export interface OfferedBy {
  readonly host: Host;
  readonly agent: string;
  /** Whether hooks that their hookspec exposes are tools too. */
  readonly hooks: boolean;
  readonly names: NameStyle;
}

/** A tool that a client named. */
export interface FoundTool {
  /** Plugin and full name of the tool; null for a hook. */
  readonly tool: HostTool | null;
  call(args: Readonly<Record<string, unknown>>, at: CallAt): Promise<unknown>;
}

/** Returns the tools of the agent now. */
export function offeredTools({ host, agent, hooks, names }: OfferedBy): OfferedTool[] {
  const exposed = hooks ? exposedHooks(host, agent).map(({ tool }) => tool) : [];
  return [...[...offeredNames(host.tools(agent), names)].map(([name, tool]) => offeredTool(name, tool)), ...exposed];
}

function offeredTool(name: string, { description, parametersSchema, definition = {} }: HostTool): OfferedTool {
  const kept = Object.entries(definition).filter(([key]) => KEPT.includes(key));
  return { ...Object.fromEntries(kept), name, description, inputSchema: { ...parametersSchema, type: "object" } };
}

/** Returns the tool that a client named, by any of its names; the host says what is wrong with a name it does not know. */
export function foundTool({ host, agent, hooks, names }: OfferedBy, name: string): FoundTool {
  const tools = host.tools(agent);
  const tool = offeredNames(tools, names).get(name) ?? tools.find((one) => one.alias === name || one.name === name);
  if (tool) return { tool, call: (args, at) => host.callTool(tool.name, args, at) };
  const hook = hooks ? exposedHooks(host, agent).find((one) => one.tool.name === name) : undefined;
  return { tool: null, call: (args, at) => hook ? hook.call(args, at) : host.callTool(name, args, at) };
}
