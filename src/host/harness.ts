/**
 * Fires hooks for an agent: looks up who takes them, asks one after the other, wraps what goes before the model.
 *
 * @module
 */
import type { Audit } from "../core/audit/audit.ts";
import { readObserverResult } from "../core/compaction/observer_result.ts";
import type { CompactionHook, Injection } from "../core/compaction/types.ts";
import { HostError } from "../core/errors/host_error.ts";
import { dispatchChain, dispatchCollect, dispatchNotify, STOP } from "../hooks/dispatch/dispatch.ts";
import type { Participant } from "../hooks/dispatch/types.ts";
import type { HookContext, HookDispatcher, HookOutcome, HookSubscriber } from "../hooks/sources/plugin/fire_hook.ts";
import { readInjectResult } from "../hooks/sources/plugin/hook_result.ts";
import { type Injections, openInjections, type WrappedInjection } from "../hooks/sources/plugin/injections.ts";
import { completeParams, lifecycleContract } from "../hooks/sources/plugin/lifecycle.ts";
import { readPluginAnswer } from "../hooks/sources/plugin/plugin_answer.ts";
import type { HookResponse } from "../hooks/engine/types.ts";
import { canonicalHook, HOOK_NAMES } from "../core/contract/hook_names.ts";
import type { Clock } from "../core/ports/ports.ts";
import { didYouMean } from "../core/values/nearest_word.ts";
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
  /** Time. */
  readonly clock: Pick<Clock, "now">;
}

/** Fires hooks for agents. */
export interface Harness {
  /**
   * Fires a hook at each plugin of the agent that takes it, in the way the hookspec says. Throws `hook.unknown`,
   * `agent.unknown`, or `hook.input_invalid` for params that its schema refuses.
   */
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

const asIs = (result: unknown): unknown => result;

/** Returns a harness. */
export function createHarness({ model, hooks, audit, clock }: HarnessPorts): Harness {
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
    given: Readonly<Record<string, unknown>>,
    context: HookContext,
  ): Promise<HookFired> {
    const hook = knownHook(name);
    const contract = lifecycleContract(hook);
    const params = completeParams(hook, given, { ...context, nowMs: clock.now() });
    const subscribers = model.subscribers(hook, context.agent_path);
    const reports = new Map<HookSubscriber, HookReport>();
    const blocks: string[] = [];
    const injected: Injection[] = [];
    const injections = openInjections();

    /** Asks one plugin, reports what came of it, and returns its answer; undefined when it had no say. */
    async function ask<T>(
      subscriber: HookSubscriber,
      params: Readonly<Record<string, unknown>>,
      read: (result: unknown) => T,
    ): Promise<T | undefined> {
      const outcome = await hooks.fire(subscriber, { hook, params, context }, read);
      reports.set(subscriber, reportOf(subscriber, outcome));
      return outcome.ok ? outcome.result : undefined;
    }
    async function take(subscriber: HookSubscriber, text: string): Promise<void> {
      const wrapped = await inject({ subscriber, hook, text }, injections, context);
      if (!wrapped) return;
      blocks.push(wrapped.text);
      injected.push(wrapped.injection);
    }
    const askedBy = <I, O>(call: (subscriber: HookSubscriber, input: I) => Promise<O>): Participant<I, O>[] =>
      subscribers.map((one) => ({ name: one.instance, call: (input) => call(one, input) }));

    if (contract.dispatch === "chain") {
      const link = async (subscriber: HookSubscriber, event: typeof params): Promise<typeof params | typeof STOP> => {
        const answer = await ask(subscriber, event, (result) => readPluginAnswer(hook, subscriber.plugin, result));
        for (const text of answer?.additionalContext ?? []) await take(subscriber, text);
        if (answer?.action === "block") return STOP;
        return answer?.action === "modify" ? modified(event, answer) : event;
      };
      // What goes from one to the next is the event itself.
      await dispatchChain({ ...contract, output: contract.input! }, askedBy(link), params);
    } else if (contract.dispatch === "broadcast_notify") {
      await dispatchNotify(contract, askedBy((one, input: typeof params) => ask(one, input, asIs)), params);
    } else {
      const { output: _, ...asked } = contract; // Each answer is held against it where it is read.
      const tell = async (subscriber: HookSubscriber, input: typeof params): Promise<void> => {
        let text: string | null = null;
        await ask(subscriber, input, (result) => {
          text = wantedText(hook, subscriber.plugin, result);
          return hook === "on_session_start" ? text : result;
        });
        if (text !== null) await take(subscriber, text);
      };
      await dispatchCollect(asked, askedBy(tell), params, { bestEffort: true });
    }
    const inOrder = subscribers.flatMap((subscriber) => reports.get(subscriber) ?? []);
    return { reports: inOrder, text: blocks.join("\n\n"), injected };
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

/** The event as a plugin leaves it to the next one. */
function modified(
  event: Readonly<Record<string, unknown>>,
  { modifiedInput, modifiedOutput }: HookResponse,
): Readonly<Record<string, unknown>> {
  return {
    ...event,
    ...(modifiedInput !== undefined && { input: modifiedInput }),
    ...(modifiedOutput !== undefined && { output: modifiedOutput }),
  };
}

/** Returns the text a plugin wants before the model when a session starts or a window is compacted. Throws `hook.result_invalid`. */
export function wantedText(hook: string, plugin: string, result: unknown): string | null {
  return hook === "on_session_start"
    ? readInjectResult(result)
    : readObserverResult(hook as CompactionHook, plugin, result).inject;
}

function reportOf({ plugin, instance }: HookSubscriber, outcome: HookOutcome<unknown>): HookReport {
  const { durationMs } = outcome;
  if (outcome.ok) return { plugin, instance, outcome: "ok", result: outcome.result ?? null, error: null, durationMs };
  return { plugin, instance, outcome: outcome.reason, result: null, error: outcome.error, durationMs };
}
