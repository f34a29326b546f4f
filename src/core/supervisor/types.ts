/**
 * The public shapes of the supervisor.
 *
 * @module
 */
import type { WireTap } from "../wire/wire_tap.ts";
import type { Audit } from "../audit/audit.ts";
import type { AuditEvent, AuditSink } from "../audit/events.ts";
import type { CageLimits, CageLimitStatus } from "../cage/limits/cage_limits.ts";
import type { NetLimit } from "../cage/net/bound_secret.ts";
import type { HostError } from "../errors/host_error.ts";
import type { Manifest, ManifestTool } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { ClientOffer, McpEvent, McpPeer, McpServerRequest } from "../mcp/peer.ts";
import type { Runtime } from "../ports/ports.ts";
import type { CallEnd, CallOptions, IncomingRequest } from "../wire/connection_types.ts";

/** Where a plugin instance is in its life. `resting` has no process, and gets one with the next call or hook. */
export type PluginStatus = "disabled" | "spawning" | "running" | "resting" | "crashed" | "failed" | "stopped";

/** On whose behalf a call is made. The three middle fields are set together or null together. */
export interface PluginCallContext {
  /** The operator who started it, or null. */
  readonly operator_id: string | null;
  /** The project, or null for a call of the host itself. */
  readonly project_id: string | null;
  /** The agent, such as `primary.subagents.researcher`, or null. */
  readonly agent_path: string | null;
  /** The session, or null for a call outside of any. */
  readonly session_id: string | null;
  /** Ties the call to its audit events. */
  readonly request_id: string;
  /** W3C trace context, when tracing is on. */
  readonly traceparent?: string;
}

/** A plugin that the supervisor is to run. */
export interface PluginSpec {
  /** The plugin's folder, absolute. */
  readonly dir: string;
  /** Hash its folder must have at every start, as install pinned it; without one nothing is compared. */
  readonly hash?: string;
  /** Capabilities of its manifest that it runs without. Default: none. */
  readonly withheld?: readonly string[];
  /** Hosts that it may connect to beyond its manifest, such as `net:api.example.com:443`. Default: none. */
  readonly added?: readonly string[];
  /** Instance id. Default: the plugin's name. */
  readonly instance?: string;
  /** Merged config, sent as `config.update`. Default: `{}`. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Project folder, for `project:/…` grants. */
  readonly projectDir?: string | null;
  /** Projects that activated it: in `initialize` and, where it lists the feature `projects`, by `projects.activated`. */
  readonly projects?: readonly string[];
  /** Limits of the operator on requests of its processes. Default: none. */
  readonly netLimits?: readonly NetLimit[];
  /** False registers it disabled. Default: true. */
  readonly enabled?: boolean;
  /**
   * Starts it with its first call or hook, and ends its process after `idleStopMs` (to 1.25 times that) without any.
   * Absent: it starts with the others, and runs on.
   */
  readonly onDemand?: { readonly idleStopMs: number };
  /** Tools of an MCP server as they were pinned. Without them one that is `onDemand` is started once, to list them. */
  readonly pinnedTools?: readonly McpTool[];
}

/** A registered plugin as operators see it. */
export interface PluginInfo {
  /** Id of the instance, unique within its supervisor. */
  readonly instance: string;
  /** The plugin's name, as its manifest says. */
  readonly plugin: string;
  /** The plugin's version, as its manifest says. */
  readonly version: string;
  /** The plugin's folder, absolute. */
  readonly dir: string;
  /** The manifest of its newest process, or of its registration. */
  readonly manifest: Manifest;
  /** `crashed` waits for its next start, `failed` does not. */
  readonly status: PluginStatus;
  /** Process id of the launcher while it runs. */
  readonly pid: number | null;
  /** The cage of its process while there is one. */
  readonly cage: PluginCage | null;
  /** Starts after the first, since it was enabled. */
  readonly restarts: number;
  /** Hosts that its process was refused, each with how often: at most 100, the newest last. */
  readonly net_refused: readonly {
    readonly host: string;
    /** 0 where none was named, as in a lookup. */
    readonly port: number;
    /** Why, in a stable word: `not-allowed`, `resolves-to-private`, `bad-target`. */
    readonly reason: string;
    /**
     * How it was seen: absent for a connection that the gatekeeper refused, `lookup` for a name that the cage's resolver
     * was asked for, `error` for a host that only the plugin's own error names.
     */
    readonly source?: "lookup" | "error";
    readonly count: number;
  }[];
  /** Methods that both manifest and process name. */
  readonly methods: readonly string[];
  /** Optional parts of the protocol it takes part in. */
  readonly features: readonly string[];
  /** Tools it offers: the manifest's, or those an MCP server listed last. */
  readonly tools: readonly (ManifestTool | McpTool)[];
  /** An MCP server as it described itself, while it runs; null for any other plugin. */
  readonly mcp: { readonly protocol: string; readonly name: string; readonly version: string } | null;
  /** Why it is down, when it is. */
  readonly error: HostError | null;
}

