/**
 * One tool, many names: `Bash` of Claude Code is `run_shell_command` of Gemini. A hook is for a tool by the name that
 * its own dialect has for it.
 *
 * @module
 */
/** Tools that most agents have, whatever they call them. */
export type ToolKind =
  | "shell"
  | "read"
  | "write"
  | "edit"
  | "glob"
  | "grep"
  | "list"
  | "fetch"
  | "search"
  | "agent"
  | "ask"
  | "todo";

/** A dialect's names of tools. */
export interface ToolNaming {
  /** By kind, the usual one first. */
  readonly tools: Readonly<Partial<Record<ToolKind, readonly string[]>>>;
  /** Whether all names of a kind are names of one tool, so that a matcher may have any. */
  readonly isOneTool?: true;
  /** Name of a tool of an MCP server, with `{server}` and `{tool}`. */
  readonly mcpTool: string;
}

/** Names that no dialect has, and that loops use. */
const USUAL: Readonly<Partial<Record<ToolKind, readonly string[]>>> = {
  shell: ["shell", "sh", "run_command", "run_in_terminal", "runTerminalCommand", "terminal", "execute_command"],
  read: ["readFile"],
  write: ["createFile", "create_file", "writeFile"],
  edit: ["editFile", "edit_file", "editFiles", "replace_string_in_file"],
};

/** Names of tools → their kinds. */
export type ToolKinds = ReadonlyMap<string, ToolKind>;

/** Returns the kinds of all names that dialects have for tools. */
export function toolKinds(dialects: Iterable<Pick<ToolNaming, "tools">>): ToolKinds {
  const kinds = new Map<string, ToolKind>();
  for (const table of [...Array.from(dialects, ({ tools }) => tools), USUAL]) {
    for (const [kind, names] of Object.entries(table)) {
      // The first dialect that has a name settles its kind: Codex writes files with the tool that edits them.
      for (const name of names) if (!kinds.has(name)) kinds.set(name, kind as ToolKind);
    }
  }
  return kinds;
}

/** Returns the server and the tool in a name, or null: `mcp__memory__save`, or `memory.save` as this host writes it. */
export function mcpParts(name: string): { readonly server: string; readonly tool: string } | null {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? /^([^.\s]+)\.([^\s]+)$/.exec(name) ?? [];
  return server === undefined || tool === undefined ? null : { server, tool };
}

/** Returns what a dialect calls a tool: its own name for a tool of that kind, else the tool's name as it is. */
export function toolNameIn(
  { tools, mcpTool }: ToolNaming,
  name: string,
  kinds: ToolKinds,
): string {
  const kind = kinds.get(name);
  if (kind !== undefined) {
    const own = tools[kind] ?? [];
    return own.includes(name) ? name : own[0] ?? name;
  }
  const mcp = mcpParts(name);
  return mcp ? mcpTool.replace("{server}", mcp.server).replace("{tool}", mcp.tool) : name;
}
