/**
 * Tools found by words, in place of a long list: how `search_tools` answers, and which tool `call_tool` means.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { AgentTool } from "../core/tools/tool_registry.ts";
import { byteLength, cutText } from "../core/values/cut_text.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
import type { GatedTool } from "./gate_call.ts";

/** The tools of an agent, to be searched. */
export interface SearchPorts {
  /** Returns the tools that an agent can call now and that fit a query, the best first. Throws `agent.unknown`. */
  search(query: string, agent: string): AgentTool[];
  /** Returns a tool of an agent. Throws `agent.unknown`, `tool.unknown` and why it cannot be called. */
  findTool(name: string, agent: string): GatedTool;
}

/** Arguments of `search_tools`. */
export interface SearchRequest {
  readonly query: string;
  readonly limit?: number;
  readonly plugin?: string;
}

/** Most bytes of the tools that one search returns. */
export const MAX_SEARCH_BYTES: number = 32 * 1024;
const DEFAULT_LIMIT = 5;
const MAX_PLUGINS = 50;
const SHORT_BYTES = 200;
const MAX_HINT = 300;
const MAX_NEAR = 3;

/** Answers `search_tools`. Throws `tool.arguments_invalid` for a plugin that the agent has no tools of. */
export function foundTools(
  { query, limit = DEFAULT_LIMIT, plugin }: SearchRequest,
  { agent, maxBytes, search }: Pick<SearchPorts, "search"> & { readonly agent: string; readonly maxBytes: number },
): Readonly<Record<string, unknown>> {
  const ranked = search(query, agent);
  const own = plugin === undefined ? ranked : ranked.filter(({ owner }) => owner.plugin === plugin);
  if (own.length === 0) return nothingFound(plugin, search("", agent));
  const tools = fittingTools(own.slice(0, limit), Math.min(maxBytes, MAX_SEARCH_BYTES));
  const more = own.length - tools.length;
  const notes = [
    ...(more > 0 ? [`${more} more match: use other words, plugin or limit`] : []),
    ...(tools.some((tool) => "parameters_bytes" in tool)
      ? ["Where parameters_bytes stands the parameters had no room: search for that tool alone, by its name"]
      : []),
  ];
  return { tools, more, ...(notes.length > 0 && { note: `${notes.join(". ")}.` }) };
}

function fittingTools(ranked: readonly AgentTool[], maxBytes: number): object[] {
  const tools: object[] = [];
  let left = maxBytes;
  for (const { name, description, parametersSchema: parameters } of ranked) {
    const whole = { name, description, parameters };
    const fits = bytesOf(whole) <= left;
    const tool = fits
      ? whole
      : { name, description: cutText(description, SHORT_BYTES), parameters_bytes: bytesOf(parameters) };
    left -= bytesOf(tool);
    if (left < 0 && tools.length > 0) break;
    tools.push(tool);
  }
  return tools;
}

/** Returns which plugins there are to look at, so that the next search can find something. */
function nothingFound(plugin: string | undefined, all: readonly AgentTool[]): Readonly<Record<string, unknown>> {
  const counts = new Map<string, number>();
  for (const { owner } of all) counts.set(owner.plugin, (counts.get(owner.plugin) ?? 0) + 1);
  if (plugin !== undefined && !counts.has(plugin)) {
    const known = [...counts.keys()];
    const message = `No tool is of plugin "${plugin.slice(0, 100)}"`;
    throw new HostError("tool.arguments_invalid", `Cannot call "search_tools": plugin: ${message}`, {
      data: { tool: "search_tools", path: "plugin", issues: [{ path: "plugin", message }] },
      hint: didYouMean(plugin, known, `Plugins with tools: ${known.slice(0, MAX_PLUGINS).join(", ") || "none"}`),
    });
  }
  const plugins = [...counts].slice(0, MAX_PLUGINS).map(([name, tools]) => ({ name, tools }));
  return { tools: [], more: 0, plugins, note: "No tool fits: use other words, or an empty query with a plugin." };
}

/**
 * Returns the tool that `call_tool` names.
 *
 * @throws {HostError} `tool.unknown`, with a few names that are near: a model that searches is not sent the whole list.
 */
export function calledTool(name: string, agent: string, { findTool, search }: SearchPorts): GatedTool {
  try {
    return findTool(name, agent);
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== "tool.unknown") throw error;
    const near = search(name, agent).slice(0, MAX_NEAR).map((tool) => tool.name);
    const words = near.length > 0 ? `Near it: ${near.join(", ")}` : "No tool has a name like it";
    const hint = error.hint !== undefined && error.hint.length <= MAX_HINT ? error.hint : words;
    throw new HostError("tool.unknown", error.message, {
      data: { tool: name, agent_path: agent, near },
      hint: `${hint}${hint.endsWith("?") ? "" : "."} Find tools with search_tools`,
    });
  }
}

function bytesOf(value: unknown): number {
  return byteLength(JSON.stringify(value));
}
