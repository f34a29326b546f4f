/**
 * The host as an agent author sees it.
 *
 * @module
 */
import type { AuditEvent, AuditSink } from "../core/audit/events.ts";
import type { CageLimits } from "../core/cage/limits/cage_limits.ts";
import type { CompactionResult, Injection } from "../core/compaction/types.ts";
import type { HostError } from "../core/errors/host_error.ts";
import type { EmittedEvents, EmittedName, EventName, Events } from "../events/types.ts";
import type { ConsentAnswer, ConsentRequest } from "../packages/install/consent_types.ts";
import type { AgentContext, AgentRun } from "../jobs/agent.ts";
import type { Jobs, JobsOptions } from "../jobs/jobs.ts";
import type { HookEngine } from "../hooks/engine/engine.ts";
import type { HostHookOptions } from "./hook_types.ts";
import type { JsonSchema } from "../core/schema/json_schema.ts";
import type { Message } from "../core/compaction/messages.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { PluginLogLine, PluginNotification } from "../core/supervisor/types.ts";
import type { TracingOption } from "../otel/load_tracing.ts";
import type { HostPluginInfo, HostView } from "./view_types.ts";

export type { HostPluginInfo };

/** How a host is set up. */
export interface HostOptions {
  /** Folder that holds project.yaml. */
  readonly project: string;
  /** The operator's folder. Default: `$KAGED_HOME`, else `~/.local/share/kaged`. */
  readonly home?: string;
  /** Who operates it. */
  readonly operatorId?: string | null;
  /** Package → folder the embedder vouches for, used in place of the store. */
  readonly plugins?: Readonly<Record<string, string>>;
  /** The runtime it stands on. Default: the one the program runs on. */
  readonly runtime?: Runtime;
  /**
   * Folder for tapes: what goes over the wire of each process of each plugin, without the operator's secrets, for
   * `kaged replay`. Absent: nothing is recorded. A tape that cannot be written is told to {@link onWarning}.
   */
  readonly record?: string;
  /** What each plugin may use; the operator's `config.toml` stands above it. */
  readonly limits?: Partial<CageLimits>;
  /** How long a session may rest before `on_session_idle` fires. Default 300 000. */
  readonly idleWindowMs?: number;
  /** Makes a summary for the strategy `summarize`. */
  readonly summarize?: (messages: Message[], context: { signal: AbortSignal }) => Promise<string>;
  /** Tokens of a message. Default: a quarter of the bytes of its JSON, rounded up. */
  readonly countTokens?: (message: Message) => number;
  /** Absent: no events, and no cost. */
  readonly events?: { readonly level: "summary" | "trace" };
  /**
   * Whether runs, tools, hooks and compactions become spans of OpenTelemetry, and plugins get `traceparent` in their
   * context. Default: no, and nothing is loaded.
   */
  readonly tracing?: TracingOption;
  /** How background jobs are run and kept. Default: in SQLite, `jobs-<project_id>.db` in the operator's folder. */
  readonly jobs?: JobsOptions;
  /** Keeps the platform from ending the program before a background job is done, where platforms do that. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
  /** How portable hooks are traced and bounded; handlers are added to {@link Host.hooks}. */
  readonly hooks?: HostHookOptions;
  /** Where audit events go, besides {@link Host.onAudit}. Default: `audit/<project_id>.jsonl` in the operator's folder. */
  readonly audit?: readonly AuditSink[];
  /** Hears what plugins write to stderr. */
  readonly onLog?: (line: PluginLogLine) => void;
  /**
   * Whether commands such as `kaged plugin disable` reach this host while it runs, through a socket in the operator's
   * folder that only this user may open. Default: true.
   */
  readonly control?: boolean;
  /** Hears of mistakes in the embedder's own code, such as an event listener that throws. Default: `console.error`. */
  readonly onWarning?: (message: string) => void;
}

/** A tool an agent may call. */
export interface HostTool {
  /** Full name: `<plugin>.<tool>`. */
  readonly name: string;
  /** What it does, for the model. */
  readonly description: string;
  /** What its arguments look like. */
  readonly parameters_schema: JsonSchema;
  /** The plugin that offers it. */
  readonly plugin: string;
  /** The tool as its MCP server listed it, title and annotations included; absent for any other plugin's. */
  readonly definition?: Readonly<Record<string, unknown>>;
}

/** A conversation of the primary agent. */
export interface Session {
  /** Its id. */
  readonly id: string;
  /**
   * Fires `SessionStart` (`on_session_start` for plugins); call it before the first message reaches the model. The hook fires once: later calls put
   * the same text before the prompt they are given.
   */
  start(systemPrompt: string): Promise<{
    systemPrompt: string;
    injected: Injection[];
    /** Who blocked the start, and why; absent when nobody did. */
    blocked?: { readonly by: string; readonly reason: string };
  }>;
  /** Tells of a message: activity that winds the idle clock. */
  record(message: Message): void;
  /** Fires `on_session_idle` now. */
  idle(): Promise<void>;
  /** Ends the session; one that was started fires `SessionEnd`. */
  close(): Promise<void>;
}

/** Where a call comes from and how long it may take. */
export interface CallAt {
  /** Agent path. */
  readonly agent: string;
  /** Session id. */
  readonly session: string;
  /** Cancels it. */
  readonly signal?: AbortSignal;
  /** Time it may take. */
  readonly timeoutMs?: number;
  /** Hears progress the plugin reports for it; each report starts its time anew. */
  readonly onProgress?: (progress: unknown) => void;
}

