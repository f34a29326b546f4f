/**
 * Calls of a plugin, told in the audit when anyone listens.
 *
 * @module
 */
import type { Audit, AuditSubject } from "../audit/audit.ts";
import type { Clock } from "../ports/ports.ts";
import type { PluginCallContext } from "./types.ts";

const HOOK_PREFIX = "kaged.hook.";

/** Whether a call is told. Hooks have audit events of their own, made by who fires them. */
export function isTold(method: string, audit: Audit): boolean {
  return audit.active && !method.startsWith(HOOK_PREFIX);
}

/** Makes a call and tells of its start and its end. */
export function auditedCall(
  call: () => Promise<unknown>,
  { method, context }: { readonly method: string; readonly context: PluginCallContext },
  { audit, subject, clock }: { readonly audit: Audit; readonly subject: AuditSubject; readonly clock: Clock },
): Promise<unknown> {
  const { request_id, operator_id, project_id, agent_path } = context;
  const startedMs = clock.monotonic();
  const returned = (success: boolean) => {
    const duration_ms = Math.round((clock.monotonic() - startedMs) * 1000) / 1000;
    audit.emit("plugin.method_returned", subject, { method, duration_ms, success }, request_id);
  };
  audit.emit("plugin.method_called", subject, { method, operator_id, project_id, agent_path }, request_id);
  return call().then((result) => {
    returned(true);
    return result;
  }, (error) => {
    returned(false);
    throw error;
  });
}
