/**
 * Hooks as files write them, each with its place, whatever dialect the file speaks.
 *
 * @module
 */
import type { DocumentIssue } from "../../core/documents/document_report.ts";
import { defined } from "../../core/values/plain_data.ts";
import type { PortableHookName } from "../engine/types.ts";

/**
 * The kind of a file, after the agent that it was written for; `plugin` is `hooks/hooks.json` of a plugin of Claude
 * Code, `agent` is the front matter of `*.agent.md`, `mcp` is the hook map of `mcp.json`.
 */
export type HookDialect =
  | "copilot"
  | "claude"
  | "plugin"
  | "agent"
  | "codex"
  | "cursor"
  | "gemini"
  | "windsurf"
  | "opencode"
  | "mcp";

/** A command in the shells it is written for. */
export interface HookCommands {
  /** Shell text for bash, used on every system but Windows. */
  readonly bash?: string;
  /** Shell text for PowerShell, used on Windows. */
  readonly powershell?: string;
  /** For any shell, where the one of the system has none of its own. */
  readonly command?: string;
}

/** The moment of a hook, and the hook's place in its file. */
export interface HookPlace {
  /** The moment, by its portable name. */
  readonly hook: PortableHookName;
  /** The moment as the file calls it. */
  readonly nativeName: string;
  /** Absolute path of the file. */
  readonly file: string;
  /** Line of the entry; the first is 1. */
  readonly line: number;
  /** Path inside the file, such as `hooks.preToolUse[0]`. */
  readonly path: string;
}

/** A hook that is no command: a request, a tool of an MCP server, or a question to a model. */
export type HookAction =
  | {
    readonly type: "http";
    readonly url: string;
    /** As written, with `$NAME` for variables of {@link allowedEnvVars}. */
    readonly headers: Readonly<Record<string, string>>;
    readonly allowedEnvVars: readonly string[];
  }
  | {
    readonly type: "mcp_tool";
    readonly server: string;
    readonly tool: string;
    /** Arguments, with `${path}` for fields of the event. */
    readonly input: Readonly<Record<string, unknown>>;
  }
  | {
    readonly type: "prompt" | "agent";
    /** The question, with `$ARGUMENTS` for the event. */
    readonly prompt: string;
    readonly model?: string;
    /** Whether a no is fed back to the model instead of ending the turn. */
    readonly continueOnBlock: boolean;
  };

/** One hook of a file: a command, or another {@link HookAction}. */
export interface FileHook extends HookPlace {
  /** The file below its folder, and the path in it. */
  readonly id: string;
  /** The dialect of the file it is in. */
  readonly dialect: Exclude<HookDialect, "mcp">;
  /** Shell text for each shell; at least one, unless it has an {@link action}. */
  readonly commands: HookCommands;
  /** What it does, when it is no command. */
  readonly action?: HookAction;
  /** A permission rule of Claude Code that a tool call must fit, as `if` gives it. */
  readonly condition?: string;
  /** Folder it runs in, as written; absent: the project's. */
  readonly cwd?: string;
  /** Variables it gets besides the host's. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: by the dialect and the moment. */
  readonly timeoutMs: number;
  /** The tools, or the causes of the moment, that it is for; absent: all. */
  readonly matcher?: string;
  /** The agent does not wait for it: it decides nothing, and what it says comes later or not at all. */
  readonly background: boolean;
  /** Whether exit code 2 of a hook in the background has a text for the model (`asyncRewake`). */
  readonly rewakes?: true;
  /** The agent it is for, or null for all. */
  readonly agent: string | null;
  /** Lowest first; absent: the engine's default. */
  readonly priority?: number;
  /** Whether the agent goes on after a failure of it; default `pass`. */
  readonly onFailure?: "pass" | "block";
  /** Whether it may only warn and inject. */
  readonly advisory: boolean;
}

/** A command hook whose failure blocks, with all that is needed to block in its place when its file is gone. */
export type HookGate = Pick<
  FileHook,
  "id" | "hook" | "nativeName" | "dialect" | "matcher" | "condition" | "agent" | "priority" | "line"
>;

/** Returns the hooks that block when they fail. One that only advises blocks nothing. */
export function gatesIn(hooks: readonly FileHook[]): HookGate[] {
  return hooks.filter(({ onFailure, advisory }) => onFailure === "block" && !advisory).map((gate) => {
    const { id, hook, nativeName, dialect, matcher, condition, agent, priority, line } = gate;
    return { id, hook, nativeName, dialect, agent, line, ...defined({ matcher, condition, priority }) };
  });
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
  /** The key that `<server>.<tool>` refers to. */
  readonly name: string;
  /** The program and its arguments as written, or null when it is no program that could be caged. */
  readonly command: readonly string[] | null;
  /** Variables it gets, as written. */
  readonly env: Readonly<Record<string, string>>;
}

/** A hook, or all hooks of a moment, that a file has and that cannot run here. */
export interface UnusedHook {
  /** The file below its folder, and the path in it. */
  readonly id: string;
  /** Line in the file, from 1. */
  readonly line: number;
  /** Why it does not run, as a sentence. */
  readonly reason: string;
  /** Whether the file has a mistake there. */
  readonly isMistake?: true;
}

/** The content of a hook file, whatever its dialect. */
export interface ParsedHookFile {
  /** Absolute path of the file. */
  readonly file: string;
  /** The dialect that the file was read as. */
  readonly dialect: HookDialect;
  /** Its command hooks, in the order of the file. */
  readonly hooks: readonly FileHook[];
  /** Its MCP tools, in the order of the file. */
  readonly tools: readonly McpHook[];
  /** The MCP servers it names; absent: none. */
  readonly servers?: readonly McpServerEntry[];
  /** Its hooks that cannot run here; absent: none. */
  readonly unused?: readonly UnusedHook[];
  /** Entries that are allowed and look like slips. */
  readonly warnings: readonly DocumentIssue[];
}
