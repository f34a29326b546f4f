/**
 * The host's hook engine: plugins and the embedder's handlers in one chain. The host fires its own moments through it:
 * sessions that start, rest and end, windows that are compacted, and any hook an embedder asks for.
 *
 * @module
 */
import type { CompactionPorts } from "../core/compaction/types.ts";
import { canonicalHook, PRIMARY } from "../core/contract/hook_names.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { byteLength } from "../core/values/cut_text.ts";
import { type EscapeMarkers, markerEscaper } from "../core/values/escape_markers.ts";
import { checkInput } from "../hooks/dispatch/boundary.ts";
import { type ContextRoom, openContextRoom } from "../hooks/engine/context_room.ts";
import { createHookEngine, type HookEngine, type HookEngineOptions } from "../hooks/engine/engine.ts";
import { requireHook } from "../hooks/engine/names.ts";
import type { HookResult } from "../hooks/engine/result.ts";
import type { HookEvent } from "../hooks/engine/types.ts";
import type { HookContext } from "../hooks/sources/plugin/fire_hook.ts";
import { INJECTION_LIMITS, type Injections, openInjections } from "../hooks/sources/plugin/injections.ts";
import * as lifecycle from "../hooks/sources/plugin/lifecycle.ts";
import { type PluginHookPorts, pluginRegistrations } from "../hooks/sources/plugin/plugin_hooks.ts";
import { type PluginFiring, PluginScope } from "../hooks/sources/plugin/plugin_scope.ts";
import type { Blockable, HostHookOptions, SessionStarted } from "./hook_types.ts";
import type { TranscriptParams } from "./transcript.ts";
import type { HookFired } from "./types.ts";

/** The host's side of its hooks. No handler can make one of these reject. */
export interface HostHooks {
  readonly engine: HookEngine;
  /** Whether a hook has handlers other than those of plugins. */
  isWanted(hook: string): boolean;
  /** Replaces the plugins' handlers by those of the project as it is now. */
  refresh(): void;
  onStart(session: string, prompt: string): Promise<SessionStarted>;
  /** Fires `SessionEnd`, at which hook files of other hosts run their `Stop`. */
  onEnd(session: string): Promise<Blockable>;
  onIdle(session: string, params: TranscriptParams): Promise<unknown>;
  /** Fires any hook. Throws `hook.unknown`, or `hook.input_invalid` for params that its schema refuses. */
  fire(hook: string, params: lifecycle.HookParams, context: HookContext): Promise<HookFired>;
  /** Returns what asks the observers of one compaction: `PreCompact`, `PostCompact`. */
  observer(context: HookContext): CompactionPorts["observe"];
}

