/**
 * Every audit event, as one union. Fields that can hold what a plugin or a person wrote are bounded where the event is
 * made.
 *
 * @module
 */
import type { CompactionAudit } from "../compaction/types.ts";
import type { ApprovalAuditData } from "./approval_events.ts";
import type { McpAuditData } from "./mcp_events.ts";
import type { PinAuditData } from "./pin_events.ts";
import type { RestAuditData } from "./rest_events.ts";
import type { TrailAuditData } from "./trail_events.ts";

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

/** The files of a plugin as the operator agreed to them. */
export interface InstalledAudit {
  /** Folder or address they came from. */
  source: string;
  /** Hash of the whole tree, as in `local.toml`. */
  hash: string;
  /** Capabilities that the operator granted. */
  capabilities: string[];
  /** Capabilities that it asks for and the operator withheld. */
  withheld: string[];
}

/** One version of a plugin in the place of another. */
export interface VersionAudit {
  /** As in the manifest that was replaced. */
  old_version: string;
  /** As in the manifest that is in its place. */
  new_version: string;
  /** Capabilities that only one of the two asks for. */
  capability_diff: { added: string[]; removed: string[] };
}

/** Data of the events of a compaction, by type. */
export type CompactionAuditData = { [T in keyof CompactionAudit]: CompactionAudit[T] & AuditPlace };

