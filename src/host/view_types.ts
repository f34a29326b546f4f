/**
 * What the operator's side reads of a host: the HTTP API, the console and the command.
 *
 * @module
 */
import type { CapabilityDescription } from "../packages/consent/describe_capability.ts";
import type { HostError } from "../core/errors/host_error.ts";
import type { Feed } from "../core/values/feed.ts";
import type { JobsClient } from "../jobs/jobs.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import type { CompactionSettings, Isolation } from "../core/project/types.ts";
import type { StorageReport } from "../core/storage/maintenance.ts";
import type { PluginCage, PluginStatus } from "../core/supervisor/types.ts";
import type { CompactionRecord } from "./compaction_log.ts";

/** What is known of a plugin instance. */
export interface HostPluginInfo {
  /** The key it is declared under, or null for one no agent declares. */
  readonly key: string | null;
  /** The plugin's own name. */
  readonly plugin: string;
  /** Package. */
  readonly package: string;
  /** Version. */
  readonly version: string;
  /** Instance id. */
  readonly instance: string;
  /** Where it is in its life. */
  readonly state: PluginStatus;
  /** For each agent, or shared. */
  readonly isolation: Isolation;
  /** Hooks that fire. */
  readonly hooks: readonly string[];
  /** Full names of its tools that are on. */
  readonly tools: readonly string[];
  /** The cage of its process while there is one: its id, its limits and who sees to them. */
  readonly cage: PluginCage | null;
  /** Starts after the first. */
  readonly restarts: number;
  /** Why it is down, when it is; `plugin.reload_failed` when it runs and was not to. */
  readonly error: HostError | null;
}

/** An instance of a plugin, with what serves it. */
export interface InstanceView extends HostPluginInfo {
  /** Agents it serves; none for a plugin of the operator's that no agent declares. */
  readonly agents: readonly string[];
  /** Methods that can be called, while it runs. */
  readonly methods: readonly string[];
}

/** A plugin as one agent has it. */
export interface PluginUse {
  /** Agent path. */
  readonly agent: string;
  /** The key it is declared under. */
  readonly key: string;
  /** Instance that serves the agent. */
  readonly instance: string;
  /** Its config, with what the operator set replaced by a mark. */
  readonly config: Readonly<Record<string, unknown>>;
}

/** A plugin, whole. */
export interface PluginView {
  /** Its own name. */
  readonly plugin: string;
  /** Package. */
  readonly package: string;
  /** Its folder. */
  readonly dir: string;
  /** Its manifest. */
  readonly manifest: Manifest;
  /** What it may do, in plain words. */
  readonly capabilities: readonly CapabilityDescription[];
  /** Its instances. */
  readonly instances: readonly InstanceView[];
  /** Agents that declare it. */
  readonly uses: readonly PluginUse[];
}

/** How an agent's window is kept small. */
export interface CompactionView extends CompactionSettings {
  /** The plugin that compacts, or null when the strategy does. */
  readonly compactor: string | null;
  /** Plugins that look on and may want something kept. */
  readonly observers: readonly string[];
  /** The newest compactions, newest first. */
  readonly recent: readonly CompactionRecord[];
}

/** A host, looked at. */
export interface HostView {
  /** The project it runs. */
  readonly project: { readonly id: string; readonly dir: string };
  /** The operator's folder. */
  readonly home: string;
  /** The host's own clock. */
  readonly clock: Clock;
  /** The host's own names. */
  readonly ids: Ids;
  /** Every instance of the project. */
  instances(): InstanceView[];
  /** One plugin. Throws `plugin.unknown`. */
  plugin(name: string): PluginView;
  /** Ids of the open sessions. */
  sessions(): string[];
  /** Background jobs, or null while the program has registered no agent. */
  jobs(): JobsClient | null;
  /** How an agent's window is kept small. Throws `agent.unknown`. */
  compaction(agent: string): CompactionView;
  /** What a plugin keeps in its tables. Throws `plugin.unknown`. */
  storage(plugin: string): Promise<StorageReport>;
  /** What a plugin wrote to stderr lately. Throws `plugin.unknown`. */
  logs(plugin: string): Feed;
}
