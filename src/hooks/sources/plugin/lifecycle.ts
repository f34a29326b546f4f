/**
 * The lifecycle hooks as the hookspec tells them: their contracts, and what they are sent when the caller says little.
 *
 * @module
 */
import {
  HOOK_SCHEMAS,
  type HookMetadata,
  type HookName,
  HOOKS,
} from "../../../core/contract/generated/agent_lifecycle.ts";
import type { HookContract } from "../../dispatch/types.ts";

const CONTRACTS: ReadonlyMap<string, HookContract & Pick<HookMetadata, "portableName">> = new Map(
  HOOKS.map(({ name, dispatch, portableName }) => {
    const { input, output } = HOOK_SCHEMAS[name as HookName] as Pick<HookContract, "input" | "output">;
    return [name, { name, dispatch, portableName, ...(input && { input }), ...(output && { output }) }];
  }),
);

/** Returns the contract of a hook, by its canonical name. */
export function lifecycleContract(hook: string): HookContract {
  return CONTRACTS.get(hook)!;
}

/** Who fires a hook, and when. */
export interface FiredBy {
  /** Agent path. */
  readonly agent_path: string;
  /** The session. */
  readonly session_id: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
}

/** Returns the params of a hook with every field its schema asks for; what the caller gives goes before. */
export function completeParams(
  hook: string,
  params: Readonly<Record<string, unknown>>,
  { agent_path, session_id, nowMs }: FiredBy,
): Readonly<Record<string, unknown>> {
  const { dispatch, portableName } = CONTRACTS.get(hook)!;
  if (dispatch === "chain") {
    const timestamp = new Date(nowMs).toISOString();
    return { hook: portableName, timestamp, sessionId: session_id, agent: agent_path, ...params };
  }
  if (hook === "on_session_idle") return { transcript: [], ...params };
  if (hook === "on_session_start") return params;
  const nothing = { messages_being_compacted: [], messages_remaining: [] };
  return { role: "observer", ...nothing, strategy: "drop", trigger: "manual", ...params };
}
