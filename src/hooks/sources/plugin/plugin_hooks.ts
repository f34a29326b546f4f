/**
 * Plugins as a source of hooks: each hook in a manifest becomes a handler in the same chain as everything else.
 *
 * @module
 */
import type { Audit } from "../../../core/audit/audit.ts";
import { PRIMARY, PRIMARY_HOOKS } from "../../../core/contract/hook_names.ts";
import { HostError, messageOf } from "../../../core/errors/host_error.ts";
import type { Clock } from "../../../core/ports/ports.ts";
import type { ResolvedAgent, ResolvedPlugin } from "../../../core/project/types.ts";
import { checkInput, checkOutput } from "../../dispatch/boundary.ts";
import { requireHook } from "../../engine/names.ts";
import type { HookEvent, HookHandler, HookRegistration, HookResponse } from "../../engine/types.ts";
import type { HookContext, HookDispatcher, HookOutcome, HookSubscriber } from "./fire_hook.ts";
import { completeParams, type HookParams, lifecycleContract, paramsOfEvent, takesEvent } from "./lifecycle.ts";
import { PluginScope } from "./plugin_scope.ts";

/** The host, as the plugins' handlers use it. */
export interface PluginHookPorts {
  /** Every agent of the project as it is now, with its plugins. */
  readonly agents: () => readonly ResolvedAgent[];
  /** Fires one hook at one plugin. */
  readonly hooks: HookDispatcher;
  readonly audit: Audit;
  /** Returns the context of work that an agent does in a session. */
  readonly contextOf: (agent: string, session: string) => HookContext;
  /** Throws `session.unknown` for a session that is not open. */
  readonly checkSession: (session: string) => void;
  readonly clock: Pick<Clock, "now">;
}

/** Waiting for its turn, being asked, and the second that the dispatcher allows beyond. */
const timeoutMs = (hookTimeoutSec: number): number => 2 * hookTimeoutSec * 1000 + 1_000;

/** Returns a handler for each plugin, agent and hook of the project as it is now, in the order they are declared. */
export function pluginRegistrations(ports: PluginHookPorts): HookRegistration[] {
  const scopes = new WeakMap<object, PluginScope>();

  /** A firing that the host did not begin gets a scope of its own, kept as long as the firing. */
  function scopeOf(firing: object): PluginScope {
    if (firing instanceof PluginScope) return firing;
    const scope = scopes.get(firing) ?? new PluginScope();
    scopes.set(firing, scope);
    return scope;
  }

  return ports.agents().flatMap(({ path, plugins }) =>
    plugins.flatMap(({ key, hooks, instance, dir, manifest }) =>
      hooks.filter((hook) => path === PRIMARY || !PRIMARY_HOOKS.includes(hook)).map((hook): HookRegistration => {
        const handler: HookHandler = (event, { firing }) => {
          // Looked up at each firing: a knob may have changed its config, or a reload removed it.
          const plugin = ports.agents().find((one) => one.path === path)?.plugins.find((one) => one.key === key);
          const scope = scopeOf(firing);
          return plugin && key !== scope.given.except ? askPlugin(plugin, hook, event, scope, ports) : null;
        };
        const source = { kind: "plugin", id: instance, file: `${dir}/kaged-plugin.yaml` } as const;
        return {
          hook: requireHook(hook),
          handler,
          agents: [path],
          timeoutMs: timeoutMs(manifest.hook_timeout_sec),
          source,
        };
      })
    )
  );
}

async function askPlugin(
  plugin: ResolvedPlugin,
  hook: string,
  event: HookEvent,
  scope: PluginScope,
  ports: PluginHookPorts,
): Promise<HookResponse | null> {
  const { given } = scope;
  if (!given.context) ports.checkSession(event.sessionId);
  const context = given.context ?? ports.contextOf(event.agent, event.sessionId);
  const params = given.params ?? paramsFor(hook, event, context, ports);
  const outcome = await ports.hooks.fire(subscriberOf(plugin), { hook, params, context }, (result) => {
    return { raw: result, ...readPluginAnswer(hook, plugin.plugin, result) };
  });
  scope.reports.push(reportOf(plugin, outcome));
  if (!outcome.ok) throw outcome.error;
  const { response, retain, problems } = outcome.result;
  for (const text of retain) scope.retained.push({ plugin: plugin.plugin, text });
  for (const problem of problems) scope.ignored.push({ plugin: plugin.plugin, problem });
  return await wrapped(response, plugin, hook, context, scope, ports.audit);
}

function paramsFor(hook: string, event: HookEvent, context: HookContext, { clock }: PluginHookPorts): HookParams {
  const params = completeParams(hook, paramsOfEvent(hook, event), { ...context, nowMs: clock.now() });
  checkInput(lifecycleContract(hook), params);
  return params;
}

