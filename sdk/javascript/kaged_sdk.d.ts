// Plugin SDK of @kaged/plugin-host. Do not edit: replace the file to upgrade.
// deno-lint-ignore-file no-explicit-any
/** A plugin's config, as the host merged it. */
export type Config = Readonly<Record<string, any>>;
/** On whose behalf the host calls. The three middle fields are set together or null together. */
export interface PluginCallContext {
  /** The operator who started it, or null. */
  readonly operator_id: string | null;
  /** The project, or null for a call of the host itself. */
  readonly project_id: string | null;
  /** The agent, such as `primary.subagents.researcher`, or null. */
  readonly agent_path: string | null;
  /** The session of that agent, or null. */
  readonly session_id: string | null;
  /** Ties the call to the host's audit events. */
  readonly request_id: string;
  /** W3C trace context, when the host traces. */
  readonly traceparent?: string;
}
/** Handed to a handler beside its params. */
export interface CallContext extends PluginCallContext {
  /** Aborts when the host cancels the call or the plugin shuts down. */
  readonly signal: AbortSignal;
  /** The config for this call: the plugin's own, with the calling agent's overrides. */
  readonly config: Config;
  /** Reports how far the call is; each report gives it more time. */
  progress(progress: number, total?: number, message?: string): void;
  /** @deprecated Older name of `operator_id`. */
  readonly user_id: string | null;
  /** @deprecated Older name of `project_id`. */
  readonly project: string | null;
}
/**
 * Answers one method, tool or hook. What it returns, or its promise resolves to, is the result; nothing means null.
 * Throw a {@link PluginError} to choose the code and data of the error; anything else becomes -32603.
 */
export type Handler<Params = any, Result = unknown> = (
  params: Params,
  context: CallContext,
) => Result | Promise<Result>;
/** Lifecycle hooks a plugin may subscribe to; the manifest lists them too. */
export type HookName =
  | "on_session_start"
  | "on_session_idle"
  | "pre_compact"
  | "post_compact"
  | "session_end"
  | "user_prompt_submitted"
  | "pre_tool_use"
  | "post_tool_use"
  | "subagent_start"
  | "subagent_stop"
  | "on_error"
  | "on_budget_exceeded";
/** A plugin's name, version and handlers. All of it must agree with `kaged-plugin.yaml`. */
export interface PluginDefinition {
  /** The name in the manifest, such as `notes`. */
  readonly name: string;
  /** The version in the manifest. */
  readonly version: string;
  /** Methods of its own, by full name: `presets.list`. */
  readonly methods?: Readonly<Record<string, Handler>>;
  /** Tools, by short name: agents see `<plugin>.<tool>`. */
  readonly tools?: Readonly<Record<string, Handler>>;
  /** Hooks, by short name: `on_session_start`. */
  readonly hooks?: Readonly<Partial<Record<HookName, Handler>>>;
  /** Notifications it may send. */
  readonly notifications?: readonly string[];
  /** Capabilities it reports as used; a subset of the manifest's. */
  readonly capabilitiesUsed?: readonly string[];
  /**
   * Takes a new config; what it throws refuses the config (-32004) with its message. The first one comes before the
   * host answers storage requests: start them here if need be, but do not wait for them.
   */
  readonly onConfigUpdate?: (config: Config) => void | Promise<void>;
  /** Called with each project that uses the plugin, once it is loaded or loaded again, and the plugin's config. */
  readonly onProjectActivated?: (project: string, config: Config) => void | Promise<void>;
  /** Called with a project that no longer uses the plugin; `onShutdown` may follow at once. */
  readonly onProjectDeactivated?: (project: string) => void | Promise<void>;
  /** Called when the host shuts the plugin down or goes away; its promise is waited for. */
  readonly onShutdown?: () => void | Promise<void>;
}
/** Where a plugin's lines come from and go to, in place of the process's own streams: for tests and embedding. */
export interface PluginStreams {
  /** Bytes from the host, in any pieces. */
  readonly input: AsyncIterable<Uint8Array>;
  /** Takes whole lines for the host; what it returns is waited for before the plugin ends. */
  readonly output: (text: string) => void | Promise<void>;
  /** Takes log lines. Default: stderr. */
  readonly log?: (line: string) => void;
}
/** The rows that a query returned. */
export interface QueryResult<Row = Record<string, unknown>> {
  /** One object for each row, by column. */
  readonly rows: Row[];
  /** Names of the columns, in order. */
  readonly columns: string[];
}
/** The outcome of a statement that is no query. */
export interface ExecResult<Row = Record<string, unknown>> {
  /** Rows inserted, changed or deleted. */
  readonly rows_affected: number;
  /** Rows, where the statement has RETURNING. */
  readonly rows?: Row[];
  /** Names of the columns of `rows`. */
  readonly columns?: string[];
}
/** Values for a statement's parameters: in order, or by name. */
export type SqlParams = readonly unknown[] | Readonly<Record<string, unknown>>;
/**
 * A statement that the host knows by a short name, so that its text is sent and read once. It is prepared with its first
 * use, and again when the host has forgotten it: after a change of the plugin's tables.
 */
