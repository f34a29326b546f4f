/**
 * A call of a tool on its way through the gate.
 *
 * @module
 */
import type { AgentTool } from "../core/tools/tool_registry.ts";
import type { ToolCallOptions } from "./types.ts";

/** The background job that makes a call. */
export interface CallingJob {
  readonly id: string;
  /** Aborted with the run: its call waits for nobody then, whatever signal the run gave it. */
  readonly signal: AbortSignal;
  /** Counts the calls of this run that have the same key, from 1: each is a call of its own. */
  count(key: string): number;
}

/** A tool, as much of it as the gate needs. */
export interface GatedTool extends Pick<AgentTool, "name" | "parametersSchema" | "definition"> {
  readonly owner: Pick<AgentTool["owner"], "plugin" | "instance" | "override">;
}

/** One call, its tool and its open session found. */
export interface GateCall {
  readonly tool: GatedTool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly agent: string;
  readonly session: { readonly id: string; keep(texts: readonly string[]): void };
  readonly options: ToolCallOptions;
  /** The background job that makes it; absent where none does. */
  readonly job?: CallingJob | undefined;
  /** Whether the caller gets the output alone, and no text of handlers with it. */
  readonly outputOnly: boolean;
}
