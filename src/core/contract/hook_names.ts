/**
 * The hooks a plugin may subscribe to, and the other names they go by. Both come from the hookspec.
 *
 * @module
 */
import { HOOKS } from "./generated/agent_lifecycle.ts";

/** Path of the agent that owns sessions. */
export const PRIMARY = "primary";

/** Id of a handler that has no name: nobody can tell it from another such handler, nor find it again after a restart. */
export const NAMELESS = "anonymous";

/** Every hook, by its canonical name. */
export const HOOK_NAMES: readonly string[] = HOOKS.map(({ name }) => name);

/** Names of the portable hook model that mean one of {@link HOOK_NAMES}. */
export const HOOK_ALIASES: ReadonlyMap<string, string> = new Map(
  HOOKS.flatMap(({ name, portableName }) => portableName === null ? [] : [[portableName, name]]),
);

/** Hooks of a session, which belongs to the {@link PRIMARY} agent: they never fire for another. */
export const PRIMARY_HOOKS: readonly string[] = HOOKS.filter(({ scope }) => scope === "primary").map(({ name }) =>
  name
);

/** Returns the canonical name of a hook, given either name. */
export function canonicalHook(name: string): string {
  return HOOK_ALIASES.get(name) ?? name;
}