/** The cage of a running plugin as operators see it. */
export interface PluginCage {
  /** Names it in audit events. */
  readonly id: string;
  /** Its limits, and the way they are enforced. */
  readonly limits: CageLimitStatus;
}

/** One line a plugin wrote to stderr. */
export interface PluginLogLine {
  /** The plugin's name, as its manifest says. */
  readonly plugin: string;
  /** Id of the instance that wrote it. */
  readonly instance: string;
  /** The line, cut at its cap. */
  readonly line: string;
}

/** A notification a plugin sent. */
export interface PluginNotification {
  /** Id of the instance that sent it. */
  readonly instance: string;
  /** Its name, such as `catalog.updated`. */
  readonly method: string;
  /** Params as they came: object, array, or undefined. */
  readonly params: unknown;
}

/** Settings of one call. */
export interface PluginCallOptions extends CallOptions {
  /** On whose behalf; fields left out are null, `request_id` is made. */
  readonly context?: Partial<PluginCallContext>;
}

/** Settings of a supervisor. */
export interface SupervisorOptions {
  /** The runtime it stands on. */
  readonly runtime: Runtime;
  /** The operator's folder, absolute. */
  readonly home: string;
  /** `operator_id` of call contexts that set none. Default: null. */
  readonly operatorId?: string | null;
  /** Value of KAGED_LOG_LEVEL in every cage. Default `info`. */
  readonly logLevel?: string;
  /** Interpreters outside the usual places: name → absolute path. */
  readonly runtimes?: Readonly<Record<string, string>>;
  /** Limits of each plugin. Default: 512 MB of memory, 256 CPU shares, 100 processes and threads. */
  readonly limits?: Partial<CageLimits>;
  /** Limits of single plugins, by name, where they differ from {@link limits}. */
  readonly pluginLimits?: Readonly<Record<string, Partial<CageLimits>>>;
  /**
   * Returns after how many calls in a row that timed out, with none answered in between, the plugin of that name is
   * started again although it answers pings. Default: 3 for each.
   */
  readonly maxTimeouts?: (plugin: string) => number;
  /** Returns how much of a plugin's output is read, against others, when there is too much of it. Default: 1 for each. */
  readonly weight?: (plugin: string) => number;
  /** Where audit events go, besides {@link Supervisor.onAudit}. */
  readonly audit?: readonly AuditSink[];
  /** Receives each line that a plugin writes to stderr. */
  readonly onLog?: (line: PluginLogLine) => void;
  /** Answers a plugin's own requests (storage) and may audit them; without it they get -32601. */
  readonly onRequest?: (instance: PluginInfo, request: IncomingRequest, audit: Pick<Audit, "emit">) => unknown;
  /**
   * Asks a person whether a process may connect to a host that was not granted; the connection is held until then. Null,
   * and without this function, it is refused at once. An answer that lasts holds until the process ends, and is not asked
   * for again. `signal` aborts when the process has ended.
   */
  readonly askNetwork?: (
    instance: Pick<PluginInfo, "instance" | "plugin">,
    target: { readonly host: string; readonly port: number },
    signal: AbortSignal,
  ) => Promise<{ readonly isAllowed: boolean; readonly lasts: boolean }> | null;
  /** Called each time an MCP server has listed its tools. */
  readonly onTools?: (instance: PluginInfo) => void;
  /** Called with what MCP servers say by themselves. */
  readonly onMcpEvent?: (instance: Pick<PluginInfo, "instance" | "plugin">, event: McpEvent) => void;
  /** Parts of a client that are offered to MCP servers. Default: none. */
  readonly mcpOffers?: readonly ClientOffer[];
  /** Answers requests of MCP servers for a part that is offered. */
  readonly onMcpRequest?: (
    instance: Pick<PluginInfo, "instance" | "plugin">,
    request: McpServerRequest,
  ) => Promise<unknown>;
  /** Listens to the wire of each process that is started; null leaves one alone. */
  readonly tap?: (instance: PluginInfo) => WireTap | null;
  /** Returns the methods of the kinds that a plugin implements, beside those its manifest lists. Default: none. */
  readonly kindMethods?: (manifest: Manifest) => readonly string[];
  /** Whether `initialize` says that storage is there. Default: false. */
  readonly storageAvailable?: boolean;
  /** Whether the process of an instance must not be ended for want of calls: somebody waits to hear from it. */
  readonly isHeld?: (instance: string) => boolean;
}

