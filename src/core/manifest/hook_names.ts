/**
 * The hooks a plugin may subscribe to, and the other names they go by.
 *
 * @module
 */

/** Every hook, by its canonical name. */
export const HOOK_NAMES: readonly string[] = [
  "on_session_start",
  "on_session_idle",
  "pre_compact",
  "post_compact",
  "session_end",
  "user_prompt_submitted",
  "pre_tool_use",
  "post_tool_use",
  "subagent_start",
  "subagent_stop",
  "on_error",
  "on_budget_exceeded",
];

/** Names of the portable hook model that mean one of {@link HOOK_NAMES}. */
export const HOOK_ALIASES: ReadonlyMap<string, string> = new Map([
  ["SessionStart", "on_session_start"],
  ["PreCompact", "pre_compact"],
  ["PostCompact", "post_compact"],
]);

/** Returns the canonical name of a hook, given either name. */
export function canonicalHook(name: string): string {
  return HOOK_ALIASES.get(name) ?? name;
}
