/**
 * Every audit event, as one union. Fields that can hold what a plugin or a person wrote are bounded where the event is
 * made.
 *
 * @module
 */
import type { CompactionAudit } from "../compaction/types.ts";

/** The agent and the session an event is about. */
export interface AuditPlace {
  /** Path of the agent, such as `primary.subagents.researcher`. */
  agent_path: string;
  /** Session in which it happened. */
  session_id: string;
}

/** The request for consent an event is about. */
export interface ConsentAudit {
  /** Id of the request, as in `host.consents()`. */
  consent_id: string;
  /** Package that the project declares. */
  package: string;
  /** Id of the project that lacks the package. */
  project_id: string;
}

/** Data of the events of a compaction, by type. */
export type CompactionAuditData = { [T in keyof CompactionAudit]: CompactionAudit[T] & AuditPlace };

/** Data of every event, by type. "It" is the plugin instance that the event is about. */
export interface AuditData extends CompactionAuditData {
  /** Its process started; the handshake is still to come. */
  "plugin.spawned": { version: string; pid: number; cage_id: string };
  /** Its handshake is complete. */
  "plugin.initialized": { methods_count: number; capabilities_count: number };
  /** The host called one of its methods. */
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
  /** It sent a notification; the params are not recorded. */
  "plugin.notification": { notification_type: string };
  /** It sent more notifications than it may; the rest of that second is dropped. */
  "plugin.notification_flood": { rate: number };
  /** It wrote a line to stdout that is no JSON; the line is cut to 200 characters. */
  "plugin.stdout_noise": { line: string };
  /** It did not answer a ping in time. */
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
  "plugin.reloaded": AuditData["plugin.upgraded"] & { duration_ms: number };
  /** Its reload failed; the process that ran goes on. */
  "plugin.reload_failed": { error_code: string; error_message: string };
  /** It is not started again until an operator enables it. */
  "plugin.failed": { total_failures: number; error_code: string; error_message: string };
  /** An operator enabled it, which also forgets its failures. */
  "plugin.enabled": Record<never, never>;
  /** An operator, or its failures, disabled it. */
  "plugin.disabled": { reason: string };
  /** An operator installed it; `local` for every project. */
  "plugin.installed": { version: string; source: string; local: boolean };
  /** An operator installed another version in its place. */
  "plugin.upgraded": {
    old_version: string;
    new_version: string;
    capability_diff: { added: string[]; removed: string[] };
  };
  /** An operator removed it from the home. */
  "plugin.uninstalled": { version: string };
  /** A project lacks it, or lacks a version that fits: an operator is asked. */
  "plugin.consent_requested": ConsentAudit & { source: string | null; agents: string[] };
  /** An operator consented: it serves the project, with these capabilities. */
  "plugin.consent_granted": ConsentAudit & { version: string; capabilities: string[] };
  /** An operator declined; the project stays without it. */
  "plugin.consent_declined": ConsentAudit;
  /** Its tables were dropped with its uninstallation. */
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
  /** It connected to a host; emitted once a minute for each host and port. */
  "plugin.net_opened": { host: string; port: number };
  /** It was refused a host; emitted once a minute for each host and port. `port` is 0 where it named none. */
  "plugin.net_refused": { host: string; port: number; reason: string };
  /** It sent the placeholder of a secret where that may not go; emitted once a minute for each. `name` is its key. */
  "plugin.secret_misused": { name: string; host: string; port: number; reason: string };
  /** A limit of the operator left out one of its requests, once a minute for each; `path` is without its query. */
  "plugin.request_refused": { host: string; port: number; method: string; path: string; reason: string };
  /** It asked for storage that is not its own; the SQL is cut down to its shape. */
  "plugin.storage_denied": { sql: string; reason: string };
  /** It refused its config, or has no use for it. */
  "plugin.config_rejected": { error_code: number; error_message: string };
  /** One of its hooks was fired. */
  "plugin.hook.fired": AuditPlace & { hook: string };
  /** It answered a hook in time. */
  "plugin.hook.returned": { hook: string; duration_ms: number; has_result: boolean };
  /** It did not answer a hook in time, or was busy with others for as long; the agent goes on without it. */
  "plugin.hook.timeout": { hook: string; agent_path: string; timeout_sec: number };
  /** It answered a hook with an error or with nonsense, or could not be asked; the agent goes on without it. */
  "plugin.hook.failed": {
    hook: string;
    agent_path: string;
    error_code: number;
    error_message: string;
    /** Code of the error table; `error_code` is the number on the wire. */
    reason: string;
  };
  /** Text that it returned was added to the model's context. */
  "plugin.hook.injected": AuditPlace & {
    hook: string;
    /** Bytes of the text that it returned. */
    returned_bytes: number;
    /** Bytes of it that the model got. */
    bytes: number;
    sha256: string;
    cut: boolean;
    /** Number of tags that were escaped. */
    escaped_tags: number;
  };
  /** A subagent lists a hook that fires for the primary agent only. */
  "plugin.hook.illegal": { hook: string; agent_path: string };
  /** One of its tools is available to an agent. */
  "plugin.tool_registered": { tool: string; agent_path: string };
  /** A hook blocked a call of its tool: before it was made, or its output. `by` is the id of the handler. */
  "plugin.tool_blocked": { tool: string; hook: string; by: string; reason: string } & AuditPlace;
  /** An MCP server listed its tools; what differs from the list before, each part cut to 50 names. */
  "plugin.tools_listed": {
    count: number;
    added: string[];
    removed: string[];
    changed: string[];
    /** Tools that no agent gets, with the reason. */
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

/** Type of an audit event, such as `plugin.crashed`. */
export type AuditType = keyof AuditData;

/** Fields of every audit event. */
export interface AuditBase {
  /** ISO 8601, in milliseconds. */
  readonly timestamp: string;
  /** Name of the plugin; `host` for events of the host itself. */
  readonly name: string;
  /** Instance id; the project's id for events of the host itself. */
  readonly instance: string;
  /** The request this event belongs to, or null. */
  readonly request_id: string | null;
}

/** One audit event; `type` narrows `data`. */
export type AuditEvent = {
  [T in AuditType]: AuditBase & { readonly type: T; readonly data: Readonly<AuditData[T]> };
}[AuditType];

/** A destination of audit events. A sink never throws: it counts the events that it cannot store. */
export interface AuditSink {
  /** Called with every event, in order. */
  write(event: AuditEvent): void;
  /** Resolves when every event so far is stored. */
  flush?(): Promise<void>;
}
