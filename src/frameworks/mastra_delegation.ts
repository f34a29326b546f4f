/**
 * Work that an agent of Mastra hands to another, as events of a session.
 *
 * @module
 */
import { PRIMARY } from "../core/contract/hook_names.ts";
import type { Session } from "../host/types.ts";
import { type DelegateEnded, delegation } from "./session_events.ts";

/** The start of a delegation, as far as it is read. */
export type DelegationStart = {
  readonly primitiveId: string;
  readonly prompt: string;
  readonly toolCallId: string;
  readonly runId: string;
};

/** The end of a delegation, as far as it is read. */
export type DelegationEnd = {
  readonly result: { readonly text: string };
  readonly success: boolean;
  readonly toolCallId: string;
  readonly runId: string;
};

/** Hooks for `delegation` of an agent's options. */
export interface KagedDelegation {
  /** Emits `delegate:start`. */
  onDelegationStart(start: DelegationStart): void;
  /** Emits `delegate:end`. */
  onDelegationComplete(end: DelegationEnd): void;
}

/** Options of {@link kagedDelegation}. */
export interface KagedDelegationOptions {
  /** Path of the agent that delegates. Default `primary`. */
  readonly agent?: string;
  /** Id of an agent or a workflow of Mastra → path of its agent. Default: its own id. */
  readonly agents?: Readonly<Record<string, string>>;
}

/** Returns hooks that emit `delegate:start` and `delegate:end` for each agent under `agents` that the model calls. */
export function kagedDelegation(session: Session, options: KagedDelegationOptions = {}): KagedDelegation {
  const { agent: parent = PRIMARY, agents = {} } = options;
  const open = new Map<string, DelegateEnded>();
  return {
    onDelegationStart({ primitiveId: id, prompt: input, toolCallId, runId }) {
      const child = Object.hasOwn(agents, id) ? agents[id]! : id;
      open.set(`${runId} ${toolCallId}`, delegation(session, { parent, child, input }));
    },
    onDelegationComplete({ result, success, toolCallId, runId }) {
      open.get(`${runId} ${toolCallId}`)?.(success ? result.text : "");
      open.delete(`${runId} ${toolCallId}`);
    },
  };
}
