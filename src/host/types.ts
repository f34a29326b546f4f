/**
 * The host as an agent author sees it.
 *
 * @module
 */
import type { OpenHookFilesOptions } from "../hooks/open_hook_files.ts";
import type { Approvals, OnAsk } from "../core/approvals/desk_types.ts";
import type { AuditEvent, AuditSink } from "../core/audit/events.ts";
import type { CageLimits } from "../core/cage/limits/cage_limits.ts";
import type { CompactionResult, Injection } from "../core/compaction/types.ts";
import type { HostError } from "../core/errors/host_error.ts";
import type { EmittedEvents, EmittedName, EventName, Events } from "../events/types.ts";
import type { ConsentAnswer, ConsentRequest } from "../packages/install/consent_types.ts";
import type { AgentContext, AgentRun, AgentSteps } from "../jobs/agent.ts";
import type { Jobs, JobsOptions } from "../jobs/jobs.ts";
import type { HookEngine } from "../hooks/engine/engine.ts";
import type { HookReport } from "../hooks/sources/plugin/plugin_scope.ts";
import type { HostKinds } from "../hooks/kinds/types.ts";
import type { HostHookOptions } from "./hook_types.ts";
import type { Message } from "../core/compaction/messages.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { PluginLogLine, PluginNotification } from "../core/supervisor/types.ts";
import type { TracingOption } from "../otel/load_tracing.ts";
import type { CallAt, ToolCallOptions } from "./call_types.ts";
import type { ClientSide, HostMcp, HostPrompt, HostResource } from "./mcp_types.ts";
import type { CompactionRequest, HostTool, Session, ToolOutcome } from "./session_types.ts";
import type { HostPluginInfo, HostView } from "./view_types.ts";

export type { CallAt, CompactionRequest, HostPluginInfo, HostTool, Session, ToolCallOptions, ToolOutcome };

