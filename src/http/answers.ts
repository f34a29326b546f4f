/**
 * The JSON of the API, spelled once. Routes are checked against these types, the console reads its answers with them, and
 * `npm run generate` turns them into the schemas of /openapi.json, doc comments included.
 *
 * @module
 */
import type { ApprovalEnd, ApprovalSource, ApprovalState } from "../core/approvals/types.ts";
import type { TrailPage } from "../core/audit/read_trail.ts";
import type { TrailVerdict } from "../core/audit/verify_trail.ts";
import type { Knob, Manifest } from "../core/manifest/manifest.ts";
import type { QuarantinedTool } from "../core/pins/tool_diff.ts";
import type { StorageReport } from "../core/storage/catalogue.ts";
import type { TokenUsage } from "../events/types.ts";
import type { PluginLogEntry } from "../host/plugin_logs.ts";
import type { HostTool, ToolOutcome } from "../host/types.ts";
import type { CompactionView, HostPluginInfo, HostView, PluginView } from "../host/view_types.ts";
import type { Job } from "../jobs/types.ts";
import type { Ticket } from "./tickets.ts";
import type { ConsentRequest } from "../packages/install/consent_types.ts";

/** The JSON of each route, by method and path; a status other than 200 follows the path. */
export interface Answers {
  "GET /healthz": { readonly ok: true };
  "GET /openapi.json": { readonly openapi: string; readonly [field: string]: unknown };
  "GET /api/v1/host": HostInfo;
  "POST /api/v1/tickets": Ticket;
  "GET /api/v1/plugins": Paged & { readonly plugins: readonly Instance[] };
  "GET /api/v1/plugins/{name}": Plugin;
  "POST /api/v1/plugins/{name}/enable": Plugin;
  "POST /api/v1/plugins/{name}/disable": Plugin;
  "POST /api/v1/plugins/{name}/reload": Plugin;
  "POST /api/v1/plugins/{name}/reread": Plugin;
  "POST /api/v1/plugins/{name}/repin": Plugin;
  "POST /api/v1/plugins/{name}/restart": Plugin;
  "GET /api/v1/plugins/{name}/quarantine": Quarantine;
  "POST /api/v1/plugins/{name}/quarantine/approve": Quarantine;
  "GET /api/v1/plugins/{name}/storage": StorageReport;
  "GET /api/v1/plugins/{name}/logs": LogPage;
  "GET /api/v1/plugins/{name}/call/{method}": CallResult;
  "POST /api/v1/plugins/{name}/call/{method}": CallResult;
  "GET /api/v1/plugins/{name}/knobs": PluginKnobs;
  "PUT /api/v1/plugins/{name}/knobs/{knob}": PluginKnobs;
  "GET /api/v1/plugins/{name}/schemas": ConfigSchemas;
  "GET /api/v1/agents": Paged & { readonly agents: readonly Agent[] };
  "GET /api/v1/agents/{agent}": Agent;
  "GET /api/v1/agents/{agent}/compaction": AgentCompaction;
  "GET /api/v1/agents/{agent}/tools": Paged & { readonly tools: readonly AgentTool[] };
  "POST /api/v1/agents/{agent}/tools/{tool}": ToolOutcome;
  "POST /api/v1/agents/{agent}": RunResult;
  "POST /api/v1/agents/{agent} 202": { readonly jobId: string };
  "GET /api/v1/jobs": JobPage;
  "GET /api/v1/jobs/{id}": Job;
  "DELETE /api/v1/jobs/{id}": Success;
  "POST /api/v1/jobs/{id}/cancel": Success;
  "GET /api/v1/consents": Paged & { readonly consents: readonly Consent[] };
  "POST /api/v1/consents/{id}/approve": Consent;
  "POST /api/v1/consents/{id}/decline": Consent;
  "POST /api/v1/consents/{id}/ask-again": Consent;
  "GET /api/v1/approvals": ApprovalPage;
  "GET /api/v1/approvals/answers": Paged & { readonly answers: readonly StandingAnswer[] };
  "DELETE /api/v1/approvals/answers/{id}": Success;
  "GET /api/v1/approvals/{id}": Approval;
  "POST /api/v1/approvals/{id}/answer": Approval;
  "GET /api/v1/events": EventPage;
  "GET /api/v1/audit": TrailPage;
  "GET /api/v1/audit/verify": TrailVerdict;
}

