/**
 * Fires hooks at plugins. Firing settles whatever a plugin does: a dead, slow or lying plugin costs its own timeout and
 * its own audit event.
 *
 * @module
 */
import type { Audit } from "../../../core/audit/audit.ts";
import { asHostError, HostError } from "../../../core/errors/host_error.ts";
import type { Clock } from "../../../core/ports/ports.ts";
import type { PluginCallContext, Supervisor } from "../../../core/supervisor/types.ts";

/** A plugin that takes a hook. */
export interface HookSubscriber {
  readonly plugin: string;
  /** The instance that serves the agent. */
  readonly instance: string;
  readonly timeoutSec: number;
  /** The agent's own part of the instance's config, sent as `_config`; null when it has none. */
  readonly override: Readonly<Record<string, unknown>> | null;
}

/** One hook with its params and its context. */
export interface HookFiring {
  /** Canonical name, such as `pre_tool_use`. */
  readonly hook: string;
  /** Without `_context` and `_config`. */
  readonly params: Readonly<Record<string, unknown>>;
  readonly context: HookContext;
}

/** On whose behalf a hook is fired: always an agent in a session. */
export interface HookContext extends Partial<PluginCallContext> {
  readonly project_id: string;
  readonly agent_path: string;
  readonly session_id: string;
  /** Shared by every audit event of one piece of work. */
  readonly request_id: string;
}

/** A plugin's answer to a hook, or why there is none that counts. */
export type HookOutcome<T> =
  & { readonly durationMs: number }
  & ({ readonly ok: true; readonly result: T } | HookFailure);

interface HookFailure {
  readonly ok: false;
  readonly reason: "timeout" | "failed" | "unavailable" | "oversize";
  readonly error: HostError;
}

/** The host, as the dispatcher uses it. */
export interface HookPorts {
  call(...call: Required<Parameters<Supervisor["call"]>>): Promise<unknown>;
  readonly audit: Audit;
  readonly clock: Clock;
  /** Called after every firing. */
  readonly onFired?: (subscriber: HookSubscriber, firing: HookFiring, outcome: HookOutcome<unknown>) => void;
}

/** Fires a hook at one plugin; the order among plugins is the chain's. */
export interface HookDispatcher {
  /**
   * Fires a hook at one plugin, once that plugin is done with the hook before. `read` makes a value of the plugin's
   * answer, or throws when the plugin may not answer so. Never rejects.
   */
  fire<T>(subscriber: HookSubscriber, firing: HookFiring, read: (result: unknown) => T): Promise<HookOutcome<T>>;
}

/** A plugin may report progress for ever, and a hook must end: this long after its time it does. */
const PROGRESS_GRACE_MS = 100;
const MAX_MESSAGE = 500;

/** Returns a dispatcher. Plugins get one hook at a time, across all sessions. */
export function createHookDispatcher(ports: HookPorts): HookDispatcher {
  const { audit, clock } = ports;
  const turnOf = hookQueue(clock);

  return {
    async fire(subscriber, firing, read) {
      const startedMs = clock.monotonic();
      const durationMs = (): number => Math.round((clock.monotonic() - startedMs) * 1000) / 1000;
      const subject = { name: subscriber.plugin, instance: subscriber.instance };
      const { hook, context: { agent_path, session_id, request_id } } = firing;
      const timeoutMs = subscriber.timeoutSec * 1000;
      let outcome: HookOutcome<ReturnType<typeof read>>;
      const endTurn = await turnOf(subscriber.instance, timeoutMs);
      audit.emit("plugin.hook.fired", subject, { hook, agent_path, session_id }, request_id);
      try {
        if (!endTurn) throw busyError(subscriber);
        const answer = await callOnce(subscriber, firing, ports);
        const result = read(answer);
        outcome = { ok: true, result, durationMs: durationMs() };
        const has_result = answer !== null && answer !== undefined;
        const data = { hook, duration_ms: outcome.durationMs, has_result };
        audit.emit("plugin.hook.returned", subject, data, request_id);
      } catch (thrown) {
        const error = asHostError(thrown);
        const reason = reasonOf(error);
        outcome = { ok: false, reason, error, durationMs: durationMs() };
        if (reason === "timeout") {
          const data = { hook, agent_path, timeout_sec: subscriber.timeoutSec };
          audit.emit("plugin.hook.timeout", subject, data, request_id);
        } else {
          audit.emit("plugin.hook.failed", subject, {
            hook,
            agent_path,
            error_code: error.rpc,
            error_message: error.message.slice(0, MAX_MESSAGE),
            reason: error.code,
          }, request_id);
        }
      } finally {
        endTurn?.();
      }
      ports.onFired?.(subscriber, firing, outcome);
      return outcome;
    },
  };
}

/** Calls the hook's method, and gives up even on a plugin that reports progress without end. */
async function callOnce(subscriber: HookSubscriber, firing: HookFiring, ports: HookPorts): Promise<unknown> {
  const { instance, timeoutSec, override } = subscriber;
  const { hook, params, context } = firing;
  const timeoutMs = timeoutSec * 1000;
  const giveUp = new AbortController();
  const sent = override ? { ...params, _config: override } : params;
  const cancel = ports.clock.after(timeoutMs + PROGRESS_GRACE_MS, () => giveUp.abort());
  try {
    return await ports.call(instance, `kaged.hook.${hook}`, sent, { context, timeoutMs, signal: giveUp.signal });
  } finally {
    cancel();
  }
}

function busyError({ plugin, timeoutSec }: HookSubscriber): HostError {
  return new HostError("protocol.timeout", `Plugin "${plugin}" was busy with other hooks for ${timeoutSec} s`);
}

function reasonOf({ code }: HostError): HookFailure["reason"] {
  if (code === "protocol.timeout" || code === "protocol.cancelled") return "timeout";
  if (code === "protocol.oversize_message") return "oversize";
  return code === "plugin.unavailable" || code === "plugin.unknown" ? "unavailable" : "failed";
}

/**
 * Waits for the turn of `key`, at most `maxWaitMs`. Resolves with a function that ends the turn, or with null when it did
 * not come in time.
 */
type HookQueue = (key: string, maxWaitMs: number) => Promise<(() => void) | null>;

/** Returns a queue that gives each instance one hook at a time, whatever the session it comes from. */
function hookQueue(clock: Clock): HookQueue {
  const waiting = new Map<string, (() => void)[]>();

  function release(key: string): void {
    const next = waiting.get(key)?.shift();
    if (next) next();
    else waiting.delete(key);
  }

  return (key, maxWaitMs) => {
    const endTurn = () => release(key);
    const line = waiting.get(key);
    if (!line) {
      waiting.set(key, []);
      return Promise.resolve(endTurn);
    }
    return new Promise((resolve) => {
      const start = () => {
        cancel();
        resolve(endTurn);
      };
      const cancel = clock.after(maxWaitMs, () => {
        line.splice(line.indexOf(start), 1);
        resolve(null);
      });
      line.push(start);
    });
  };
}
