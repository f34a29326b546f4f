/**
 * Hooks in spans: each call of a plugin gets a span, and the plugin the trace context to go on with.
 *
 * @module
 */
import type { HookDispatcher } from "../hooks/sources/plugin/fire_hook.ts";
import type { Tracing } from "./types.ts";

/** Returns a dispatcher that makes a span for each call of `hooks`; `hooks` itself where tracing is off. */
export function tracedHooks(hooks: HookDispatcher, tracing: Tracing | null): HookDispatcher {
  if (!tracing) return hooks;
  return {
    fire(subscriber, firing, read) {
      const { hook, context: { agent_path: agent, session_id: session } } = firing;
      const facts = { name: hook, agent, session, attributes: { "kaged.plugin": subscriber.plugin } };
      return tracing.span("hook", facts, async ({ carrier, fail }) => {
        const context = { ...firing.context, ...carrier };
        const outcome = await hooks.fire(subscriber, { ...firing, context }, read);
        if (!outcome.ok) fail(outcome.reason);
        return outcome;
      });
    },
  };
}