/** Data of every event, by type. "It" is the plugin instance that the event is about. */
export interface AuditData
  extends CompactionAuditData, ApprovalAuditData, McpAuditData, PinAuditData, RestAuditData, TrailAuditData {
  /** Its process started; the handshake is still to come. */
  "plugin.spawned": { version: string; pid: number; cage_id: string };
  /** Its handshake is complete. */
  "plugin.initialized": { methods_count: number; capabilities_count: number };
  /** The host called one of its methods. */
  "plugin.method_called": { method: string } & Record<"operator_id" | "project_id" | "agent_path", string | null>;
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
  /** So many of its calls timed out in a row that it is started again, although it answers pings. */
  "plugin.stuck": { timeouts: number; last_method: string; timeout_ms: number };
  /** Its process ended unasked, with its last 50 lines of stderr. */
  "plugin.crashed": { exit_code: number | null; signal: string | null; reason: string; last_stderr: string[] };
  /** Its process ended unasked, with exit code 0. */
  "plugin.exited": { exit_code: number | null; last_stderr: string[] };
  /** Its process ended as it was asked to. */
  "plugin.stopped": { exit_code: number | null; signal: string | null };
  /** The host ended its process with SIGKILL. */
  "plugin.killed": { reason: string };
  /** Another process of it, ready already, took over; `duration_ms` from its start to then. */
  "plugin.reloaded": VersionAudit & { duration_ms: number };
  /** Its reload failed; the process that ran goes on. */
  "plugin.reload_failed": { error_code: string; error_message: string };
  /** It is not started again until an operator enables it. */
  "plugin.failed": { total_failures: number; error_code: string; error_message: string };
  /** An operator enabled it, which also forgets its failures. */
  "plugin.enabled": Record<never, never>;
  /** An operator, or its failures, disabled it. */
  "plugin.disabled": { reason: string };
  /** An operator installed it; `local` for every project. */
  "plugin.installed": InstalledAudit & { version: string; local: boolean };
  /** An operator installed another version in its place. */
  "plugin.upgraded": InstalledAudit & VersionAudit;
  /** A host found it in `node_modules`, new or with other files than at the start before; `source` is its folder. */
  "plugin.vouched": InstalledAudit & { version: string; old_version: string | null; old_hash: string | null };
  /** A version that an operator installed could not start where the one before ran: that one is back. */
  "plugin.upgrade_undone": { version: string; failed_version: string; error_code: string; error_message: string };
  /** An operator granted or withheld capabilities of it; the lists are those that hold from then on. */
  "plugin.grants_changed": { version: string; capabilities: string[]; withheld: string[] };
  /** An operator removed it from the home. */
  "plugin.uninstalled": { version: string };
  /** A project lacks it, or lacks a version that fits: an operator is asked. */
  "plugin.consent_requested": ConsentAudit & { source: string | null; agents: string[] };
  /** An operator consented: it serves the project, with these capabilities and without those withheld. */
  "plugin.consent_granted": ConsentAudit & { version: string; capabilities: string[]; withheld: string[] };
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
  /**
   * It was refused a host; emitted once a minute for each host and port. `port` is 0 where it named none. `source` is
   * absent for a connection that the gatekeeper refused; `lookup` says that the cage's resolver was asked for the name,
   * `error` that only the plugin's own error names the host.
   */
  "plugin.net_refused": { host: string; port: number; reason: string; source?: "lookup" | "error" };
  /** It sent the placeholder of a secret where that may not go; emitted once a minute for each. `name` is its key. */
  "plugin.secret_misused": { name: string; host: string; port: number; reason: string };
  /** A limit of the operator left out one of its requests, once a minute for each; `path` is without its query. */
  "plugin.net_request_refused": { host: string; port: number; method: string; path: string; reason: string };
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
  /** Text that it returned is for the model's context; `compaction.completed` names text that a window had no room for. */
  "plugin.hook.injected": AuditPlace & {
    hook: string;
    /** Bytes of the text that it returned. */
    returned_bytes: number;
    /** Bytes of it that are used. */
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
  /** A rule or a person said no to a call of its tool; `by` is the rule, or the front end of the person. */
  "plugin.tool_denied": { tool: string; by: string; reason: string } & AuditPlace;
  /** Its tool was called, and a rule would have asked for it, did it not only watch. */
  "plugin.tool_watched": { tool: string; by: string; read_only: boolean; destructive: boolean } & AuditPlace;
  /**
   * An MCP server was asked, in a process of its own, how it wants to be greeted: in the revision `protocol`, or by
   * `initialize`, because of the failure `reason`.
   */
  "plugin.mcp_probed": { protocol: string | null; reason: string | null; duration_ms: number };
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
  /** One side of its config does not fit its schema. Values are never in it; lines are those of the side's file. */
  "plugin.config_validation_failed": {
    side: "project" | "system";
    agent_path: string;
    errors: { path: string; message: string; line?: number; column?: number }[];
  };
  /** An agent declares it, or the operator enabled it for all (`agent_path` is empty then), and it cannot run so. */
  "plugin.refused": { error_code: string; error_message: string; agent_path: string };
  /** A setting of it was turned. */
  "plugin.knob_write": { knob: string; agent_path: string };
  /** More events of one type than a minute takes: the first ones were recorded, these were counted. */
  "plugin.repeated": { event: string; count: number; since: string };
  /** It sent so many lines that are no messages that the host ended it. */
  "plugin.flood": { lines: number; seconds: number };
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

/** The files that events go to: evidence, chained and kept by time, or chatter, rotated by size. */
export type Trail = "audit" | "calls";

/** The trail of each event. Calls and what a plugin prints can come at any rate: they must not push evidence out. */
export const TRAIL_OF: Readonly<Record<AuditType, Trail>> = {
  "compaction.triggered": "audit",
  "compactor_dropped_always_keep": "audit",
  "compaction.failed": "audit",
  "compaction.completed": "audit",
  "plugin.spawned": "audit",
  "plugin.initialized": "audit",
  "plugin.resting": "audit",
  "plugin.woken": "audit",
  "plugin.method_called": "calls",
  "plugin.method_returned": "calls",
  "plugin.method_unavailable": "audit",
  "plugin.notification": "calls",
  "plugin.notification_flood": "audit",
  "plugin.stdout_noise": "calls",
  "plugin.health_fail": "audit",
  "plugin.crashed": "audit",
  "plugin.exited": "audit",
  "plugin.stopped": "audit",
  "plugin.killed": "audit",
  "plugin.reloaded": "audit",
  "plugin.reload_failed": "audit",
  "plugin.failed": "audit",
  "plugin.enabled": "audit",
  "plugin.disabled": "audit",
  "plugin.installed": "audit",
  "plugin.upgraded": "audit",
  "plugin.uninstalled": "audit",
  "plugin.vouched": "audit",
  "plugin.upgrade_undone": "audit",
  "plugin.grants_changed": "audit",
  "plugin.refused": "audit",
  "plugin.stuck": "audit",
  "plugin.consent_requested": "audit",
  "plugin.consent_granted": "audit",
  "plugin.consent_declined": "audit",
  "plugin.storage_dropped": "audit",
  "plugin.protocol_violation": "audit",
  "plugin.initialize_timeout": "audit",
  "plugin.api_mismatch": "audit",
  "plugin.name_mismatch": "audit",
  "plugin.version_mismatch": "audit",
  "plugin.capability_overreach": "audit",
  "plugin.net_opened": "audit",
  "plugin.net_refused": "audit",
  "plugin.secret_misused": "audit",
  "plugin.net_request_refused": "audit",
  "plugin.storage_denied": "audit",
  "plugin.config_rejected": "audit",
  "plugin.hook.fired": "calls",
  "plugin.hook.returned": "calls",
  "plugin.hook.timeout": "audit",
  "plugin.hook.failed": "audit",
  "plugin.hook.injected": "audit",
  "plugin.hook.illegal": "audit",
  "plugin.tool_registered": "audit",
  "plugin.tool_blocked": "audit",
  "plugin.tool_denied": "audit",
  "plugin.tool_watched": "audit",
  "approval.requested": "audit",
  "approval.answered": "audit",
  "approval.expired": "audit",
  "approval.withdrawn": "audit",
  "rules.changed": "audit",
  "plugin.mcp_probed": "audit",
  "plugin.tools_listed": "audit",
  "plugin.resource_read": "calls",
  "plugin.prompt_used": "calls",
  "plugin.mcp_failed": "audit",
  "plugin.mcp_request": "audit",
  "plugin.tools_pinned": "audit",
  "plugin.tool_quarantined": "audit",
  "plugin.tool_missing": "audit",
  "plugin.tool_approved": "audit",
  "plugin.tool_name_collision": "audit",
  "plugin.role_violation": "audit",
  "plugin.config_validation_failed": "audit",
  "plugin.knob_write": "audit",
  "plugin.repeated": "audit",
  "plugin.flood": "audit",
  "audit.lost": "audit",
  "audit.mended": "audit",
  "audit.gap": "audit",
  "audit.set_aside": "audit",
  "audit.expired": "audit",
};

/** A destination of audit events. A sink never throws: it counts the events that it cannot store. */
export interface AuditSink {
  /** Called with every event, in order. */
  write(event: AuditEvent): void;
  /** Takes an event of a call that is a line already, in the order of the others. Absent: it needs events. */
  writeCallLine?(line: string): void;
  /** Resolves when every event so far is stored. */
  flush?(): Promise<void>;
  /** Calls `listener` with events that the sink itself makes and stores, such as `audit.mended`. */
  hear?(listener: (event: AuditEvent) => void): void;
}