/** Where a page of a list ends. */
export interface Paged {
  /** Goes into `cursor` to ask for the page that follows; null on the last one. */
  readonly next: string | null;
}

/** A failure that is part of a good answer, such as why a plugin is down. */
export interface Failure {
  /** Code of the error table. */
  readonly code: string;
  readonly message: string;
  /** The next step for the operator. */
  readonly hint?: string;
}

/** The host, its project and its open sessions. */
export interface HostInfo extends Pick<HostView, "project"> {
  readonly version: string;
  readonly sessions: { readonly count: number; readonly ids: readonly string[] };
}

/** One process of a plugin: a plugin has one for each agent, or one for all. */
export interface Instance extends Omit<HostPluginInfo, "error"> {
  /** Why it is down; `plugin.reload_failed` while it runs files that were to be replaced. */
  readonly error: Failure | null;
}

/** A plugin: its manifest, its capabilities in plain words, its processes and the agents that declare it. */
export interface Plugin
  extends
    Omit<PluginView, "manifest" | "uses" | "instances">,
    Pick<Manifest, "roles" | "hooks" | "methods" | "notifications" | "tools"> {
  /** Null, like the facts below, when its manifest cannot be read. */
  readonly version: string | null;
  readonly description: string | null;
  readonly author: string | null;
  readonly license: string | null;
  readonly homepage: string | null;
  /** Config values that the operator set are replaced by a mark. */
  readonly agents: PluginView["uses"];
  readonly instances: readonly Instance[];
}

/** The tools of a plugin that agents do not get until the operator approves them. */
export interface Quarantine {
  readonly plugin: string;
  readonly tools: readonly QuarantinedTool[];
}

/** The return value of a plugin's method; null where the plugin returned nothing. */
export interface CallResult {
  readonly result: unknown;
}

/** A knob of the manifest with its value for one agent. */
export interface TurnedKnob extends Knob {
  /** The agent's config value, else the default, else null. */
  readonly value: unknown;
}

/** The knobs of a plugin as one agent has them, by name. */
export interface AgentKnobs {
  /** Path of the agent, such as `primary`. */
  readonly agent: string;
  /** The key the agent declares the plugin under. */
  readonly key: string;
  readonly instance: string;
  readonly knobs: Readonly<Record<string, TurnedKnob>>;
}

/** The knobs of a plugin for each agent that declares it. */
export interface PluginKnobs {
  readonly plugin: string;
  readonly agents: readonly AgentKnobs[];
}

/** JSON Schemas of a plugin's config, never its values; null where the manifest has none. */
export interface ConfigSchemas {
  readonly plugin: string;
  /** For the values in project.yaml. */
  readonly project: Readonly<Record<string, unknown>> | null;
  /** For the values in the operator's local.toml. */
  readonly system: Readonly<Record<string, unknown>> | null;
}

/** A plugin as one agent has it. */
export interface AgentPlugin
  extends
    Pick<HostPluginInfo, "plugin" | "package" | "version" | "instance" | "isolation" | "state" | "hooks" | "tools"> {
  /** The key the agent declares the plugin under. */
  readonly key: string;
  /** Values that the operator set are replaced by a mark. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Why the agent cannot have it, or why it is down. */
  readonly error: Failure | null;
}

/** An agent with its plugins, in the order they are declared. */
export interface Agent {
  readonly path: string;
  /** Path of the agent above it, or null for the primary agent. */
  readonly parent: string | null;
  readonly plugins: readonly AgentPlugin[];
}

/** A tool that an agent may call. */
export interface AgentTool extends Pick<HostTool, "name" | "alias" | "description" | "plugin"> {
  /** JSON Schema of its arguments. */
  readonly parameters_schema: Readonly<Record<string, unknown>>;
}

/** The compaction settings of an agent, the plugins that take part, and its newest compactions. */
export interface AgentCompaction extends CompactionView {
  /** Path of the agent, such as `primary`. */
  readonly agent: string;
}

