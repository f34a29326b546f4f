/**
 * Plugins as a source of portable hooks: what their manifests take becomes handlers in the same chain as everything else.
 *
 * @module
 */
import type { Injection } from "../../../core/compaction/types.ts";
import type { HookContext, HookDispatcher } from "./fire_hook.ts";
import { type Injections, openInjections } from "./injections.ts";
import { checkInput } from "../../dispatch/boundary.ts";
import { completeParams, lifecycleContract } from "./lifecycle.ts";
import { readPluginAnswer } from "./plugin_answer.ts";
import { portableHook } from "../../engine/names.ts";
import type { HookEvent, HookHandler, HookRegistration, HookResponse } from "../../engine/types.ts";
import { PRIMARY_HOOKS } from "../../../core/contract/hook_names.ts";
import type { Clock } from "../../../core/ports/ports.ts";
import type { ResolvedPlugin } from "../../../core/project/types.ts";
import { type Harness, wantedText } from "../../../host/harness.ts";
import { type HostModel, PRIMARY, subscriberOf } from "../../../host/model.ts";

/** What plugins are asked through. */
export interface PluginHookPorts {
  /** What the host knows of the project. */
  readonly model: HostModel;
  /** Fires one hook at one plugin. */
  readonly hooks: HookDispatcher;
  /** Wraps and records what plugins want before the model. */
  readonly harness: Pick<Harness, "inject">;
  /** The context of work an agent does in a session. */
  readonly contextOf: (agent: string, session: string) => HookContext;
  /** Throws `session.unknown` for a session that is not open. */
  readonly checkSession: (session: string) => void;
  /** Time. */
  readonly clock: Pick<Clock, "now">;
}

/** One firing the host itself has set off. */
export interface HostFiring {
  /** On whose behalf; absent: made for each plugin. */
  readonly context?: HookContext;
  /** Asks a plugin in place of the usual call, by the key it is declared under. */
  readonly ask?: (key: string) => Promise<string | null>;
}

/** Plugins' part in the chain. */
export interface PluginHooks {
  /** Returns a handler for each plugin, agent and hook of the project as it is now, in the order they are declared. */
  registrations(): HookRegistration[];
  /** Returns the scope of a firing of the host's own: its session need not be open any more. */
  openScope(firing?: HostFiring): object;
  /** What plugins had injected in a firing. */
  injectedIn(scope: object): Injection[];
}

/** What one firing knows beside the event. */
interface ScopeState {
  readonly host: HostFiring | null;
  readonly injections: Injections;
  readonly injected: Injection[];
}

/** Waiting for its turn, being asked, and what the dispatcher allows beyond. */
const timeoutMs = (hookTimeoutSec: number): number => 2 * hookTimeoutSec * 1000 + 1_000;

/** Returns the handlers of every plugin of the project. */
export function pluginHooks(ports: PluginHookPorts): PluginHooks {
  const { model, hooks, harness } = ports;
  const scopes = new WeakMap<object, ScopeState>();
  const open = (host: HostFiring | null): ScopeState => ({ host, injections: openInjections(), injected: [] });

  function stateOf(scope: object): ScopeState {
    const state = scopes.get(scope) ?? open(null);
    scopes.set(scope, state);
    return state;
  }

  async function handle(path: string, key: string, hook: string, event: HookEvent, scope: object) {
    const state = stateOf(scope);
    const { host } = state;
    if (host?.ask) {
      const text = await host.ask(key);
      return text === null ? null : injecting([text]);
    }
    if (!host) ports.checkSession(event.sessionId);
    const plugin = model.plugin(path, key);
    if (!plugin) return null; // It went while the hook was being fired.
    const context = host?.context ?? ports.contextOf(event.agent, event.sessionId);
    const params = paramsOf(hook, event, context, ports.clock.now());
    checkInput(lifecycleContract(hook), params);
    const read = (result: unknown): HookResponse | null => readAnswer(hook, plugin.plugin, result);
    const outcome = await hooks.fire(subscriberOf(plugin), { hook, params, context }, read);
    if (!outcome.ok) throw outcome.error;
    return await wrapped(outcome.result, plugin, hook, context, state);
  }

  /** Puts each text into the plugin's block, within its room. */
  async function wrapped(
    answer: HookResponse | null,
    plugin: ResolvedPlugin,
    hook: string,
    context: HookContext,
    { injections, injected }: ScopeState,
  ): Promise<HookResponse | null> {
    if (!answer?.additionalContext?.length) return answer;
    const additionalContext: string[] = [];
    for (const text of answer.additionalContext) {
      const block = await harness.inject({ subscriber: subscriberOf(plugin), hook, text }, injections, context);
      if (!block) continue;
      additionalContext.push(block.text);
      injected.push(block.injection);
    }
    return { ...answer, additionalContext };
  }

  const registrations = (): HookRegistration[] =>
    model.project.agents.flatMap(({ path, plugins }) =>
      plugins.flatMap(({ key, hooks: taken, instance, dir, manifest }) =>
        taken.flatMap((hook): HookRegistration[] => {
          const portable = portableHook(hook);
          if (portable === null || (path !== PRIMARY && PRIMARY_HOOKS.includes(hook))) return [];
          const handler: HookHandler = (event, { firing }) => handle(path, key, hook, event, firing);
          const source = { kind: "plugin", id: instance, file: `${dir}/kaged-plugin.yaml` } as const;
          return [{ hook: portable, handler, agents: [path], timeoutMs: timeoutMs(manifest.hook_timeout_sec), source }];
        })
      )
    );

  return {
    registrations,
    openScope(host = {}) {
      const scope = {};
      scopes.set(scope, open(host));
      return scope;
    },
    injectedIn: (scope) => [...scopes.get(scope)?.injected ?? []],
  };
}

/** What a plugin is sent: the event itself, or what its hook was sent before there were events. */
function paramsOf(
  hook: string,
  event: HookEvent,
  context: HookContext,
  nowMs: number,
): Readonly<Record<string, unknown>> {
  const at = { ...context, nowMs };
  if (lifecycleContract(hook).dispatch === "chain") return completeParams(hook, { ...event }, at);
  if (hook === "on_session_start") return {};
  const window = hook === "pre_compact" ? event.input : event.output;
  const trigger = typeof event.details?.trigger === "string" ? { trigger: event.details.trigger } : {};
  return completeParams(hook, { ...(Array.isArray(window) && { messages_remaining: window }), ...trigger }, at);
}

function readAnswer(hook: string, plugin: string, result: unknown): HookResponse | null {
  if (lifecycleContract(hook).dispatch === "chain") return readPluginAnswer(hook, plugin, result);
  const text = wantedText(hook, plugin, result);
  return text === null ? null : injecting([text]);
}

function injecting(additionalContext: string[]): HookResponse {
  return { action: "injectContext", additionalContext };
}