/** Options of a host; only the project has no default. */
export interface HostOptions {
  /** Folder that holds project.yaml. */
  readonly project: string;
  /** The operator's folder. Default: `$KAGED_HOME`, else `~/.local/share/kaged`. */
  readonly home?: string;
  /** Id of the operator, for the audit and for plugins' `_context`. Default null. */
  readonly operatorId?: string | null;
  /** Package → folder the embedder vouches for, used in place of the store. */
  readonly plugins?: Readonly<Record<string, string>>;
  /** Further packages the embedder vouches for: found as Node does, from the project's or another folder upwards. */
  readonly pluginsFrom?: "node_modules" | { readonly folder: string };
  /** Folders of hookspecs that describe kinds of plugins, besides the one that project.yaml names. */
  readonly hookspecs?: readonly string[];
  /** The runtime it stands on. Default: the one the program runs on. */
  readonly runtime?: Runtime;
  /**
   * Path of the Node, Bun or Deno that starts JavaScript files: plugins whose command begins with `js`, the relay in
   * their cages, the storage process. Default: the runtime itself; for a compiled program the first that is installed in
   * `/usr/local/bin` or `/usr/bin`. `runtimes.js` in the operator's `config.toml` comes before it.
   */
  readonly js?: string;
  /**
   * Folder for tapes: the wire of each process of each plugin, without the operator's secrets, for `kaged replay`.
   * Absent: nothing is recorded. {@link onWarning} reports a tape that cannot be written.
   */
  readonly record?: string;
  /** Limits of each plugin's process; those in the operator's `config.toml` come before them. */
  readonly limits?: Partial<CageLimits>;
  /** How long a session may rest before `on_session_idle` fires. Default 300 000. */
  readonly idleWindowMs?: number;
  /** Makes a summary for the strategy `summarize`. */
  readonly summarize?: (messages: Message[], context: { signal: AbortSignal }) => Promise<string>;
  /** Tokens of a message. Default: a quarter of the bytes of its JSON, rounded up. */
  readonly countTokens?: (message: Message) => number;
  /** Absent: no events, and no cost. `level` is `summary` unless it says `trace`: the steps within a run, too. */
  readonly events?: { readonly level?: "summary" | "trace" };
  /**
   * Whether runs, tools, hooks and compactions become spans of OpenTelemetry, and plugins get `traceparent` in their
   * context. Default: no, and nothing is loaded.
   */
  readonly tracing?: TracingOption;
  /** How background jobs are run and kept. Default: in SQLite, `jobs-<project_id>.db` in the operator's folder. */
  readonly jobs?: JobsOptions;
  /** Keeps the platform from ending the program before a background job is done, where platforms do that. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
  /**
   * Answers calls that wait for a person, in the program's own way; nothing leaves a request to the other front ends.
   * `signal` aborts when the request has ended without it. Default: requests wait at {@link Host.approvals}.
   */
  readonly onAsk?: OnAsk;
  /** How portable hooks are traced and bounded; handlers are added to {@link Host.hooks}. */
  readonly hooks?: HostHookOptions;
  /** Whether hook files of the project run that the operator trusts; {@link onWarning} reports others. Default: no. */
  readonly hookFiles?: boolean | Pick<OpenHookFilesOptions, "onPrompt" | "userHome">;
  /**
   * Where audit events go, besides {@link Host.onAudit}. Default: the trails
   * `audit/<project_id>.jsonl` and `calls/<project_id>.jsonl` in the operator's folder.
   */
  readonly audit?: readonly AuditSink[];
  /**
   * The client's part towards MCP servers. `offers` names the parts of it that servers are told of; default: none, and
   * a server can ask for nothing. `client` answers where the session of a request has no answer of its own
   * ({@link HostMcp.offer}).
   */
  readonly mcp?: {
    readonly offers?: readonly ("elicitation" | "sampling" | "roots")[];
    readonly client?: ClientSide;
  };
  /** Called with each line that plugins write to stderr. */
  readonly onLog?: (line: PluginLogLine) => void;
  /**
   * Whether commands such as `kaged plugin disable` reach this host while it runs, through a socket in the operator's
   * folder that only this user may open. Default: true.
   */
  readonly control?: boolean;
  /** Called with mistakes in the embedder's own code, such as an event listener that throws. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
}

export type { HookReport };

/** The result of firing a hook. */
export interface HookFired {
  /** Each plugin that was asked, in order. */
  readonly reports: readonly HookReport[];
  /** Text of all handlers for the model, plugins' wrapped; empty when there is none. */
  readonly text: string;
  /** Records of the plugins' part of the text. */
  readonly injected: readonly Injection[];
  /** Notices of handlers, and about handlers that failed. */
  readonly warnings: readonly string[];
  /** Handlers that want a person's yes, in their order; absent when none does. Nobody was asked: the first has blocked. */
  readonly asked?: readonly { readonly by: string; readonly reason: string }[];
  /** The handler that blocked; absent when none did. */
  readonly blocked?: { readonly by: string; readonly reason: string };
}

/** The context of one run of an agent: its job, its session and its tools. */
export interface HostAgentContext extends AgentContext, AgentSteps {
  /** The session: its id is `conversationId`. Open for the run; one that was opened for it closes with it. */
  readonly session: Session;
  /** Tools of the run's agent. */
  readonly tools: {
    /** Returns those that can be called now. */
    list(): HostTool[];
    /** Calls one through the gate, within the run's session and until the run is aborted; resolves with its output. */
    call(
      name: string,
      args: Readonly<Record<string, unknown>>,
      options?: Omit<ToolCallOptions, "agent">,
    ): Promise<unknown>;
  };
}

/** The host an agent author embeds. */
export interface Host extends AsyncDisposable {
  /**
   * Starts every plugin of the project, but those that start on demand. One that fails is reported and never throws. A start that is under way is
   * joined; one asked for while the host stops begins after that. Rejects with `host.stopped` when {@link stop} is
   * called before it is over.
   */
  start(): Promise<{
    running: string[];
    /** Instances that start on demand: they have no process yet. */
    resting: string[];
    failed: { instance: string; error: HostError }[];
    pending: ConsentRequest[];
  }>;
  /**
   * Ends jobs and idle timers, then every plugin, and a start that is under way with everything it has brought up.
   * Sessions stay open for the next {@link start}.
   */
  stop(): Promise<void>;
  /** The agents of the project. */
  agents(): { path: string; parent: string | null; plugins: string[] }[];
  /** Plugins of an agent, or of the whole project. */
  plugins(agent?: string): HostPluginInfo[];
  /** Returns the tools an agent can call now. */
  tools(agent: string): HostTool[];
  /** Resources, prompts and everything else that the MCP servers of an agent offer beyond tools. */
  readonly mcp: HostMcp;
  /** {@link HostMcp.resources} of an agent. */
  resources(agent: string): Promise<HostResource[]>;
  /** {@link HostMcp.prompts} of an agent. */
  prompts(agent: string): Promise<HostPrompt[]>;
  /**
   * Sets the function that runs an agent, for background jobs and for `POST /agents/<path>`. Throws `agent.unknown` or
   * `jobs.agent_duplicate`.
   */
  agent(path: string, run: AgentRun<HostAgentContext>): void;
  /** Background jobs. Those that wait are taken once the host is started. */
  readonly jobs: Jobs<HostAgentContext>;
  /** Opens a session of the primary agent. Throws `session.duplicate` for an id that is open. */
  openSession(options?: {
    id?: string;
    /**
     * Keeps results whose text or JSON has more than `maxBytes` (default 32 KiB): the model gets a handle for
     * `read_result`. At most `keepBytes` (default 16 MiB) and 100 results are kept, the newest. Absent: results are
     * shown whole, unless a call says otherwise ({@link ToolCallOptions.maxResultBytes}).
     */
    results?: { readonly maxBytes?: number; readonly keepBytes?: number };
    /** Counts calls and the tokens of their results, for {@link Session.usage}. Default false. */
    usage?: boolean;
  }): Session;
  /** Returns an open session. Throws `session.unknown`. */
  session(id: string): Session;
  /** {@link Session.callTool} of a session, for the output alone. */
  callTool(name: string, args: Readonly<Record<string, unknown>>, at: CallAt): Promise<unknown>;
  /**
   * Calls a method of a plugin. One that names a tool takes the same way as {@link callTool}: for the agent given, else
   * the primary or the only agent the plugin serves; in the session given, else in one that ends with the call.
   */
  callMethod(
    plugin: string,
    method: string,
    params?: Readonly<Record<string, unknown>>,
    at?: Partial<CallAt>,
  ): Promise<unknown>;
  /**
   * Fires any hook for an agent, for a harness that has more moments than sessions, tool calls and compactions. Never
   * rejects for a handler. Sessions, tool calls and compactions fire their own hooks.
   */
  fireHook(
    hook: string,
    params: Readonly<Record<string, unknown>>,
    at: Pick<CallAt, "agent" | "session">,
  ): Promise<HookFired>;
  /**
   * The chain of hooks: the plugins' and whatever is added to it. The host fires the moments of sessions, tool calls and
   * compactions itself; for the rest see `agentHooks()` in `@kaged/plugin-host/hooks`.
   */
  readonly hooks: HookEngine;
  /** Kinds of plugins that hookspecs describe. */
  readonly kinds: HostKinds;
  /** Calls that wait for a person, for any front end. */
  readonly approvals: Approvals;
  /** {@link Session.compact} of a session. */
  compact<M extends { readonly role: string } = Message>(request: CompactionRequest<M>): Promise<CompactionResult<M>>;
  /** Turns a knob: validates, updates the plugin, edits project.yaml. When the plugin refuses, the file stays as it was. */
  setKnob(agent: string, key: string, knob: string, value: unknown): Promise<void>;
  /** Plugins the project declares and nobody has: what the operator is asked. As long as there is one, it is pending. */
  consents(): ConsentRequest[];
  /**
   * Approves the next step of a request: to fetch its address, then to grant the fetched plugin all it asks for. A
   * plugin that is installed so serves this project only, and starts at once.
   */
  approve(id: string, answer?: ConsentAnswer): Promise<ConsentRequest>;
  /** Declines a request. The project stays pending, and no later host asks until the project declares something else. */
  decline(id: string): Promise<ConsentRequest>;
  /** Opens a declined request again, for this host and later ones. Throws `consent.unknown`. */
  askAgain(id: string): Promise<ConsentRequest>;
  /** Enables a plugin, for good when it is installed: all its instances forget their failures and start. */
  enable(plugin: string): Promise<void>;
  /** Disables a plugin, for good when it is installed: all its instances stop and stay down. */
  disable(plugin: string): Promise<void>;
  /**
   * Takes up what changed in the store and the files. Each running instance of the plugin is started anew beside the one
   * that runs; once all are ready they take over in one step, and the old ones finish the calls they have and end. An
   * instance that is down is started; a plugin that was uninstalled goes. Without a name nothing is started anew but
   * what is new or was installed anew.
   *
   * Resolves when the new ones serve. Rejects with `plugin.reload_failed` when one could not: nothing has changed then.
   */
  reload(plugin?: string): Promise<void>;
  /**
   * Reads the operator's values for a plugin again, without a restart: a bound secret is used by the next request. Rejects
   * with `plugin.refused` or `project.*` when they cannot be used: the values before hold then.
   */
  reread(plugin: string): Promise<void>;
  /**
   * Approves quarantined tools of an installed MCP server, for good and in every host of the home: each by the hash of the
   * definition that was shown, as `listed` of {@link HostView.quarantined}. Rejects with `tool.not_quarantined`, or with
   * `tool.approval_stale` when the server lists another definition by now; then none is approved.
   */
  approveTools(plugin: string, tools: Readonly<Record<string, string>>): Promise<void>;
  /** Reads the pinned tools of a plugin again, which another process has approved. */
  repin(plugin: string): Promise<void>;
  /** Like {@link reload}, but every instance of the plugin is stopped first, and the calls it has fail. */
  restart(plugin: string): Promise<void>;
  /** Read by the operator's side: the HTTP API, the console, the command. */
  readonly view: HostView;
  /** Listens to audit events; returns a function that ends it. */
  onAudit(listener: (event: AuditEvent) => void): () => void;
  /** Listens to plugins' notifications; returns a function that ends it. */
  onNotification(listener: (notification: PluginNotification) => void): () => void;
  /** Emits an event of the embedder's own loop: runs, model calls, delegations. Without {@link HostOptions.events} it does nothing. */
  emit<E extends EmittedName>(event: E, data: Omit<EmittedEvents[E], "timestamp">): void;
  /** Listens to lifecycle events; returns a function that ends it. Without {@link HostOptions.events} there are none. */
  on<E extends EventName>(event: E, listener: (event: Events[E]) => void): () => void;
}
