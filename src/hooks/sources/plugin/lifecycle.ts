/**
 * The lifecycle hooks as the hookspec has them: their contracts, and how an event becomes the params of a plugin's hook
 * and the other way round.
 *
 * @module
 */
import * as lifecycle from "../../../core/contract/generated/agent_lifecycle.ts";
import type { HookContract } from "../../dispatch/types.ts";
import type { HookEvent } from "../../engine/types.ts";

/** The params of a hook, without `_context` and `_config`. */
export type HookParams = Readonly<Record<string, unknown>>;

const CONTRACTS: ReadonlyMap<string, HookContract & Pick<lifecycle.HookMetadata, "portableName">> = new Map(
  lifecycle.HOOKS.map(({ name, dispatch, portableName }) => {
    const { input, output } = lifecycle.HOOK_SCHEMAS[name as lifecycle.HookName] as Pick<
      HookContract,
      "input" | "output"
    >;
    return [name, { name, dispatch, portableName, ...(input && { input }), ...(output && { output }) }];
  }),
);

const OBSERVED = {
  role: "observer",
  messages_being_compacted: [],
  messages_remaining: [],
  strategy: "drop",
  trigger: "manual",
} as const;

/** Required params of the hooks that take no event, for a caller who leaves them out. */
const DEFAULTS: Readonly<Record<string, HookParams>> = {
  on_session_start: {},
  on_session_idle: { transcript: [] },
  pre_compact: OBSERVED,
  post_compact: OBSERVED,
};

/** Returns the contract of a hook, by its canonical name. */
export function lifecycleContract(hook: string): HookContract {
  return CONTRACTS.get(hook)!;
}

/** Whether plugins are sent the event itself and answer with an envelope. */
export function takesEvent(hook: string): boolean {
  return lifecycleContract(hook).dispatch === "chain";
}

/** The agent, the session and the time that an event carries. */
export interface FiredBy {
  readonly agent_path: string;
  readonly session_id: string;
  /** Milliseconds since 1970, UTC. */
  readonly nowMs: number;
}

/** Returns the params of a hook with every field its schema asks for; given ones replace the defaults. */
export function completeParams(hook: string, params: HookParams, fired: FiredBy): HookParams {
  if (!takesEvent(hook)) return { ...DEFAULTS[hook], ...params };
  const { agent_path: agent, session_id: sessionId, nowMs } = fired;
  const timestamp = new Date(nowMs).toISOString();
  return { hook: CONTRACTS.get(hook)!.portableName, timestamp, sessionId, agent, ...params };
}

/** Returns the params that an event fills in; {@link completeParams} adds the others. */
export function paramsOfEvent(hook: string, event: HookEvent): HookParams {
  if (takesEvent(hook)) return { ...event };
  const { details = {}, input, output } = event;
  if (hook === "on_session_idle") return details;
  if (hook === "on_session_start") return {}; // The hookspec sends it nothing.
  const window = hook === "pre_compact" ? input : output;
  const { trigger } = details;
  return {
    ...(Array.isArray(window) && { messages_remaining: window }),
    ...(typeof trigger === "string" && { trigger }),
  };
}

/** Returns the fields of the event that carry a plugin's `params` to handlers of other sources. */
export function eventOfParams(hook: string, params: HookParams): Partial<HookEvent> {
  if (takesEvent(hook)) return params;
  if (hook === "on_session_start") return {};
  if (hook === "on_session_idle") return { details: params };
  const { messages_being_compacted: gone, messages_remaining: kept, trigger, strategy } = params;
  const window = hook === "pre_compact" ? { input: [...gone as unknown[], ...kept as unknown[]] } : { output: kept };
  return { details: { trigger, strategy }, ...window };
}
