/**
 * The host as the operator's side reads it: the HTTP API, the console and the command.
 *
 * @module
 */
import type { DeskFigures } from "../core/approvals/desk_types.ts";
import type { TrailPage, TrailQuery } from "../core/audit/read_trail.ts";
import type { TrailVerdict } from "../core/audit/verify_trail.ts";
import type { QuarantinedTool } from "../core/pins/tool_diff.ts";
import type { StorageReport } from "../core/storage/catalogue.ts";
import type { CapabilityDescription } from "../packages/consent/describe_capability.ts";
import type { HostError } from "../core/errors/host_error.ts";
import type { Feed } from "../core/values/feed.ts";
import type { JobsClient } from "../jobs/jobs.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import type { CompactionSettings, Isolation } from "../core/project/types.ts";
import type { PluginCage, PluginInfo, PluginStatus } from "../core/supervisor/types.ts";
import type { CompactionRecord } from "./compaction_log.ts";

/** A plugin instance: one process, or the place for one. */
export interface HostPluginInfo {
  /** The key its first agent declares it under, or null where no agent does. */
  readonly key: string | null;
  /** The name in its manifest; while that cannot be read, the last segment of its package, else its key. */
  readonly plugin: string;
  /** Package, such as `@kaged/memory-markdown`; null for a refused declaration that names none. */
  readonly package: string | null;
  /** The version that runs; while none does, the version of its files; null while these cannot be read. */
  readonly version: string | null;
  /** Unique in the host: `<plugin>`, `<plugin>@<project>` or `<plugin>@<project>/<agent>`. */
  readonly instance: string;
  /** Agents that declare it; none for a plugin of the operator's that no agent declares. */
  readonly agents: readonly string[];
  /** `stopped` before the host starts; `refused` for a plugin that the host does not run as it is declared. */
  readonly state: PluginStatus | "refused";
  /** `agent` when each agent has a process of its own. */
  readonly isolation: Isolation;
  /** Names of the hooks it is called for. */
  readonly hooks: readonly string[];
  /** Full names of its tools, without those that the project switched off. */
  readonly tools: readonly string[];
  /** Full names of tools that an MCP server lists otherwise than the operator agreed to: agents do not get them. */
  readonly quarantined: readonly string[];
  /** Methods that can be called; none while it is down. */
  readonly methods: readonly string[];
  /** The cage of its process, with the limits and the tier that enforces them; null without a process. */
  readonly cage: PluginCage | null;
  /** Starts after the first one. */
  readonly restarts: number;
  /** Connections of its process that the gatekeeper refused, each with how often: at most 100, the newest last. */
  readonly net_refused: PluginInfo["net_refused"];
  /**
   * Why it is down. A plugin that runs has an error only after a failed reload: `plugin.reload_failed` says that its old
   * process goes on.
   */
  readonly error: HostError | null;
}

/** A plugin as one agent has it. */
export interface PluginUse {
  /** Path of the agent, such as `primary.subagents.researcher`. */
  readonly agent: string;
  /** The key the agent declares it under. */
  readonly key: string;
  /** Id of the instance that serves the agent. */
  readonly instance: string;
  /** Its config; values that the operator set are replaced by a mark. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** A plugin with its manifest, its instances and the agents that declare it. */
export interface PluginView extends Pick<HostPluginInfo, "plugin" | "package"> {
  /** Absolute path of its folder; null for a refused plugin whose files were not found. */
  readonly dir: string | null;
  /** The manifest that its process runs with; while none runs, the one on disk; null when that cannot be read. */
  readonly manifest: Manifest | null;
  /** Its capabilities in plain words. */
  readonly capabilities: readonly CapabilityDescription[];
  /** Capabilities that it asks for and the operator withheld, in plain words as if it had them. */
  readonly withheld: readonly CapabilityDescription[];
  /** For each value that the operator is asked for, whether the plugin sees it, in plain words; never the value. */
  readonly secrets: readonly string[];
  /** One for each agent, or one for all agents. */
  readonly instances: readonly HostPluginInfo[];
  /** One entry for each agent that declares it. */
  readonly uses: readonly PluginUse[];
}

/** The compaction settings of an agent, the plugins that take part, and its newest compactions. */
export interface CompactionView extends CompactionSettings {
  /** The plugin that compacts, or null when the strategy does. */
  readonly compactor: string | null;
  /** Why the delegate cannot compact; null when it can, or when there is none. */
  readonly delegate_fault: string | null;
  /** Plugins with a `pre_compact` or `post_compact` hook, which may ask for text to be kept. */
  readonly observers: readonly string[];
  /** At most 20, newest first. */
  readonly recent: readonly CompactionRecord[];
}

/** Reads the state of a host; changes nothing. */
export interface HostView {
  /** Id and folder of the project. */
  readonly project: { readonly id: string; readonly dir: string };
  /** The operator's folder, absolute. */
  readonly home: string;
  /** Does work for a client's request: what it causes is audited under that id, and plugins see the operator. */
  serve<T>(
    caller: { readonly requestId: string; readonly operatorId: string | null },
    work: () => Promise<T>,
  ): Promise<T>;
  /** The clock that the host itself runs on. */
  readonly clock: Clock;
  /** The host's own source of ids. */
  readonly ids: Ids;
  /** Returns a JSON value with the operator's secrets replaced by `[secret:<field>]`, for people to read. */
  hide<T>(value: T): T;
  /** Returns a plugin of the project by the name in its manifest. Throws `plugin.unknown`. */
  plugin(name: string): PluginView;
  /** Ids of the open sessions. */
  sessions(): string[];
  /** Background jobs, or null while the program has registered no agent. */
  jobs(): JobsClient | null;
  /** Figures of the requests for a person's yes, since the host was made. */
  approvals(): DeskFigures;
  /** Returns how the window of an agent is compacted. Throws `agent.unknown`. */
  compaction(agent: string): CompactionView;
  /** Tools of an installed MCP server that are not as the operator agreed to, with the difference. Throws `plugin.unknown`. */
  quarantined(plugin: string): QuarantinedTool[];
  /** Measures the tables of a plugin. Rejects with `plugin.unknown`. */
  storage(plugin: string): Promise<StorageReport>;
  /**
   * Reads stored audit events, the newest first: of the project, or of the operator's commands. Nothing is stored where
   * the embedder gave sinks of its own. Rejects with `audit.invalid_query`.
   */
  audit(of: "project" | "operator", query: TrailQuery): Promise<TrailPage>;
  /** Checks the chain of an audit trail. */
  verifyAudit(of: "project" | "operator"): Promise<TrailVerdict>;
  /** The newest lines that a plugin wrote to stderr. Throws `plugin.unknown`. */
  logs(plugin: string): Feed;
}
