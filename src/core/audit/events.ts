/**
 * Every audit event, as one union. Fields that can hold what a plugin or a person wrote are bounded where the event is
 * made.
 *
 * @module
 */
import type { CompactionAudit } from "../compaction/types.ts";

/** The agent and the session an event is about. */
export interface AuditPlace {
  /** Agent path. */
  agent_path: string;
  /** Session id. */
  session_id: string;
}

/** The request for consent an event is about. */
export interface ConsentAudit {
  /** Id of the request. */
  consent_id: string;
  /** Package the project declares. */
  package: string;
  /** The project. */
  project_id: string;
}

/** What each event of a compaction carries, by type. */
export type CompactionAuditData = { [T in keyof CompactionAudit]: CompactionAudit[T] & AuditPlace };

/** What each event carries, by type. */
export interface AuditData extends CompactionAuditData {
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
  /** Another process of it, ready already, took over; `duration_ms` from its start to then. */
  "plugin.reloaded": {
    old_version: string;
    new_version: string;
    capability_diff: { added: string[]; removed: string[] };
    duration_ms: number;
  };
  /** It was to be reloaded and could not be; what ran goes on. */
  "plugin.reload_failed": { error_code: string; error_message: string };
  /** It is not started again until an operator enables it. */
  "plugin.failed": { total_failures: number; error_code: string; error_message: string };
  /** An operator enabled it. */
  "plugin.enabled": Record<never, never>;
  /** An operator, or its failures, disabled it. */
  "plugin.disabled": { reason: string };
  /** An operator installed it; `local` for every project. */
  "plugin.installed": { version: string; source: string; local: boolean };
  /** An operator put another version in its place. */
  "plugin.upgraded": {
    old_version: string;
    new_version: string;
    capability_diff: { added: string[]; removed: string[] };
  };
  /** An operator took it away. */
  "plugin.uninstalled": { version: string };
  /** A project lacks it, or a version of it that fits: an operator is asked. */
  "plugin.consent_requested": ConsentAudit & { source: string | null; agents: string[] };
  /** An operator said yes: it serves the project, with these capabilities. */
  "plugin.consent_granted": ConsentAudit & { version: string; capabilities: string[] };
  /** An operator said no. */
  "plugin.consent_declined": ConsentAudit;
  /** What it kept was dropped with it. */
  "plugin.storage_dropped": { tables: string[] };
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
  /** One of its hooks was fired. */
  "plugin.hook.fired": { hook: string; agent_path: string; session_id: string };
  /** It answered a hook. */
  "plugin.hook.returned": { hook: string; duration_ms: number; has_result: boolean };
  /** It did not answer a hook in time, or was busy with others for as long; the agent goes on without it. */
  "plugin.hook.timeout": { hook: string; agent_path: string; timeout_sec: number };
  /** It answered a hook with an error or with nonsense, or could not be asked; the agent goes on without it. */
  "plugin.hook.failed": {
    hook: string;
    agent_path: string;
    error_code: number;
    error_message: string;
    /** Code of the error table. */
    reason: string;
  };
  /** Text of it was put before the model. */
  "plugin.hook.injected": {
    hook: string;
    agent_path: string;
    session_id: string;
    /** Bytes it returned. */
    returned_bytes: number;
    /** Bytes of it that were used. */
    bytes: number;
    sha256: string;
    cut: boolean;
    /** How many tags in it were made harmless. */
    escaped_tags: number;
  };
  /** A subagent lists a hook that fires for the primary agent only. */
  "plugin.hook.illegal": { hook: string; agent_path: string };
  /** A tool of it is in an agent's set. */
  "plugin.tool_registered": { tool: string; agent_path: string };
  /** An MCP server listed its tools; what differs from the list before, each part cut to 50 names. */
  "plugin.tools_listed": {
    count: number;
    added: string[];
    removed: string[];
    changed: string[];
    /** Tools no agent gets, and why. */
    left_out: { tool: string; reason: string }[];
  };
  /** Two plugins have one tool; the second is refused. */
  "plugin.tool_name_collision": { first: string; second: string; tool: string };
  /** Two plugins of one agent are compactors; the second is refused. */
  "plugin.role_violation": { first: string; second: string; agent_path: string };
  /** One side of its config does not fit its schema. Values are never in it. */
  "plugin.config_validation_failed": {
    side: "project" | "system";
    agent_path: string;
    errors: { path: string; message: string }[];
  };
  /** A setting of it was turned. */
  "plugin.knob_write": { knob: string; agent_path: string };
}

/** Type of an audit event. */
export type AuditType = keyof AuditData;

/** What every audit event carries. */
export interface AuditBase {
  /** When, ISO 8601. */
  readonly timestamp: string;
  /** The plugin's name; `host` for what the host does itself. */
  readonly name: string;
  /** Which instance of it; the project's id for what the host does itself. */
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
