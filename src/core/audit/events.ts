/**
 * Every audit event, as one union. Fields that can hold what a plugin or a person wrote are bounded where the event is
 * made.
 *
 * @module
 */

/** What each event carries, by type. */
export interface AuditData {
  /** Its process was started. */
  "plugin.spawned": { version: string; pid: number; cage_id: string };
  /** Its handshake is complete. */
  "plugin.initialized": { methods_count: number; capabilities_count: number };
  /** The host called it. */
  "plugin.method_called": {
    method: string;
    operator_id: string | null;
    project_id: string | null;
    agent_path: string | null;
  };
  /** A call of the host ended. */
  "plugin.method_returned": { method: string; duration_ms: number; success: boolean };
  /** Manifest and process name different methods. */
  "plugin.method_unavailable": { missing: string[]; undeclared: string[] };
  /** It sent a notification. */
  "plugin.notification": { notification_type: string };
  /** It sent more notifications than it may; the rest of that second is dropped. */
  "plugin.notification_flood": { rate: number };
  /** It wrote a line to stdout that is no JSON; the line is cut to 200 characters. */
  "plugin.stdout_noise": { line: string };
  /** It missed a ping. */
  "plugin.health_fail": { consecutive_failures: number; error: string };
  /** Its process ended unasked, with its last 50 lines of stderr. */
  "plugin.crashed": { exit_code: number | null; signal: string | null; reason: string; last_stderr: string[] };
  /** Its process ended unasked, with exit code 0. */
  "plugin.exited": { exit_code: number | null; last_stderr: string[] };
  /** Its process ended as it was asked to. */
  "plugin.stopped": { exit_code: number | null; signal: string | null };
  /** The host ended its process with SIGKILL. */
  "plugin.killed": { reason: string };
  /** It is not started again until an operator enables it. */
  "plugin.failed": { total_failures: number; error_code: string; error_message: string };
  /** An operator enabled it. */
  "plugin.enabled": Record<never, never>;
  /** An operator, or its failures, disabled it. */
  "plugin.disabled": { reason: string };
  /** It broke a rule of the wire. */
  "plugin.protocol_violation": { violation_type: string; detail: string };
  /** It did not answer `initialize` in time. */
  "plugin.initialize_timeout": { timeout_ms: number };
  /** It speaks another API version. */
  "plugin.api_mismatch": { plugin_api_version: unknown; host_api_version: number };
  /** It calls itself by another name than its manifest does. */
  "plugin.name_mismatch": { claimed: unknown; expected: string };
  /** It claims another version than its manifest does. */
  "plugin.version_mismatch": { claimed: unknown; expected: string };
  /** It claims capabilities its manifest does not have. */
  "plugin.capability_overreach": { claimed: string[]; allowed: string[] };
  /** It connected to a host, told once a minute for each host and port. */
  "plugin.net_opened": { host: string; port: number };
  /** It was not let to a host, told once a minute for each host and port; `port` is 0 where it named none. */
  "plugin.net_refused": { host: string; port: number; reason: string };
  /** It asked for storage that is not its own; the SQL is cut down to its shape. */
  "plugin.storage_denied": { sql: string; reason: string };
  /** It refused its config, or has no use for it. */
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
