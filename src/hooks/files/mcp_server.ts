/**
 * Which server of an `mcp.json` a hook's tool belongs to, and how its program is started.
 *
 * @module
 */
import { didYouMean } from "../../core/values/nearest_word.ts";
import { shown } from "../../core/values/shown_value.ts";
import { folderVariables } from "./folder_variables.ts";
import type { McpHook, McpServerEntry } from "./types.ts";

/** A tool and the server that has it. */
export interface ServedTool {
  readonly server: McpServerEntry;
  /** Name of the tool on its server. */
  readonly tool: string;
}

/** Returns the id of a hook that is an MCP tool: the file below its folder, and the path in it. */
export function mcpHookId({ path }: Pick<McpHook, "path">, name: string): string {
  return `${name}:${path}`;
}

/**
 * Returns the server of a tool, or null: `memory.load` is `load` of `memory`. The longest name of a server that fits
 * is meant.
 */
export function servedTool(reference: string, servers: readonly McpServerEntry[] = []): ServedTool | null {
  const fitting = servers.filter(({ name }) => reference.startsWith(`${name}.`) && reference.length > name.length + 1);
  const [server] = fitting.sort((a, b) => b.name.length - a.name.length);
  return server ? { server, tool: reference.slice(server.name.length + 1) } : null;
}

/** Returns why no server can be asked for a hook's tool, or null. */
export function serverProblem({ tool }: McpHook, servers: readonly McpServerEntry[] = []): string | null {
  const served = servedTool(tool, servers);
  if (served?.server.command) return null;
  if (served) return `Server ${shown(served.server.name)} is no program with a command, and only those can be caged`;
  const names = servers.map(({ name }) => name);
  if (names.includes(tool)) return `It names a server and no tool of it: write ${shown(`${tool}.<tool>`)}`;
  const [wanted = ""] = tool.split(".");
  const hint = didYouMean(wanted, names, 'Add it under "mcpServers" with its command');
  return `No server of this file has the tool ${shown(tool)}. ${hint}`;
}

/** Returns a text with its variables filled in: the project's folder, and those that the operator hands on. */
export function filledIn(text: string, dir: string, handed: Readonly<Record<string, string>>): string {
  const known: Readonly<Record<string, string>> = { ...handed, ...folderVariables(dir), workspaceFolder: dir };
  return text.replace(/\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g, (whole, name: string, fallback) => {
    return Object.hasOwn(known, name) ? known[name]! : fallback ?? whole;
  });
}
