/**
 * A project as it is written, and as it is resolved.
 *
 * @module
 */
import type { Decision } from "../rules/rules.ts";
import type { DocumentIssue } from "../documents/document_report.ts";
import type { YamlDocument } from "../documents/read_yaml.ts";
import type { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";

/** One thing wrong with a file a person wrote: the same shape as a manifest's. */
export type Issue = DocumentIssue;

/** Whether agents have a plugin for themselves or share it. */
export type Isolation = "agent" | "project";

/** Whether a plugin starts with the host, or with the first call that needs it. */
export type StartMode = "eager" | "on_demand";

/** When a plugin has a process. */
export interface StartSettings {
  /** Default `eager`. */
  readonly start?: StartMode;
  /** Seconds without a call, hook or other activity after which the process of an `on_demand` plugin ends. Default 300. */
  readonly idle_stop_sec?: number;
}

/** How an agent's window is compacted. */
export interface CompactionSettings {
  /** How the host compacts when no compactor plugin does it. */
  readonly strategy: "drop" | "summarize";
  /** Key of the plugin that compacts, or null. */
  readonly delegate: string | null;
  /** Tokens to come down to, or null for the caller's choice. */
  readonly target_tokens: number | null;
  /** Messages to come down to, or null. */
  readonly target_messages: number | null;
  /** How many of the newest messages always stay. Default 4. */
  readonly keep_last: number;
}

/** A plugin as an agent declares it. Absent fields were not written. */
export interface PluginDeclaration extends StartSettings {
  /** The key in the agent's `plugins:` map. */
  readonly key: string;
  /** Package, such as `@kaged/memory-markdown`. */
  readonly package?: string;
  readonly source?: string;
  /** Range of versions that will do. */
  readonly version?: string;
  readonly isolation?: Isolation;
  /** Hooks to fire; absent: all of the manifest's. */
  readonly hooks?: readonly string[];
  readonly config?: Readonly<Record<string, unknown>>;
  readonly at: { readonly line: number; readonly column: number; readonly path: string };
}

/** An agent as it is written. */
export interface AgentSpec {
  /** Canonical path: `primary`, `primary.subagents.researcher`. */
  readonly path: string;
  /** Path of the agent above, or null. */
  readonly parent: string | null;
  /** Its plugins, in the order they are written. */
  readonly plugins: readonly PluginDeclaration[];
  /** Tools switched on or off by full name. */
  readonly tools: Readonly<Record<string, { readonly enabled: boolean }>>;
  /** Calls of its tools that need a person, by pattern of their full names: `approval:`. */
  readonly approvals: Readonly<Record<string, Decision>>;
  /** How its window is compacted. */
  readonly compaction: CompactionSettings;
  /** Fields that other subsystems own, untouched. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/** A project as it is written. */
export interface Project {
  /** `id:` of project.yaml, else the folder's name as a slug. */
  readonly id: string;
  /** Absolute path of its folder. */
  readonly dir: string;
  /** The file it was read from. */
  readonly file: string;
  /** Folder of its hookspec, from its own folder; null without one. */
  readonly hookspec: string | null;
  /** Every agent of the tree, parents before children, in the order they are written. */
  readonly agents: readonly AgentSpec[];
  /** Keys and values that are allowed and look like slips. */
  readonly warnings: readonly Issue[];
  /** The file as it was read: its report knows the places of its values, and an editor can change it. */
  readonly document: YamlDocument;
}

/** Returns the keys that lead to a value of an agent: `["primary", "subagents", "researcher", "plugins"]`. */
export function stepsTo(agentPath: string, ...rest: readonly string[]): string[] {
  return [...agentPath.split("."), ...rest];
}

/** A plugin as an agent gets it. */
export interface ResolvedPlugin {
  /** The key in the agent's `plugins:` map. */
  readonly key: string;
  readonly package: string;
  readonly plugin: string;
  /** Absolute path of its folder. */
  readonly dir: string;
  /** Hash its folder must have; absent for a folder that the embedder vouches for. */
  readonly hash?: string;
  /** Hash of its files as they were found in `node_modules`; absent for any other. */
  readonly contentHash?: string;
  readonly manifest: Manifest;
  readonly isolation: Isolation;
  /** As its declaration says; absent where it says nothing. A shared instance has those of its base. */
  readonly starts?: StartSettings;
  /** Id of the instance that serves this agent: `<plugin>@<project>/<agent>`, `<plugin>@<project>` or `<plugin>`. */
  readonly instance: string;
  /** Hooks that fire for this agent, canonical names, in manifest order. */
  readonly hooks: readonly string[];
  /** Hooks a subagent lists that fire for the primary only: warned of, never fired. */
  readonly illegalHooks: readonly string[];
  /** Full names of its tools that are on for this agent; those of an MCP server are known once it runs. */
  readonly tools: readonly string[];
  /** Full names of its tools that this agent has switched off, whether they exist or not. */
  readonly toolsOff: readonly string[];
  /** This agent's whole config: defaults, project side and system side. Holds secrets: never shown. */
  readonly config: Readonly<Record<string, unknown>>;
  /** The same with every value of the system side replaced by `‹set by operator›`. */
  readonly shownConfig: Readonly<Record<string, unknown>>;
  /** Fields that this agent overrides of a shared instance's config, sent as `_config`; null when there are none. */
  readonly override: Readonly<Record<string, unknown>> | null;
}

/** An agent as it is resolved. */
export interface ResolvedAgent extends Omit<AgentSpec, "plugins" | "tools" | "approvals"> {
  /** Its plugins, in the order they are declared. */
  readonly plugins: readonly ResolvedPlugin[];
  /** Keys of all plugins that it declares, in order: also of those that it cannot have and of those not installed. */
  readonly declared: readonly string[];
  /** Why the plugin that `compaction.delegate` names cannot compact; null when it can, or when there is no delegate. */
  readonly delegateFault: string | null;
}

/** One process to run. Its `config` is the base that the process gets as `config.update`, and holds secrets. */
export interface ResolvedInstance
  extends
    Pick<ResolvedPlugin, "instance" | "package" | "plugin" | "dir" | "hash" | "contentHash" | "manifest" | "config"> {
  readonly starts?: StartSettings;
  /** Agents it serves; none for a plugin of the operator's that no agent declares. */
  readonly agents: readonly string[];
}

/** A plugin that an agent declares and that is not installed. */
export interface MissingPlugin {
  /** Package name as the declaration has it. */
  readonly package: string;
  /** Folder or address to install it from, as written, or null. */
  readonly source: string | null;
  /** Range of versions that will do, or null. */
  readonly version: string | null;
  /** Paths of the agents that declare it. */
  readonly agents: readonly string[];
}

/** A plugin that one agent cannot have: it is left out, and the rest goes on. */
export interface PluginRefusal {
  /** Agent that declares it; empty for a plugin no agent declares. */
  readonly agent: string;
  /** The key it is declared under. */
  readonly key: string;
  /** Instance that would have served it, when it is known. */
  readonly instance: string | null;
  /** Name in its manifest; while that cannot be read, the last segment of its package, else its key. */
  readonly plugin: string;
  /** Null for a declaration that names none. */
  readonly package: string | null;
  readonly isolation: Isolation;
  /** Null for a plugin whose manifest cannot be read. */
  readonly found: Pick<ResolvedPlugin, "manifest" | "dir"> | null;
  readonly error: HostError;
}

/** A project with everything its processes need. */
export interface ResolvedProject {
  readonly id: string;
  readonly dir: string;
  /** In tree order: parents before children. */
  readonly agents: readonly ResolvedAgent[];
  /** Every process to run, in the order they are first declared. */
  readonly instances: readonly ResolvedInstance[];
  /** Plugins to be installed first; each is refused too. */
  readonly missing: readonly MissingPlugin[];
  /** Plugins that are installed, and not in the version declared; each is refused too. */
  readonly unfit: readonly MissingPlugin[];
  /** Plugins left out, and why. */
  readonly refusals: readonly PluginRefusal[];
  /** Keys and values that are allowed and look like slips. */
  readonly warnings: readonly Issue[];
}
