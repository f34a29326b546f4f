/**
 * The names of the eleven portable hooks, and the other names they go by.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { HOOKS } from "../../core/contract/generated/agent_lifecycle.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import type { PortableHookName } from "./types.ts";

/** Every portable hook, in the order of the hookspec. */
export const PORTABLE_HOOKS: readonly PortableHookName[] = HOOKS.flatMap(({ portableName }) =>
  portableName === null ? [] : [portableName as PortableHookName]
);

/** Portable names, names of plugins' manifests, names on other platforms. */
const NAMES: ReadonlyMap<string, PortableHookName> = new Map(
  HOOKS.flatMap(({ name, portableName, aliases }) => {
    const names = [portableName, name, ...Object.values(aliases).flat()];
    return portableName === null ? [] : names.map((each) => [each!, portableName as PortableHookName] as const);
  }),
);

/**
 * Returns the portable name of a hook, given any of its names; null when it has none.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * assert.equal(portableHook("errorOccurred"), "OnError");
 * assert.equal(portableHook("on_session_idle"), null);
 * ```
 */
export function portableHook(name: string): PortableHookName | null {
  return NAMES.get(name) ?? null;
}

/** Returns the portable name of a hook. Throws `hook.unknown`. */
export function requireHook(name: string): PortableHookName {
  const hook = NAMES.get(name);
  if (hook) return hook;
  throw new HostError("hook.unknown", `There is no hook "${name}"`, {
    data: { hook: String(name), known: PORTABLE_HOOKS },
    hint: didYouMean(String(name), [...NAMES.keys()], `Hooks: ${PORTABLE_HOOKS.join(", ")}`),
  });
}