export interface PreparedStatement {
  /** The SQL it was made of. */
  readonly sql: string;
  /** Runs it as {@link PluginStorage.query} does. */
  query<Row = Record<string, unknown>>(params?: SqlParams): Promise<QueryResult<Row>>;
  /** Runs it as {@link PluginStorage.exec} does. */
  exec<Row = Record<string, unknown>>(params?: SqlParams): Promise<ExecResult<Row>>;
}
/** One statement of a batch. */
export interface BatchStatement {
  /** One SQL statement, without others behind it; or one that was prepared. */
  readonly sql: string | PreparedStatement;
  /** Values for its parameters. */
  readonly params?: SqlParams;
}
/**
 * The plugin's private tables, kept by the host. A refusal rejects with a {@link PluginError}. What is asked before the
 * handshake is done waits for it.
 */
export interface PluginStorage {
  /** Runs a SELECT, which cannot write. */
  query<Row = Record<string, unknown>>(sql: string, params?: SqlParams): Promise<QueryResult<Row>>;
  /** Runs any other statement, in a transaction of its own. */
  exec<Row = Record<string, unknown>>(sql: string, params?: SqlParams): Promise<ExecResult<Row>>;
  /** Runs statements in one transaction: all of them, or none. */
  batch(statements: readonly BatchStatement[]): Promise<{
    readonly results: ExecResult[];
  }>;
  /** Returns a statement for many calls. Nothing is sent before its first use, which reports a slip in the SQL. */
  prepare(sql: string): PreparedStatement;
  /** Lists the plugin's tables and views. */
  schema(): Promise<{
    readonly tables: string[];
    readonly views: string[];
  }>;
}
/** Writes a log line: JSON on stderr, never stdout. */
export type LogMethod = (message: string, fields?: Readonly<Record<string, unknown>>) => void;
/** The plugin's log. Lines below the level in `KAGED_LOG_LEVEL` are dropped. */
export interface PluginLog {
  /** Details for finding a fault. */
  readonly debug: LogMethod;
  /** An ordinary event, such as a start. */
  readonly info: LogMethod;
  /** Something unexpected that the plugin dealt with. */
  readonly warn: LogMethod;
  /** A failure that somebody should look at. */
  readonly error: LogMethod;
}
/** A plugin, ready to start. */
export interface Plugin {
  /** The config the plugin accepted last; empty before the first. */
  readonly config: Config;
  /**
   * Capabilities that the plugin has: those of its manifest without what the operator withheld. Empty before the first
   * message of the host.
   */
  readonly capabilities: readonly string[];
  /** The plugin's private tables. */
  readonly storage: PluginStorage;
  /** Writes log lines to stderr, as JSON. */
  readonly log: PluginLog;
  /**
   * Serves the host until it shuts the plugin down or goes away, then ends the process. `console` and
   * `process.stdout` write to the log from here on. With `streams` the process is left alone, and the promise resolves
   * with the code it would have ended with.
   */
  start(streams?: PluginStreams): Promise<number>;
  /**
   * Sends a notification; before the handshake is done it waits for it.
   *
   * @throws {PluginError} When it does not fit a line of 4 MiB.
   */
  notify(notification: string, params?: Readonly<Record<string, unknown>>): void;
  /**
   * Returns the absolute path of `config:/…`, `project:/…` or `plugin:/…`, as a config may name it.
   *
   * @throws {PluginError} When it has another form, climbs with `..`, or nothing with that prefix was granted.
   */
  resolvePath(path: string): string;
}
/** A failure with a code and data of its own, as it travels on the wire. */
export declare class PluginError extends Error {
  /** JSON-RPC error code, -32000 by default. */
  readonly code: number;
  /** Details for a program, in JSON. */
  readonly data?: unknown;
  /** Makes an error; a plugin's own codes are -32000…-32099, and -32602 says that params are wrong. */
  constructor(message: string, options?: {
    readonly code?: number;
    readonly data?: unknown;
  });
}
/**
 * Makes a plugin of its handlers.
 *
 * @throws {TypeError} When a name breaks the rules or means two things.
 */
export declare function createPlugin(definition: PluginDefinition): Plugin;
