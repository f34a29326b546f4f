/**
 * A call at the gate, and its outcome.
 *
 * @module
 */
import type { HostError } from "../core/errors/host_error.ts";
import type { AgentTool } from "../core/tools/tool_registry.ts";
import type { CallOptions } from "../core/wire/connection_types.ts";

/** A tool, as much of it as the gate needs. */
export interface GatedTool extends Pick<AgentTool, "name" | "parametersSchema" | "definition"> {
  readonly owner: Pick<AgentTool["owner"], "plugin" | "instance" | "override">;
}

/** One call, its tool and its open session found. */
export interface GateCall {
  readonly tool: GatedTool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly agent: string;
  readonly session: string;
  readonly options: CallOptions;
}

/** The outcome of a call; text and warnings of handlers come with either. */
export type Passage =
  & { readonly context: readonly string[]; readonly warnings: readonly string[] }
  & ({ readonly ok: true; readonly output: unknown } | { readonly ok: false; readonly error: HostError });
