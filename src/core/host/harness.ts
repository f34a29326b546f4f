/**
 * Fires hooks for an agent: looks up who takes them, asks one after the other, wraps what goes before the model.
 *
 * @module
 */
import type { Audit } from "../audit/audit.ts";
import { readObserverResult } from "../compaction/observer_result.ts";
import { HostError } from "../errors.ts";
import type { HookContext, HookDispatcher, HookOutcome, HookSubscriber } from "../hooks/fire_hook.ts";
import { readInjectResult } from "../hooks/hook_result.ts";
import { type Injections, openInjections, type WrappedInjection } from "../hooks/injections.ts";
import { canonicalHook, HOOK_NAMES } from "../manifest/hook_names.ts";
import { didYouMean } from "../manifest/nearest_word.ts";
import type { Injection } from "../compaction/types.ts";
import type { HostModel } from "./model.ts";
import type { HookFired, HookReport } from "./types.ts";

/** What a harness works with. */
export interface HarnessPorts {
  /** What the host knows of the project. */
  readonly model: HostModel;
  /** Fires one hook at one plugin. */
  readonly hooks: HookDispatcher;
  /** Where audit events go. */
  readonly audit: Audit;
}

/** Fires hooks for agents. */
export interface Harness {
  /** Fires a hook at each plugin of the agent that takes it. Throws `hook.unknown` or `agent.unknown`. */
  fire(hook: string, params: Readonly<Record<string, unknown>>, context: HookContext): Promise<HookFired>;
  /** Wraps text for the model and records it. Null when there is none. */
  inject(wish: InjectionWish, injections: Injections, context: HookContext): Promise<WrappedInjection | null>;
}

/** Text a plugin wants before the model. */
export interface InjectionWish {
  /** Who wants it. */
  readonly subscriber: Pick<HookSubscriber, "plugin" | "instance">;
  /** The hook that asked. */
  readonly hook: string;
  /** What. */
  readonly text: string;
}

/** Hooks whose observers may answer with text for the model. */
const COMPACTION_HOOKS: readonly string[] = ["pre_compact", "post_compact"];

/** Returns a harness. */
export function createHarness({ model, hooks, audit }: HarnessPorts): Harness {
  async function inject(
    { subscriber: { plugin, instance }, hook, text }: InjectionWish,
    injections: Injections,
    { agent_path, session_id, request_id }: HookContext,
  ): Promise<WrappedInjection | null> {
    const wrapped = await injections.wrap(plugin, hook, text);
    if (!wrapped) return null;
    const { injection: { bytes, sha256, cut }, returnedBytes: returned_bytes, escapedTags: escaped_tags } = wrapped;
    const data = { hook, agent_path, session_id, returned_bytes, bytes, sha256, cut, escaped_tags };
    audit.emit("plugin.hook.injected", { name: plugin, instance }, data, request_id);
    return wrapped;
  }

  async function fire(
    name: string,
    params: Readonly<Record<string, unknown>>,
    context: HookContext,
  ): Promise<HookFired> {
    const hook = knownHook(name);
    const reports: HookReport[] = [];
    const blocks: string[] = [];
    const injected: Injection[] = [];
    const injections = openInjections();
    const read = hook === "on_session_start" ? readInjectResult : (result: unknown) => result;
    for (const subscriber of model.subscribers(hook, context.agent_path)) {
      const outcome = await hooks.fire<unknown>(subscriber, { hook, params, context }, read);
      reports.push(reportOf(subscriber, outcome));
      const text = outcome.ok ? textIn(hook, outcome.result) : null;
      const wrapped = text === null ? null : await inject({ subscriber, hook, text }, injections, context);
      if (!wrapped) continue;
      blocks.push(wrapped.text);
      injected.push(wrapped.injection);
    }
    return { reports, text: blocks.join("\n\n"), injected };
  }

  return { fire, inject };
}

function knownHook(name: string): string {
  const hook = canonicalHook(name);
  if (HOOK_NAMES.includes(hook)) return hook;
  throw new HostError("hook.unknown", `There is no hook "${name}"`, {
    data: { hook: name, known: HOOK_NAMES },
    hint: didYouMean(name, HOOK_NAMES, `Hooks: ${HOOK_NAMES.join(", ")}`),
  });
}

function textIn(hook: string, result: unknown): string | null {
  if (hook === "on_session_start") return result as string | null;
  return COMPACTION_HOOKS.includes(hook) ? readObserverResult(result).inject : null;
}

function reportOf({ plugin, instance }: HookSubscriber, outcome: HookOutcome<unknown>): HookReport {
  const { durationMs } = outcome;
  if (outcome.ok) return { plugin, instance, outcome: "ok", result: outcome.result ?? null, error: null, durationMs };
  return { plugin, instance, outcome: outcome.reason, result: null, error: outcome.error, durationMs };
}