/** Puts each text into the plugin's block, within its room, and records it. */
async function wrapped(
  response: HookResponse | null,
  { plugin, instance }: ResolvedPlugin,
  hook: string,
  { agent_path, session_id, request_id }: HookContext,
  { injections, injected, blocks }: PluginScope,
  audit: Audit,
): Promise<HookResponse | null> {
  if (!response?.additionalContext?.length) return response;
  const additionalContext: string[] = [];
  for (const text of response.additionalContext) {
    const block = await injections.wrap(plugin, hook, text);
    if (!block) continue;
    const { injection, returnedBytes: returned_bytes, escapedTags: escaped_tags } = block;
    const { bytes, sha256, cut } = injection;
    const data = { hook, agent_path, session_id, returned_bytes, bytes, sha256, cut, escaped_tags };
    audit.emit("plugin.hook.injected", { name: plugin, instance }, data, request_id);
    additionalContext.push(block.text);
    injected.push(injection);
    blocks.set(block.text, injection);
  }
  return { ...response, additionalContext };
}

/** Returns what firing a hook needs to know of a plugin. */
export function subscriberOf({ plugin, instance, manifest, override }: ResolvedPlugin): HookSubscriber {
  return { plugin, instance, timeoutSec: manifest.hook_timeout_sec, override };
}

function reportOf(
  { plugin, instance }: ResolvedPlugin,
  outcome: HookOutcome<{ readonly raw: unknown }>,
): PluginScope["reports"][number] {
  const { durationMs } = outcome;
  if (outcome.ok) {
    return { plugin, instance, outcome: "ok", result: outcome.result.raw ?? null, error: null, durationMs };
  }
  return { plugin, instance, outcome: outcome.reason, result: null, error: outcome.error, durationMs };
}

/** An answer in the shape that the chain and a compaction use. */
interface PluginAnswer {
  /** For the chain; null passes through. */
  readonly response: HookResponse | null;
  /** Texts that an observer of a compaction wants kept. */
  readonly retain: readonly string[];
  /** Parts of the answer that were left out, for the audit. */
  readonly problems: readonly string[];
}

const MAX_RETAINED = 1000;
const NOTHING: PluginAnswer = { response: null, retain: [], problems: [] };

/**
 * Reads an answer: an envelope, a text, or `{ inject }` where the hook takes an event; a text or `{ retain, inject }`
 * where answers are collected; anything where nobody reads it.
 *
 * @throws {HostError} `hook.result_invalid` for an answer that the hookspec refuses: nothing of it is used.
 */
export function readPluginAnswer(hook: string, plugin: string, answer: unknown): PluginAnswer {
  if (takesEvent(hook)) return { ...NOTHING, response: readEnvelope(hook, plugin, answer) };
  if (lifecycleContract(hook).dispatch === "broadcast_notify") return NOTHING;
  checkAnswer(hook, plugin, answer ?? null, "Return null, a text, or a map such as { inject }");
  const given = typeof answer === "string" ? { inject: answer } : (answer ?? {}) as CollectedAnswer;
  const retain = (given.retain ?? []).filter((text) => text !== "");
  const problems: string[] = [];
  if (given.role === "compactor") problems.push("it answers as a compactor and was asked as an observer");
  if (retain.length > MAX_RETAINED) problems.push(`"retain" holds more than ${MAX_RETAINED} texts`);
  return { response: given.inject ? injecting(given.inject) : null, retain: retain.slice(0, MAX_RETAINED), problems };
}

/** Fields of an answer that is collected; a compactor's has a role. */
interface CollectedAnswer {
  readonly retain?: readonly string[];
  readonly inject?: string | null;
  readonly role?: unknown;
}

function readEnvelope(hook: string, plugin: string, answer: unknown): HookResponse | null {
  if (answer === null || answer === undefined || answer === "") return null;
  const envelope = typeof answer === "string" ? injecting(answer) : fromInject(answer) ?? answer;
  checkAnswer(hook, plugin, envelope, "Return null, a text, { inject }, or an envelope with an action");
  return envelope as HookResponse;
}

function checkAnswer(hook: string, plugin: string, answer: unknown, hint: string): void {
  try {
    checkOutput(lifecycleContract(hook), plugin, answer);
  } catch (cause) {
    throw new HostError("hook.result_invalid", messageOf(cause), { hint, cause });
  }
}

/** `{ inject: "…" }` without an action, and `action: "inject"`, both mean `injectContext`. */
function fromInject(answer: unknown): HookResponse | null {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) return null;
  const { action, inject, ...rest } = answer as { action?: unknown; inject?: unknown };
  if (action === "inject") return { ...rest, action: "injectContext" };
  if (action !== undefined || (inject !== undefined && inject !== null && typeof inject !== "string")) return null;
  return inject ? injecting(inject) : { action: "passThrough" };
}

function injecting(text: string): HookResponse {
  return { action: "injectContext", additionalContext: [text] };
}