/** The outcome of a run that the client waited for. */
export interface RunResult {
  readonly result: string;
  readonly usage: TokenUsage;
  /** Full names of the tools that the run called. */
  readonly toolsUsed: readonly string[];
  readonly conversationId: string;
}

/** Jobs of a page, oldest first; the page that follows has older ones. */
export interface JobPage extends Paged {
  readonly jobs: readonly ListedJob[];
}

/** A job in a list: `resultAside` stands for its result. `fields=` chooses among the fields other than its id. */
export interface ListedJob extends Partial<Omit<Job, "id">>, Pick<Job, "id"> {}

/** The request was carried out. */
export interface Success {
  readonly success: true;
}

/** A plugin that the project declares and lacks, and how far its installation has come. */
export interface Consent extends Omit<ConsentRequest, "error"> {
  /** Why the last attempt failed. */
  readonly error: Failure | null;
}

/** A call of a tool that waits for a person, or has waited. Known secrets are masked in every text of it. */
export interface Approval {
  readonly id: string;
  /** ISO 8601. */
  readonly created_at: string;
  /** When nobody has answered by then, the call is denied. ISO 8601. */
  readonly expires_at: string;
  readonly project_id: string;
  readonly agent_path: string;
  /** Null for a request of the network, which belongs to no session. */
  readonly session_id: string | null;
  /** The background job that makes the call, or null. */
  readonly job_id: string | null;
  /** Full name of the tool; for the network, `connect`. */
  readonly tool: string;
  /** Plugin that offers the tool; null for a tool of the program's own loop. */
  readonly plugin: string | null;
  /** The arguments as they would be sent. */
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Whether parts of the arguments are left out for their size. One request by its id has up to 1 MiB of them. */
  readonly arguments_cut: boolean;
  /** The arguments as the caller gave them and the handlers that changed them; null when none did. */
  readonly changed: ChangedArguments | null;
  /** The first of those that ask. */
  readonly source: ApprovalSource;
  /** All that ask: an answer with a scope holds for each of them. */
  readonly sources: readonly ApprovalSource[];
  /** Why it is asked, in words of a rule or a handler; several are joined. */
  readonly reason: string;
  readonly state: ApprovalState;
  /** How it ended; null while it waits. */
  readonly end: ApprovalEnd | null;
}

/** Arguments that handlers have changed before a person was asked. */
export interface ChangedArguments {
  readonly before: Readonly<Record<string, unknown>>;
  /** Ids of the handlers. */
  readonly by: readonly string[];
}

/** Requests of a page, the newest first; big arguments are cut. */
export interface ApprovalPage extends Paged {
  readonly approvals: readonly Approval[];
}

/** An answer that holds for later calls, until it is revoked or its session ends. */
export interface StandingAnswer {
  readonly id: string;
  /** ISO 8601. */
  readonly created_at: string;
  readonly project_id: string;
  readonly agent_path: string;
  readonly tool: string;
  /** The plugin whose connections it is about; null for calls of tools. */
  readonly plugin: string | null;
  readonly source: ApprovalSource;
  readonly decision: "allow" | "deny";
  readonly reason: string | null;
  /** The session it holds for; null: for every one. */
  readonly session_id: string | null;
  readonly by: string | null;
}

/** One audit event or notification. */
export interface EventEntry {
  /** Goes into `Last-Event-ID` to go on after this entry. */
  readonly id: string;
  readonly kind: "audit" | "notification";
  readonly plugin: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** One line that a plugin wrote to stderr. */
export interface LogEntry extends Omit<EventEntry, "kind" | "data"> {
  readonly kind: "log";
  readonly data: PluginLogEntry;
}

/** Where a page of entries ends. */
export interface FeedPage {
  /** Goes into `Last-Event-ID` to go on after this page. */
  readonly last_event_id: string;
  /** Whether entries after the one the client named are no longer kept. */
  readonly missed: boolean;
}

/** The kept events, oldest first. */
export interface EventPage extends FeedPage {
  readonly entries: readonly EventEntry[];
}

/** Log lines of a plugin, oldest first; the page that follows has older ones. */
export interface LogPage extends FeedPage, Paged {
  readonly entries: readonly LogEntry[];
}
