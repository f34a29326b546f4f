/**
 * Every audit event, as one union. Fields that can hold what a plugin or a person wrote are bounded where the event is
 * made.
 *
 * @module
 */

/** What each event carries, by type. */
export interface AuditData {
  "plugin.spawned": { version: string; pid: number; cage_id: string };
  "plugin.initialized": { methods_count: number; capabilities_count: number };
  "plugin.method_called": {
    method: string;
    operator_id: string | null;
    project_id: string | null;
    agent_path: string | null;
  };
  "plugin.method_returned": { method: string; duration_ms: number; success: boolean };
  "plugin.method_unavailable": { missing: string[]; undeclared: string[] };
  "plugin.notification": { notification_type: string };
  "plugin.notification_flood": { rate: number };
  "plugin.stdout_noise": { line: string };
  "plugin.health_fail": { consecutive_failures: number; error: string };
  "plugin.crashed": { exit_code: number | null; signal: string | null; reason: string; last_stderr: string[] };
  "plugin.exited": { exit_code: number | null; last_stderr: string[] };
  "plugin.stopped": { exit_code: number | null; signal: string | null };
  "plugin.killed": { reason: string };
  "plugin.failed": { total_failures: number; error_code: string; error_message: string };
  "plugin.enabled": Record<never, never>;
  "plugin.disabled": { reason: string };
  "plugin.protocol_violation": { violation_type: string; detail: string };
  "plugin.initialize_timeout": { timeout_ms: number };
  "plugin.api_mismatch": { plugin_api_version: unknown; host_api_version: number };
  "plugin.name_mismatch": { claimed: unknown; expected: string };
  "plugin.version_mismatch": { claimed: unknown; expected: string };
  "plugin.capability_overreach": { claimed: string[]; allowed: string[] };
  "plugin.storage_denied": { sql: string; reason: string };
  "plugin.config_rejected": { error_code: number; error_message: string };
}

/** Type of an audit event. */
export type AuditType = keyof AuditData;

/** What every audit event carries. */
export interface AuditBase {
  /** When, ISO 8601. */
  readonly timestamp: string;
  /** The plugin's name. */
  readonly name: string;
  /** Which instance of it. */
  readonly instance: string;
  /** The request this event belongs to, or null. */
  readonly request_id: string | null;
}

/** One audit event. */
export type AuditEvent = {
  [T in AuditType]: AuditBase & { readonly type: T; readonly data: Readonly<AuditData[T]> };
}[AuditType];

/** Where audit events go. A sink never throws: what it cannot keep it counts. */
export interface AuditSink {
  /** Takes one event. */
  write(event: AuditEvent): void;
  /** Resolves when everything taken so far is kept. */
  flush?(): Promise<void>;
}
