/**
 * The options that every built-in handler takes.
 *
 * @module
 */
import type { HookHandler, HookOptions, HookRegistration, PortableHookName } from "../../engine/types.ts";

/** How a built-in handler takes part. */
export type BuiltinOptions = Pick<HookOptions, "priority" | "timeoutMs" | "onFailure" | "advisory" | "agents">;

/** Returns the registrations of a built-in: a handler for each hook, all with the same options. */
export function builtin(
  id: string,
  defaults: HookOptions,
  options: BuiltinOptions,
  handlers: Partial<Record<PortableHookName, HookHandler>>,
): HookRegistration[] {
  const { priority, timeoutMs, onFailure, advisory, agents } = options;
  const given = Object.entries({ priority, timeoutMs, onFailure, advisory, agents })
    .filter(([, value]) => value !== undefined);
  return Object.entries(handlers).map(([hook, handler]) => ({
    ...defaults,
    ...Object.fromEntries(given),
    hook: hook as PortableHookName,
    handler,
    source: { kind: "builtin", id },
  }));
}