/** Another process of a plugin, ready to take over from the one that runs. */
export interface Replacement {
  /** Why it can no longer take over, or null. */
  readonly error: HostError | null;
  /**
   * Takes over in this turn: from here on every call goes to the new process. The old one finishes the calls it has and
   * ends; the promise resolves when it is gone. Throws {@link error}.
   */
  commit(): Promise<void>;
  /** Ends the new process because of `reason`. Resolves when it is gone. */
  discard(reason: HostError): Promise<void>;
}

/** Calls plugins for a host, which may have the last word on the outcome; see {@link CallEnd}. */
export interface PluginCaller {
  call(
    instance: string,
    method: string,
    params?: Readonly<Record<string, unknown>>,
    options?: PluginCallOptions,
    end?: CallEnd,
  ): Promise<unknown>;
}

/** Looks after plugin processes: starts, watches, restarts and stops them. */
export interface Supervisor extends AsyncDisposable {
  /** Reads and checks a plugin's manifest and takes it on. Rejects with `manifest.*` or `plugin.duplicate`. */
  register(spec: PluginSpec): Promise<PluginInfo>;
  /**
   * Takes many plugins on, in their order, and reads each folder's manifest once. Resolves with why one was not taken on,
   * or null, for each.
   */
  registerAll(specs: readonly PluginSpec[]): Promise<(HostError | null)[]>;
  /**
   * Gives a plugin that rests other files: it rests on, and a call finds the old or the new ones, never neither. Resolves
   * with false, and changes nothing, when it does not rest, or may not with those. Rejects with `manifest.*`.
   */
  exchange(spec: PluginSpec): Promise<boolean>;
  /** Readies every enabled plugin at once, and names the others. One that fails is reported, and keeps nobody waiting. */
  startAll(): Promise<{
    running: string[];
    resting: string[];
    failed: { instance: string; error: HostError }[];
    disabled: string[];
  }>;
  /** Starts one plugin, also one that rests, resolving once it runs. Rejects with why its first start failed. */
  start(instance: string): Promise<void>;
  /** Lets a plugin that is `onDemand` rest until it is called, unless it runs; starts any other. */
  ready(instance: string): Promise<void>;
  /** Stops one plugin: `shutdown`, SIGTERM, SIGKILL. */
  stop(instance: string): Promise<void>;
  /** Stops one plugin and looks after it no more. */
  unregister(instance: string): Promise<void>;
  /** Stops every plugin at once. */
  stopAll(): Promise<void>;
  /** Enables a plugin: forgets its failures and readies it. */
  enable(instance: string): Promise<void>;
  /** Disables a plugin: stops it and keeps it down. */
  disable(instance: string, reason?: string): Promise<void>;
  /**
   * Starts a plugin anew beside the process that runs, and shakes hands; the caller swaps the two, or does not. The
   * folder, hash and config of `spec` hold from then on; its default is what the plugin was registered with. Rejects
   * with why the new process could not be brought up, with `plugin.unavailable` when none runs, or with
   * `plugin.reloading`; what runs goes on then.
   */
  replace(instance: string, spec?: PluginSpec): Promise<Replacement>;
  /**
   * Hands a plugin a new config: at once when it runs, and at its later starts. Rejects with `plugin.config_invalid`, or
   * why it could not be asked, and keeps the old config then.
   */
  updateConfig(instance: string, config: Readonly<Record<string, unknown>>): Promise<void>;
  /**
   * Calls a plugin's method. Fails at once with `plugin.unavailable` while it is down; one that rests is started first,
   * and the time of the call runs from then.
   */
  call(
    instance: string,
    method: string,
    params?: Readonly<Record<string, unknown>>,
    options?: PluginCallOptions,
  ): Promise<unknown>;
  /**
   * Returns the parts of a running MCP server beyond its tools. Throws `plugin.unavailable` while it is down, and
   * `mcp.not_offered` for a plugin that is no MCP server.
   */
  mcp(instance: string): McpPeer;
  /** Resolves once a plugin that rests has been started for `need`; at once for any other. Rejects as its start did. */
  wake(instance: string, need: string): Promise<void>;
  /** Everything registered, in order. */
  plugins(): PluginInfo[];
  /** One plugin, or `plugin.unknown`. */
  plugin(instance: string): PluginInfo;
  /** Calls `listener` with each audit event; the function that is returned ends that. */
  onAudit(listener: (event: AuditEvent) => void): () => void;
  /** Calls `listener` with each notification of a plugin; the function that is returned ends that. */
  onNotification(listener: (notification: PluginNotification) => void): () => void;
}