/** What one plugin made of a hook. */
export interface HookReport {
  /** The plugin. */
  readonly plugin: string;
  /** The instance that was asked. */
  readonly instance: string;
  /** How it went: `ok`, or why the plugin had no say. */
  readonly outcome: "ok" | "timeout" | "failed" | "unavailable" | "oversize";
  /** What it answered, or null. */
  readonly result: unknown;
  /** Why it had no say, or null. */
  readonly error: HostError | null;
  /** How long it took, waiting for its turn included. */
  readonly durationMs: number;
}

/** What came of a hook. */
export interface HookFired {
  /** Each plugin that takes the hook, in the order they were asked. */
  readonly reports: readonly HookReport[];
  /** What they want before the model, wrapped; empty when nothing. */
  readonly text: string;
  /** The records of it. */
  readonly injected: readonly Injection[];
}

/** What a host asks to be compacted. */
export interface CompactionRequest {
  /** Agent path. */
  readonly agent: string;
  /** Session id. */
  readonly session: string;
  /** The window. */
  readonly messages: Message[];
  /** Why now, such as `threshold_crossed`. */
  readonly trigger: string;
  /** Tokens to come down to. */
  readonly targetTokens?: number;
}

/** What a run of an agent is given: its context, its session and its tools. */
export interface HostAgentContext extends AgentContext {
  /** The session: its id is `conversationId`. Open for the run; one that was opened for it closes with it. */
  readonly session: Session;
  /** The agent's tools. */
  readonly tools: {
    /** Those that can be called now. */
    list(): HostTool[];
    /** Calls one, within the run's session and until the run is aborted. */
    call(
      name: string,
      args: Readonly<Record<string, unknown>>,
      options?: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
    ): Promise<unknown>;
  };
}

/** The host an agent author embeds. */
export interface Host extends AsyncDisposable {
  /** Starts every plugin of the project. One that fails is reported and never throws. */
  start(): Promise<{
    running: string[];
    failed: { instance: string; error: HostError }[];
    pending: ConsentRequest[];
  }>;
  /** Stops everything. */
  stop(): Promise<void>;
  /** The agents of the project. */
  agents(): { path: string; parent: string | null; plugins: string[] }[];
  /** Plugins of an agent, or of the whole project. */
  plugins(agent?: string): HostPluginInfo[];
  /** Tools of an agent. */
  tools(agent: string): HostTool[];
  /**
   * Says what an agent runs, for background jobs and for `POST /agents/<path>`. Throws `agent.unknown` or
   * `jobs.agent_duplicate`.
   */
  agent(path: string, run: AgentRun<HostAgentContext>): void;
  /** Background jobs. Those that wait are taken once the host is started. */
  readonly jobs: Jobs<HostAgentContext>;
  /** Opens a session of the primary agent. Throws `session.duplicate` for an id that is open. */
  openSession(options?: { id?: string }): Session;
  /** Calls a tool on behalf of an agent; its arguments are checked first. */
  callTool(name: string, args: Readonly<Record<string, unknown>>, at: CallAt): Promise<unknown>;
  /** Calls a method of a plugin. */
  callMethod(
    plugin: string,
    method: string,
    params?: Readonly<Record<string, unknown>>,
    at?: Partial<CallAt>,
  ): Promise<unknown>;
  /**
   * Fires any hook at an agent's plugins, for a harness that has more moments than sessions and compactions. Never
   * rejects for a plugin. Sessions and {@link compact} fire their own hooks.
   */
  fireHook(
    hook: string,
    params: Readonly<Record<string, unknown>>,
    at: Pick<CallAt, "agent" | "session">,
  ): Promise<HookFired>;
  /**
   * The chain of portable hooks: the plugins' and whatever is added to it. Sessions and {@link compact} fire
   * `SessionStart`, `SessionEnd`, `PreCompact` and `PostCompact` themselves; for the rest see `agentHooks()` in
   * `@kaged/plugin-host/hooks`.
   */
  readonly hooks: HookEngine;
  /** Makes an agent's window smaller. Never stalls and never throws for a plugin. */
  compact(request: CompactionRequest): Promise<CompactionResult>;
  /** Turns a knob: validates, tells the plugin, edits project.yaml. When the plugin refuses, the file stays as it was. */
  setKnob(agent: string, key: string, knob: string, value: unknown): Promise<void>;
  /** Plugins the project declares and nobody has: what the operator is asked. As long as there is one, it is pending. */
  consents(): ConsentRequest[];
  /**
   * Says yes to the next step of a request: to fetch its address, then to grant what was fetched all it asks for. A
   * plugin that is installed so serves this project only, and starts at once.
   */
  approve(id: string, answer?: ConsentAnswer): Promise<ConsentRequest>;
  /** Says no to a request. The project stays pending. */
  decline(id: string): Promise<ConsentRequest>;
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
  /** Like {@link reload}, but every instance of the plugin is stopped first, and the calls it has fail. */
  restart(plugin: string): Promise<void>;
  /** What the operator's side reads: the HTTP API, the console, the command. */
  readonly view: HostView;
  /** Hears audit events; returns a function that ends it. */
  onAudit(listener: (event: AuditEvent) => void): () => void;
  /** Hears plugins' notifications; returns a function that ends it. */
  onNotification(listener: (notification: PluginNotification) => void): () => void;
  /** Tells of what the embedder's own loop does: runs, model calls, delegations. Without events it does nothing. */
  emit<E extends EmittedName>(event: E, data: Omit<EmittedEvents[E], "timestamp">): void;
  /** Hears lifecycle events; returns a function that ends it. Without events there is nothing to hear. */
  on<E extends EventName>(event: E, listener: (event: Events[E]) => void): () => void;
}
