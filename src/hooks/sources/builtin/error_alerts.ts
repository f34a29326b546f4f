/**
 * Built-in: one alert for one failure. The same failure again, soon after, is counted and raises no alert.
 *
 * @module
 */
import type { HookRegistration } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { errorSignature } from "./error_signature.ts";
import { perKey } from "./per_key.ts";

/** A failure worth an alert. */
export interface ErrorAlert {
  /** The tool that failed; null when another step did. */
  readonly tool: string | null;
  /** The error's message as `errorSignature()` returns it. */
  readonly signature: string;
  /** How often it happened since the last alert for it. */
  readonly count: number;
  /** Id of the session it happened in. */
  readonly session: string;
}

/** Where alerts go, and how often. */
export interface ErrorAlertsOptions extends BuiltinOptions {
  /** Called with each alert; an error it throws is a failure of the handler. */
  readonly onAlert: (alert: ErrorAlert) => void | Promise<void>;
  /** Milliseconds in which the same failure raises no second alert. Default 60 000. */
  readonly quietMs?: number;
}

const MAX_SIGNATURES = 1_000;

/** Returns the handler: `OnError`, priority 60. */
export function errorAlerts({ onAlert, quietMs = 60_000, ...options }: ErrorAlertsOptions): HookRegistration[] {
  const stateOf = perKey(MAX_SIGNATURES, () => ({ alertedMs: -Infinity, since: 0 }));
  return builtin("error-alerts", { priority: 60 }, options, {
    async OnError({ error, tool, sessionId, timestamp }) {
      const signature = errorSignature(error?.message ?? "");
      const state = stateOf(`${tool?.name}\n${signature}`);
      const atMs = Date.parse(timestamp);
      const count = ++state.since;
      if (atMs - state.alertedMs < quietMs) return null;
      Object.assign(state, { alertedMs: atMs, since: 0 });
      await onAlert({ tool: tool?.name ?? null, signature, count, session: sessionId });
      return null;
    },
  });
}
