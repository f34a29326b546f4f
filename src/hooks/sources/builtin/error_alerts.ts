/**
 * Built-in: one alert for one failure. The same failure again, soon after, is counted and not told.
 *
 * @module
 */
import type { HookRegistration } from "../../engine/types.ts";
import { builtin, type BuiltinOptions } from "./builtin_options.ts";
import { errorSignature } from "./error_signature.ts";

/** A failure worth telling. */
export interface ErrorAlert {
  /** The tool, or null. */
  readonly tool: string | null;
  /** The error without what changes. */
  readonly signature: string;
  /** How often it happened since the alert before. */
  readonly count: number;
  /** The session. */
  readonly sessionId: string;
}

/** Who is told, and how often. */
export interface ErrorAlertsOptions extends BuiltinOptions {
  /** Hears of it; what it throws is a failure of the handler. */
  readonly onAlert: (alert: ErrorAlert) => void | Promise<void>;
  /** For how long the same failure is not told again. Default 60 000. */
  readonly quietMs?: number;
}

const MAX_SIGNATURES = 1_000;

/** Returns the handler: `OnError`, priority 60. */
export function errorAlerts({ onAlert, quietMs = 60_000, ...options }: ErrorAlertsOptions): HookRegistration[] {
  const told = new Map<string, { atMs: number; since: number }>();
  return builtin("error-alerts", { priority: 60 }, options, {
    async OnError({ error, tool, sessionId, timestamp }) {
      const signature = errorSignature(error?.message ?? "");
      const key = `${tool?.name}\n${signature}`;
      const atMs = Date.parse(timestamp);
      const last = told.get(key);
      if (last && atMs - last.atMs < quietMs) {
        last.since++;
        return null;
      }
      told.delete(key);
      told.set(key, { atMs, since: 0 });
      if (told.size > MAX_SIGNATURES) told.delete(told.keys().next().value!);
      await onAlert({ tool: tool?.name ?? null, signature, count: (last?.since ?? 0) + 1, sessionId });
      return null;
    },
  });
}
