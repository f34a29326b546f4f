/**
 * Sessions as an agent author sees them: conversations, their tools, and how those are called.
 *
 * @module
 */
import type { Message } from "../core/compaction/messages.ts";
import type { CompactionResult, Injection } from "../core/compaction/types.ts";
import type { JsonSchema } from "../core/schema/json_schema.ts";
import type { ToolCallOptions } from "./call_types.ts";

/** How a session is opened. */
export interface SessionOptions {
  readonly results?: { readonly maxBytes?: number; readonly keepBytes?: number };
  readonly usage?: boolean;
}

/** A window to be compacted; `M` is the type of the caller's own messages, such as `ModelMessage` of the AI SDK. */
export interface CompactionRequest<M = Message> {
  /** Path of the agent, such as `primary`. */
  readonly agent: string;
  /** Session id. */
  readonly session: string;
  /** The window, oldest message first. */
  readonly messages: readonly M[];
  /** Why now, such as `threshold_crossed`. */
  readonly trigger: string;
  /** Tokens to come down to. Default: the target in project.yaml, else half of the window. */
  readonly targetTokens?: number;
}

/** A tool an agent may call. */
export interface HostTool {
  /** Full name: `<plugin>.<tool>`; of the host's own tools, such as `search_tools`, the name alone. */
  readonly name: string;
  /** The name as chat APIs take it, of `^[a-zA-Z0-9_-]{1,64}$`: `<plugin>__<tool>`; a longer one ends in a hash. */
  readonly alias: string;
  /** Text for the model. */
  readonly description: string;
  /** JSON Schema of its arguments, which every call is checked against. */
  readonly parametersSchema: JsonSchema;
  /** Name of the plugin that offers it; `host` for the host's own. */
  readonly plugin: string;
  /** The tool as its MCP server listed it, title and annotations included; absent for any other plugin's. */
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** The outcome of a tool call. */
export interface ToolOutcome {
  /** As handlers of `PostToolUse` left it. One that is kept is `{ kept, note }` here. */
  readonly output: unknown;
  /** Text that handlers of hooks added for the next model call. */
  readonly context: string[];
  /** Notices of handlers, and about handlers that failed. */
  readonly warnings: string[];
}

/** A conversation of the primary agent. */
export interface Session {
  /** Unique among the open sessions of the host. */
  readonly id: string;
  /**
   * Fires `SessionStart` (`on_session_start` for plugins); call it before the first message reaches the model. The hook
   * fires once: later calls put the same text before the prompt they are given.
   */
  start(systemPrompt: string): Promise<{
    systemPrompt: string;
    injected: Injection[];
    /** The handler that blocked the start; absent when none did. */
    blocked?: { readonly by: string; readonly reason: string };
  }>;
  /** Adds a message to the transcript of `on_session_idle`, and winds the idle clock. */
  record(message: Message): void;
  /** Fires `on_session_idle` now. */
  idle(): Promise<void>;
  /** Returns the tools that an agent can call now. Default: those of the primary. */
  tools(
    of?: string | {
      /** Agent path. Default `primary`. */
      readonly agent?: string;
      /** `search_tools` and `call_tool` in place of the plugins' tools, for a model that could not read them all. */
      readonly search?: boolean;
      /** Whether `read_result` is listed too. Default: whether the session was opened with `results`. */
      readonly results?: boolean;
    },
  ): HostTool[];
  /**
   * Calls a tool, by its name or its alias, through the gate: its arguments are checked, and handlers of `PreToolUse`,
   * `PostToolUse` and `OnError` have their say. `call_tool` is a call of the tool that it names; `search_tools` and
   * `read_result` are answered by the host, and no handler hears of them.
   *
   * @throws {HostError} `tool.blocked` when a handler blocked it; `tool.denied` when a rule or a person said no;
   * `tool.unknown`, `tool.arguments_invalid`; `result.unknown` or `result.dropped` for a handle; the tool's own error.
   */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    options?: ToolCallOptions,
  ): Promise<ToolOutcome>;
  /**
   * Returns text that handlers added to tool calls and that has reached nobody, for the next model call, and forgets it:
   * of calls without `onContext` that returned only their output, or failed.
   */
  takeContext(): string[];
  /**
   * Returns what the tools of each plugin cost an agent, by default the primary. Plugin `host` stands for
   * `search_tools`, `call_tool` and `read_result`.
   */
  usage(agent?: string): {
    readonly plugin: string;
    readonly tools: number;
    /** Tokens of names, descriptions and schemas of its tools, by the host's count. */
    readonly definitionTokens: number;
    /** Calls that have ended, and the tokens of their results; null in a session opened without `usage`. */
    readonly counted: { readonly calls: number; readonly failed: number; readonly resultTokens: number } | null;
  }[];
  /** Makes the window of an agent smaller, by default the primary's. Never stalls and never throws for a plugin. */
  compact<M extends { readonly role: string } = Message>(
    request: Omit<CompactionRequest<M>, "agent" | "session"> & { readonly agent?: string },
  ): Promise<CompactionResult<M>>;
  /** Ends the session; one that was started fires `SessionEnd`, whose handlers all run even where one blocks. */
  close(): Promise<{
    /** A handler that wants the agent to go on, as `Stop` of a hook file may; absent when none does. */
    blocked?: { readonly by: string; readonly reason: string };
  }>;
}
