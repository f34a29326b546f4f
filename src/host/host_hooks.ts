/**
 * The host's hook engine: plugins, and whatever the embedder adds, in one chain. The host fires its own moments through
 * it: sessions that start and end, windows that are compacted.
 *
 * @module
 */
import type { CompactionPorts } from "../core/compaction/types.ts";
import { byteLength } from "../core/values/cut_text.ts";
import type { HookContext } from "../hooks/sources/plugin/fire_hook.ts";
import { INJECTION_LIMITS } from "../hooks/sources/plugin/injections.ts";
import { escapePluginTags } from "../hooks/sources/plugin/plugin_tags.ts";
import { type ContextRoom, openContextRoom } from "../hooks/engine/context_room.ts";
import { createHookEngine, type HookEngine } from "../hooks/engine/engine.ts";
import type { HookResult } from "../hooks/engine/result.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { HostHookOptions, SessionStarted } from "./hook_types.ts";
import { PRIMARY } from "./model.ts";
import { type PluginHookPorts, pluginHooks } from "../hooks/sources/plugin/plugin_hooks.ts";

/** The host's side of its hooks. */
export interface HostHooks {
  /** The chain. */
  readonly engine: HookEngine;
  /** Takes up the plugins as the project has them now. */
  refresh(): void;
  /** Fires `SessionStart`. */
  onStart(session: string): Promise<SessionStarted>;
  /** Fires `SessionEnd`. */
  onEnd(session: string): Promise<void>;
  /** Fires `PreCompact` and `PostCompact` for a compaction. */
  observer(context: HookContext): NonNullable<CompactionPorts["observe"]>;
}

/** Returns the hooks of a host. */
export function hostHooks(
  ports: PluginHookPorts,
  { asyncStorage, clock }: Pick<Runtime, "asyncStorage" | "clock">,
  { onTrace, injectBudgetBytes = INJECTION_LIMITS.totalBytes }: HostHookOptions = {},
): HostHooks {
  const plugins = pluginHooks(ports);
  const engine = createHookEngine({
    clock,
    openRoom: () => hostRoom(injectBudgetBytes),
    ...(onTrace && { onTrace }),
    ...(asyncStorage && { asyncStorage }),
  });
  // Before whoever else is added, at first and at every change.
  const add = (): () => void => engine.add(plugins.registrations(), { first: true });
  let remove = add();

  return {
    engine,
    refresh() {
      remove();
      remove = add();
    },
    async onStart(sessionId) {
      const scope = plugins.openScope({ context: ports.contextOf(PRIMARY, sessionId) });
      const result = await engine.fire({ hook: "SessionStart", sessionId, agent: PRIMARY }, { scope });
      const injected = plugins.injectedIn(scope);
      return { text: result.context.join("\n\n"), injected, ...blockIn(result) };
    },
    async onEnd(sessionId) {
      const scope = plugins.openScope({ context: ports.contextOf(PRIMARY, sessionId) });
      await engine.fire({ hook: "SessionEnd", sessionId, agent: PRIMARY, details: { reason: "end" } }, { scope });
    },
    observer:
      ({ agent_path: agent, session_id: sessionId }) =>
      async ({ hook, params, window, before, after, observers, ask }) => {
        const byKey = new Map(observers.map((observer) => [observer.key, observer]));
        const scope = plugins.openScope({
          // A compactor takes the hook too and is asked elsewhere, in its own role.
          ask: (key) => byKey.has(key) ? ask(byKey.get(key)!) : Promise.resolve(null),
        });
        const { trigger, strategy } = params;
        // Windows are large, and plugins have theirs in the params: only others need it in the event.
        const isWanted = engine.list(hook).some(({ source }) => source.kind !== "plugin");
        const details = { trigger, strategy, before, ...(after && { after }) };
        const event = { hook, sessionId, agent, details };
        const field = after === null ? { input: window } : { output: window };
        const result = await engine.fire({ ...event, ...(isWanted && field) }, { scope });
        return { texts: result.context, blocked: blockIn(result).blocked ?? null };
      },
  };
}

function blockIn({ blocked, blockedBy, reason }: HookResult): { blocked?: { by: string; reason: string } } {
  return blocked ? { blocked: { by: blockedBy!, reason: reason! } } : {};
}

/** Plugins' texts come wrapped and cut to their own room; nobody else may speak in a plugin's name. */
function hostRoom(budgetBytes: number): ContextRoom {
  const others = openContextRoom(budgetBytes);
  return {
    take(source, text) {
      if (source.kind === "plugin") return { text, bytes: byteLength(text), cut: false };
      return others.take(source, escapePluginTags(text).text);
    },
    giveBack(source, bytes) {
      if (source.kind !== "plugin") others.giveBack(source, bytes);
    },
  };
}
