/**
 * The names of hosts for the moments of an agent's life, and the portable moment that each name means (B-003).
 *
 * @module
 */
import { HOOKS } from "../../core/contract/generated/agent_lifecycle.ts";
import type { PortableHookName } from "../engine/types.ts";

/** The meaning of a native name. */
export interface NativeEvent {
  readonly hook: PortableHookName;
  /** The end of a turn in some hosts, the end of the session in the portable model. */
  readonly isTurnEnd: boolean;
}

const TURN_END: readonly string[] = ["Stop", "agentStop"];

const EVENTS: ReadonlyMap<string, NativeEvent> = new Map(
  HOOKS.flatMap(({ portableName, aliases }): [string, NativeEvent][] => {
    if (portableName === null) return [];
    const hook = portableName as PortableHookName;
    const camel = hook.charAt(0).toLowerCase() + hook.slice(1);
    const more = hook === "SessionEnd" ? TURN_END : [];
    return [hook, camel, ...Object.values(aliases).flat(), ...more].map((name) => [
      name,
      { hook, isTurnEnd: TURN_END.includes(name) },
    ]);
  }),
);

/** Moments that cloud agents do not have. */
const NOT_IN_THE_CLOUD: ReadonlySet<PortableHookName> = new Set(["SubagentStart", "SubagentStop", "PreCompact"]);

/** Every name that is understood. */
export const NATIVE_NAMES: readonly string[] = [...EVENTS.keys()];

/** Returns what a native or portable name means, or null when it means nothing here. */
export function nativeEvent(name: string): NativeEvent | null {
  return EVENTS.get(name) ?? null;
}

/** Marks the registration of an entry of an MCP hook map that stands under `Stop`, as the engine reads it. */
export function turnEndOf({ nativeName }: { readonly nativeName: string }): { readonly turnEnd?: true } {
  return EVENTS.get(nativeName)?.isTurnEnd ? { turnEnd: true } : {};
}

/** Whether native hosts leave this moment out. */
export function isExtension(hook: PortableHookName): boolean {
  return nativeName(hook, "copilot") === null;
}

/** Whether a cloud agent fires this moment. */
export function isInTheCloud(hook: PortableHookName): boolean {
  return !NOT_IN_THE_CLOUD.has(hook) && !isExtension(hook);
}

/**
 * Returns what a host calls a portable moment, or null when it has none.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(nativeName("SessionEnd", "copilot"), "Stop");
 * assert.equal(nativeName("OnBudgetExceeded", "copilot"), null);
 * ```
 */
export function nativeName(hook: PortableHookName, host: "copilot" | "claude"): string | null {
  return HOOKS.find(({ portableName }) => portableName === hook)?.aliases[host]?.[0] ?? null;
}
