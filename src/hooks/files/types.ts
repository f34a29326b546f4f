/**
 * Hooks as files write them, each with its place, whatever dialect the file speaks.
 *
 * @module
 */
import type { DocumentIssue } from "../../core/documents/document_report.ts";
import type { PortableHookName } from "../engine/types.ts";

/**
 * Which kind of file: `copilot` is `.github/hooks/*.json` and `~/.copilot/hooks/*.json`, `claude` is
 * `.claude/settings*.json`, `plugin` is `hooks/hooks.json` of a plugin, `agent` is the front matter of `*.agent.md`,
 * `mcp` is the hook map of `mcp.json`.
 */
export type HookDialect = "copilot" | "claude" | "plugin" | "agent" | "mcp";

/** A command in the shells it is written for. */
export interface HookCommands {
  /** For bash. */
  readonly bash?: string;
  /** For PowerShell. */
  readonly powershell?: string;
  /** For any shell. */
  readonly command?: string;
}

/** The moment of a hook, and the hook's place in its file. */
export interface HookPlace {
  /** By its portable name. */
  readonly hook: PortableHookName;
  /** The moment as the file calls it. */
  readonly nativeName: string;
  /** Absolute path. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
  /** Path inside the file, such as `hooks.preToolUse[0]`. */
  readonly path: string;
}

/** One command hook of a file. */
export interface FileHook extends HookPlace {
  /** Names it: the file below its folder, and where in it. */
  readonly id: string;
  /** Kind of the file. */
  readonly dialect: HookDialect;
  /** What runs. */
  readonly commands: HookCommands;
  /** Folder it runs in, as written; absent: the project's. */
  readonly cwd?: string;
  /** Variables it gets besides the host's. */
  readonly env: Readonly<Record<string, string>>;
  /** Time it may take. */
  readonly timeoutMs: number;
  /** Which tools, or which causes of the moment, it is for; absent: all. */
  readonly matcher?: string;
  /** Nobody waits for it, and its answer is not read. */
  readonly background: boolean;
  /** The agent it is for, or null for all. */
  readonly agent: string | null;
  /** Lowest first; absent: the engine's default. */
  readonly priority?: number;
  /** What a failure of it means; absent: pass. */
  readonly onFailure?: "pass" | "block";
  /** Whether it may only warn and inject. */
  readonly advisory: boolean;
}

/** One entry of an MCP hook map: a tool that answers a moment. */
export interface McpHook extends HookPlace {
  /** The tool as written, such as `memory.load_session_memory`. */
  readonly tool: string;
  /** Lowest first. Default 50. */
  readonly priority: number;
}

/** A server an `mcp.json` names. */
export interface McpServerEntry {
  /** Its name. */
  readonly name: string;
  /** The program and its arguments as written, or null when it is no program that could be caged. */
  readonly command: readonly string[] | null;
  /** Variables it gets, as written. */
  readonly env: Readonly<Record<string, string>>;
}

/** A hook file, read. */
export interface ParsedHookFile {
  /** The file, absolute. */
  readonly file: string;
  /** Kind of the file. */
  readonly dialect: HookDialect;
  /** Its command hooks, in the order of the file. */
  readonly hooks: readonly FileHook[];
  /** Its MCP tools, in the order of the file. */
  readonly tools: readonly McpHook[];
  /** The MCP servers it names; absent: none. */
  readonly servers?: readonly McpServerEntry[];
  /** What is allowed and yet looks like a slip. */
  readonly warnings: readonly DocumentIssue[];
}