/** Returns the hooks of a host. */
export function hostHooks(
  ports: PluginHookPorts & Required<Pick<HookEngineOptions, "isGatedTool">> & Pick<HookEngineOptions, "onAsk">,
  { asyncStorage, clock }: Pick<Runtime, "asyncStorage" | "clock">,
  { onTrace, injectBudgetBytes = INJECTION_LIMITS.totalBytes, turnMarkers = [] }: HostHookOptions = {},
): HostHooks {
  const escape = markerEscaper(turnMarkers);
  const engine = createHookEngine({
    clock,
    isGatedTool: ports.isGatedTool,
    onAsk: ports.onAsk,
    openRoom: () => hostRoom(injectBudgetBytes, escape),
    ...(onTrace && { onTrace }),
    ...(asyncStorage && { asyncStorage }),
  });
  // Plugins stand before handlers of the same priority that the embedder adds, after every change of the project too.
  const add = (): () => void => engine.add(pluginRegistrations(ports), { first: true });
  let remove = add();

  /** Windows and transcripts are large, and plugins get them as params: only other handlers need them in the event. */
  const isWanted = (hook: string): boolean => engine.list(hook).some(({ source }) => source.kind !== "plugin");

  const fireOwn: FireOwn = async (hook, event, given) => {
    const scope = new PluginScope({ injections: openInjections(INJECTION_LIMITS, escape), ...given });
    const { agent_path: agent, session_id: sessionId } = given.context;
    const result = await engine.fire({ ...event, hook, sessionId, agent }, { scope });
    return { result, scope };
  };

  return {
    engine,
    isWanted,
    refresh() {
      remove();
      remove = add();
    },
    async onStart(session, given) {
      const context = ports.contextOf(PRIMARY, session);
      const { result, scope } = await fireOwn("SessionStart", { input: given }, { context });
      const prompt = typeof result.input === "string" ? result.input : given;
      const text = result.context.join("\n\n");
      return { given, prompt, text, injected: scope.injected, ...blockIn(result) };
    },
    async onEnd(session) {
      const context = ports.contextOf(PRIMARY, session);
      const { result } = await fireOwn("SessionEnd", { details: { reason: "end" } }, { context });
      return blockIn(result);
    },
    async onIdle(session, transcript) {
      const params = { ...transcript };
      const event = isWanted("on_session_idle") ? { details: params } : {};
      await fireOwn("on_session_idle", event, { context: ports.contextOf(PRIMARY, session), params });
    },
    async fire(name, given, context) {
      const hook = canonicalHook(requireHook(name));
      const params = lifecycle.completeParams(hook, given, { ...context, nowMs: clock.now() });
      checkInput(lifecycle.lifecycleContract(hook), params);
      const firing = lifecycle.takesEvent(hook) ? { context } : { context, params };
      const { result, scope } = await fireOwn(hook, lifecycle.eventOfParams(hook, params), firing);
      const { context: texts, warnings, trace, asked: asks } = result;
      const asked = asks.map(({ source: { id: by }, reason }) => ({ by, reason }));
      const reports = trace.flatMap(({ source }) => scope.reports.filter(({ instance }) => instance === source.id));
      const said = { reports, text: texts.join("\n\n"), injected: scope.injected, warnings };
      return { ...said, ...(asked.length > 0 && { asked }), ...blockIn(result) };
    },
    observer: (context) => observerOf(context, openInjections(INJECTION_LIMITS, escape), fireOwn, isWanted),
  };
}

type FireOwn = (
  hook: string,
  event: Partial<HookEvent>,
  given: PluginFiring & { readonly context: HookContext },
) => Promise<{ readonly result: HookResult; readonly scope: PluginScope }>;

/** The texts of both hooks go into one window, so they share one room. */
function observerOf(
  context: HookContext,
  injections: Injections,
  fireOwn: FireOwn,
  isWanted: (hook: string) => boolean,
): CompactionPorts["observe"] {
  return async ({ hook, params, window, before, after, except }) => {
    const shown = isWanted(hook) ? window : undefined;
    const details = { trigger: params.trigger, strategy: params.strategy, before, ...(after && { after }) };
    const event = after === null ? { details, input: shown } : { details, output: shown };
    const firing = { context, params: { ...params }, except, injections };
    const { result, scope: { blocks, retained, ignored } } = await fireOwn(hook, event, firing);
    const left = after === null ? result.input : result.output;
    const blocked = blockIn(result).blocked ?? null;
    const modified = left === shown ? {} : { modified: left };
    const texts = result.context.map((text) => ({ text, injection: blocks.get(text) ?? null }));
    return { texts, retained, ignored, blocked, ...modified };
  };
}

function blockIn({ blocked, blockedBy, reason }: HookResult): Blockable {
  return blocked ? { blocked: { by: blockedBy!, reason: reason! } } : {};
}

/**
 * Plugins' texts come wrapped and cut to their own room. No other handler's text can pass for a plugin's block, or for
 * another turn of the conversation.
 */
function hostRoom(budgetBytes: number, escape: EscapeMarkers): ContextRoom {
  const others = openContextRoom(budgetBytes);
  return {
    take(source, text) {
      if (source.kind === "plugin") return { text, bytes: byteLength(text), cut: false };
      return others.take(source, escape(text).text);
    },
    giveBack(source, bytes) {
      if (source.kind !== "plugin") others.giveBack(source, bytes);
    },
  };
}
