/**
 * The plugin's side of the wire, in one module without dependencies that a plugin carries with it. It runs on Node, Bun
 * and Deno.
 *
 * ```js
 * import { createPlugin } from "./kaged_sdk.js";
 *
 * const plugin = createPlugin({
 *   name: "notes",
 *   version: "1.0.0",
 *   tools: {
 *     add: ({ text }, context) => ({ added: text, agent: context.agent_path }),
 *   },
 * });
 * plugin.start();
 * ```
 *
 * @module
 */
import process from "node:process";

/** A plugin's config, as the host merged it. */
// deno-lint-ignore no-explicit-any
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
// deno-lint-ignore no-explicit-any
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
  batch(statements: readonly BatchStatement[]): Promise<{ readonly results: ExecResult[] }>;
  /** Returns a statement for many calls. Nothing is sent before its first use, which reports a slip in the SQL. */
  prepare(sql: string): PreparedStatement;
  /** Lists the plugin's tables and views. */
  schema(): Promise<{ readonly tables: string[]; readonly views: string[] }>;
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
export class PluginError extends Error {
  /** JSON-RPC error code, -32000 by default. */
  readonly code: number;
  /** Details for a program, in JSON. */
  declare readonly data?: unknown;

  /** Makes an error; a plugin's own codes are -32000…-32099, and -32602 says that params are wrong. */
  constructor(message: string, options: { readonly code?: number; readonly data?: unknown } = {}) {
    super(message);
    this.name = "PluginError";
    this.code = options.code ?? -32000;
    if (options.data !== undefined) this.data = options.data;
  }
}

/**
 * Makes a plugin of its handlers.
 *
 * @throws {TypeError} When a name breaks the rules or means two things.
 */
export function createPlugin(definition: PluginDefinition): Plugin {
  return new WirePlugin(definition);
}

const API_VERSION = 1;
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const FOLDER_VARIABLES = { config: "KAGED_CONFIG_DIR", project: "KAGED_PROJECT_DIR", plugin: "KAGED_PLUGIN_DIR" };
const LEVELS = ["debug", "info", "warn", "error"] as const;

type Level = typeof LEVELS[number];
type Id = string | number | null;
interface Waiting {
  resolve(result: unknown): void;
  reject(error: PluginError): void;
}

/** The streams a plugin runs on, and how it ends. */
interface Transport {
  /** Hands over bytes as they come, then calls `onEnd`. */
  read(onBytes: (bytes: Uint8Array) => void, onEnd: () => void): void;
  /** Writes text; resolves when it is out. */
  write(text: string): void | Promise<void>;
  /** Called once everything is out. */
  end(code: number): void;
}

type AskPrepared = (method: string, self: Prepared, params: () => object) => Promise<unknown>;

class Prepared implements PreparedStatement {
  readonly sql: string;
  /** Name that the host gave it; undefined until it is prepared. */
  handle: string | undefined;
  readonly #ask: AskPrepared;

  constructor(sql: string, ask: AskPrepared) {
    this.sql = sql;
    this.#ask = ask;
  }

  query<Row>(params: SqlParams = []): Promise<QueryResult<Row>> {
    return this.#run("kaged.storage.query", params) as Promise<QueryResult<Row>>;
  }

  exec<Row>(params: SqlParams = []): Promise<ExecResult<Row>> {
    return this.#run("kaged.storage.exec", params) as Promise<ExecResult<Row>>;
  }

  #run(method: string, params: SqlParams): Promise<unknown> {
    return this.#ask(method, this, () => ({ statement: this.handle, params }));
  }
}

function batchStatement({ sql, params }: BatchStatement): object {
  return sql instanceof Prepared ? { statement: sql.handle, params } : { sql, params };
}

class WirePlugin implements Plugin {
  readonly log: PluginLog;
  readonly storage: PluginStorage = {
    query: <Row>(sql: string, params: SqlParams = []) =>
      this.#ask("kaged.storage.query", { sql, params }) as Promise<QueryResult<Row>>,
    exec: <Row>(sql: string, params: SqlParams = []) =>
      this.#ask("kaged.storage.exec", { sql, params }) as Promise<ExecResult<Row>>,
    batch: (statements) => {
      const prepared = statements.flatMap(({ sql }) => sql instanceof Prepared ? [sql] : []);
      const params = (): object => ({ statements: statements.map(batchStatement) });
      return this.#askPrepared("kaged.storage.batch", prepared, params) as Promise<{ results: ExecResult[] }>;
    },
    prepare: (sql) => new Prepared(sql, (method, self, params) => this.#askPrepared(method, [self], params)),
    schema: () => this.#ask("kaged.storage.schema", {}) as Promise<{ tables: string[]; views: string[] }>,
  };

  readonly #definition: PluginDefinition;
  readonly #handlers: Map<string, Handler>;
  readonly #calls = new Map<Id, Call>();
  readonly #asked = new Map<Id, Waiting>();
  readonly #lines = new LineReader();
  #transport: Transport | undefined;
  #writeLog: (line: string) => void = (line) => void process.stderr.write(line);
  #config: Config = {};
  #capabilities: readonly string[] = [];
  #configTurn: Promise<void> = Promise.resolve();
  /** Lines that wait for the handshake; undefined once it is done. */
  #held: string[] | undefined = [];
  #greeted = false;
  #hostGone = false;
  #lastId = 0;
  #outgoing = "";
  #written: void | Promise<void> = undefined;
  #ending: Promise<void> | undefined;

  constructor(definition: PluginDefinition) {
    this.#definition = definition;
    this.#handlers = routes(definition);
    this.log = createLog((line) => this.#writeLog(line));
  }

  get config(): Config {
    return this.#config;
  }

  get capabilities(): readonly string[] {
    return this.#capabilities;
  }

  start(streams?: PluginStreams): Promise<number> {
    if (this.#transport) throw new Error(`Plugin "${this.#definition.name}" has been started already`);
    return new Promise((resolve) => {
      if (streams?.log) this.#writeLog = streams.log;
      const transport = this.#transport = streams ? streamTransport(streams, resolve) : stdioTransport(this.log);
      transport.read((bytes) => this.#receive(bytes), () => this.#loseHost(0));
    });
  }

  notify(notification: string, params: Readonly<Record<string, unknown>> = {}): void {
    if (!METHOD_NAME.test(notification)) throw new TypeError(`Cannot send "${notification}": ${METHOD_RULE}`);
    this.#sendWhenReady(line({ method: notification, params }));
  }

  resolvePath(path: string): string {
    const [, prefix = "", rest = ""] = /^(config|project|plugin):(\/.*)$/s.exec(path) ?? [];
    const segments = rest.split("/").filter((segment) => segment !== "" && segment !== ".");
    if (prefix === "" || segments.includes("..") || path.includes("\0")) {
      throw new PluginError(`Cannot find "${path}": paths look like config:/memory`, { code: -32602 });
    }
    const root = process.env[FOLDER_VARIABLES[prefix as keyof typeof FOLDER_VARIABLES]];
    if (!root) throw new PluginError(`Cannot find "${path}": nothing under ${prefix}:/ is granted`, { code: -32001 });
    return [root.replace(/\/+$/, ""), ...segments].join("/") || "/";
  }

  #receive(bytes: Uint8Array): void {
    if (this.#hostGone || this.#lines.push(bytes, (text) => this.#take(text))) return;
    this.log.error("The host sent a line of more than 4 MiB");
    this.#loseHost(1);
  }

  /** Nothing more comes: nobody is left to answer, and the plugin ends. */
  #loseHost(code: number): void {
    this.#hostGone = true;
    for (const { reject } of this.#asked.values()) reject(hostGone());
    this.#asked.clear();
    void this.#end(code);
  }

  #take(text: string): void {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch {
      return this.#refuse(null, -32700, "Not JSON");
    }
    if (Array.isArray(message)) return this.#refuse(null, -32600, "A batch: send each message on a line of its own");
    if (!isRecord(message) || message.jsonrpc !== "2.0") {
      return this.#refuse(null, -32600, "Not a JSON-RPC 2.0 message");
    }
    const { id, method, params } = message;
    if (typeof method === "string") {
      if (id === undefined) this.#hear(method, params);
      else if (isId(id)) this.#serve(id, method, params);
      else this.#refuse(null, -32600, "An id is a number or a string");
    } else if (isId(id) && ("result" in message || "error" in message)) this.#settle(id, message);
    else this.#refuse(isId(id) ? id : null, -32600, "Neither a request nor a response");
  }

  #hear(method: string, params: unknown): void {
    if (method === "initialized") {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const text of held) this.#write(text);
    } else if (method === "shutdown") void this.#end(0);
    else if (method === "system.cancel" && isRecord(params)) this.#calls.get(params.id as Id)?.abort("cancelled");
    else if (method.startsWith("projects.")) void this.#project(method, isRecord(params) ? params : {});
    else if (method === "system.rate_limited") this.log.warn("The host drops notifications: too many a second");
  }

  #serve(id: Id, method: string, params: unknown): void {
    if (method === "initialize") return this.#greet(id, params);
    if (method === "ping") return this.#write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"status":"ok"}}`);
    if (method === "config.update") return this.#configure(id, isRecord(params) ? params : {});
    if (method === "shutdown") return void this.#end(0, id);
    if (this.#held) return this.#refuse(id, -32002, `Cannot call "${method}" before initialized`);
    const handler = this.#handlers.get(method);
    if (!handler) return this.#refuse(id, -32601, `No method "${method}"`);
    this.#call(id, handler, method, params);
  }

  #greet(id: Id, params: unknown): void {
    const { name, version, notifications = [], capabilitiesUsed = [] } = this.#definition;
    if (this.#greeted) return this.#refuse(id, -32600, "initialize comes once");
    this.#greeted = true;
    if (isRecord(params) && params.plugin_name !== name) {
      this.log.warn("Host and plugin disagree on the name", { host: params.plugin_name, plugin: name });
    }
    const { capabilities } = isRecord(params) ? params : {};
    if (Array.isArray(capabilities)) this.#capabilities = capabilities.filter((one) => typeof one === "string");
    const methods = [...this.#handlers.keys()].filter((method) => !method.startsWith(HOOK_PREFIX));
    const features = ["cancel", "progress", "projects"];
    this.#answer(id, {
      name,
      version,
      api_version: API_VERSION,
      methods,
      notifications,
      capabilities_used: capabilitiesUsed,
      features,
    });
  }

  /** A project came or went. Nobody waits for the handler: what it throws is logged. */
  async #project(method: string, { project, config }: Record<string, unknown>): Promise<void> {
    const { onProjectActivated, onProjectDeactivated } = this.#definition;
    if (typeof project !== "string") return;
    try {
      if (method === "projects.activated") await onProjectActivated?.(project, isRecord(config) ? config : {});
      if (method === "projects.deactivated") await onProjectDeactivated?.(project);
    } catch (error) {
      this.log.error(`The handler of ${method} failed`, { error });
    }
  }

  /** One config at a time, in the order they came. */
  #configure(id: Id, config: Config): void {
    this.#configTurn = this.#configTurn.then(async () => {
      try {
        await this.#definition.onConfigUpdate?.(config);
        this.#config = config;
        this.#answer(id, {});
      } catch (error) {
        this.#refuse(id, -32004, messageOf(error), error instanceof PluginError ? error.data : undefined);
      }
    });
  }

  #call(id: Id, handler: Handler, method: string, params: unknown): void {
    const { _context, _config, ...rest } = isRecord(params) ? params : {} as Record<string, unknown>;
    const config = isRecord(_config) ? { ...this.#config, ..._config } : this.#config;
    const call = new Call(isRecord(_context) ? _context : {}, config, (report) => {
      if (this.#calls.get(id) === call) this.#write(line({ method: "system.progress", params: { id, ...report } }));
    });
    this.#calls.set(id, call);
    try {
      const result = handler(Array.isArray(params) ? params : rest, call);
      // A plain value is answered in this turn, so that the answers of one chunk leave in one write.
      if (!isPromise(result)) this.#answer(id, result);
      else result.then((value) => this.#answer(id, value), (error) => this.#fail(id, method, error));
    } catch (error) {
      this.#fail(id, method, error);
    }
  }

  #fail(id: Id, method: string, error: unknown): void {
    if (error instanceof PluginError && isOwnCode(error.code)) {
      return this.#refuse(id, error.code, error.message, error.data);
    }
    this.log.error(`Handler of "${method}" failed`, { error });
    this.#refuse(id, -32603, messageOf(error));
  }

  #answer(id: Id, result: unknown): void {
    this.#calls.delete(id);
    let text: string;
    try {
      text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result) ?? "null"}}`;
    } catch (error) {
      return this.#refuse(id, -32603, `The result cannot be written as JSON: ${messageOf(error)}`);
    }
    if (isOversize(text)) return this.#refuse(id, -32603, "The result does not fit a line of 4 MiB");
    this.#write(text);
  }

  #refuse(id: Id, code: number, message: string, data?: unknown): void {
    this.#calls.delete(id);
    const short = message.length > 10_000 ? message.slice(0, 10_000) + "…" : message;
    const full = attempt(() => line({ id, error: { code, message: short, data } }));
    this.#write(full && !isOversize(full) ? full : line({ id, error: { code, message: short } }));
  }

  #ask(method: string, params: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#hostGone) throw hostGone();
      const id = ++this.#lastId;
      this.#sendWhenReady(line({ id, method, params }));
      this.#asked.set(id, { resolve, reject });
    });
  }

  /** Asks with prepared statements. The host runs nothing where it knows one of them no longer: they are prepared again. */
  async #askPrepared(method: string, statements: readonly Prepared[], params: () => object): Promise<unknown> {
    for (let isFirst = true;; isFirst = false) {
      for (const each of statements) {
        each.handle ??=
          (await this.#ask("kaged.storage.prepare", { sql: each.sql }) as { statement: string }).statement;
      }
      try {
        return await this.#ask(method, params());
      } catch (error) {
        const { data } = error as PluginError;
        if (!isFirst || !isRecord(data) || data.code !== "storage.statement_unknown") throw error;
        for (const each of statements) each.handle = undefined;
      }
    }
  }

  #settle(id: Id, { result, error }: Record<string, unknown>): void {
    const waiting = this.#asked.get(id);
    if (!waiting) return this.log.warn("The host answered a request that was not sent", { id, error });
    this.#asked.delete(id);
    if (!isRecord(error)) return waiting.resolve(result);
    const code = typeof error.code === "number" ? error.code : -32603;
    waiting.reject(new PluginError(String(error.message), { code, data: error.data }));
  }

  #sendWhenReady(text: string): void {
    if (isOversize(text)) throw new PluginError("The message does not fit a line of 4 MiB", { code: -32603 });
    if (this.#held) this.#held.push(text);
    else this.#write(text);
  }

  /** Joins the lines of one turn into one write. */
  #write(text: string): void {
    if (this.#outgoing === "") queueMicrotask(() => this.#flush());
    this.#outgoing += text + "\n";
  }

  #flush(): void {
    const text = this.#outgoing;
    this.#outgoing = "";
    if (text !== "") this.#written = this.#transport?.write(text);
  }

  /** Ends the plugin once; answers `id` when the end was asked for by a request. */
  #end(code: number, id?: Id): Promise<void> {
    return this.#ending ??= (async () => {
      for (const call of this.#calls.values()) call.abort("shutting down");
      let exitCode = code;
      try {
        await this.#definition.onShutdown?.();
      } catch (error) {
        this.log.error("onShutdown failed", { error });
        exitCode = 1;
      }
      if (id !== undefined) this.#answer(id, {});
      this.#flush();
      await this.#written;
      this.#transport?.end(exitCode);
    })();
  }
}

/** One call of the host, as its handler sees it. */
class Call implements CallContext {
  readonly operator_id: string | null;
  readonly project_id: string | null;
  readonly agent_path: string | null;
  readonly session_id: string | null;
  readonly request_id: string;
  declare readonly traceparent?: string;
  readonly #config: Config;
  readonly #report: (report: Record<string, unknown>) => void;
  #controller: AbortController | undefined;

  constructor(
    context: Partial<PluginCallContext>,
    config: Config,
    report: (report: Record<string, unknown>) => void,
  ) {
    this.operator_id = context.operator_id ?? null;
    this.project_id = context.project_id ?? null;
    this.agent_path = context.agent_path ?? null;
    this.session_id = context.session_id ?? null;
    this.request_id = context.request_id ?? "";
    if (context.traceparent !== undefined) this.traceparent = context.traceparent;
    this.#config = config;
    this.#report = report;
  }

  get config(): Config {
    return this.#config;
  }

  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal; // Most handlers never look: made at first use.
  }

  get user_id(): string | null {
    return this.operator_id;
  }

  get project(): string | null {
    return this.project_id;
  }

  get progress(): CallContext["progress"] {
    return (progress, total, message) => this.#report({ progress, total, message }); // Handlers take it out of the context.
  }

  abort(why: string): void {
    const controller = this.#controller ??= new AbortController();
    controller.abort(new PluginError(`The call was stopped: ${why}`));
  }
}

/** Cuts bytes into lines. A line's pieces are kept apart until its end has come, and decoded once. */
class LineReader {
  #pieces: Uint8Array[] = [];
  #size = 0;
  readonly #decoder = new TextDecoder();

  /** Hands over each whole line; false when one is longer than the cap, after which nothing may be pushed. */
  push(bytes: Uint8Array, onLine: (line: string) => void): boolean {
    let start = 0;
    // Search bytes, not text: a chunk can end inside a UTF-8 character, but 0x0a is never part of one.
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      if (this.#size + end - start > MAX_LINE_BYTES) return false;
      onLine(this.#decode(bytes.subarray(start, end)));
      start = end + 1;
    }
    if (start < bytes.length) this.#pieces.push(bytes.subarray(start));
    this.#size += bytes.length - start;
    return this.#size <= MAX_LINE_BYTES;
  }

  #decode(last: Uint8Array): string {
    if (this.#size === 0) return this.#decoder.decode(last);
    const whole = new Uint8Array(this.#size + last.length);
    let at = 0;
    for (const piece of this.#pieces) {
      whole.set(piece, at);
      at += piece.length;
    }
    whole.set(last, at);
    this.#pieces = [];
    this.#size = 0;
    return this.#decoder.decode(whole);
  }
}

function streamTransport({ input, output }: PluginStreams, end: (code: number) => void): Transport {
  return {
    read(onBytes, onEnd): void {
      const readAll = async (): Promise<void> => {
        for await (const bytes of input) onBytes(bytes);
      };
      readAll().then(onEnd, onEnd); // A stream that breaks has ended too.
    },
    write: output,
    end,
  };
}

/** Takes stdin and stdout for the wire, and sends everything else that would be printed to the log. */
function stdioTransport(log: PluginLog): Transport {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout) as (text: string, done: () => void) => boolean;
  const writeLog = stderr.write.bind(stderr) as (text: string, done: () => void) => boolean;
  const crash = (error: unknown): void => {
    log.error("The plugin broke down", { error });
    writeLog("", () => process.exit(1)); // Behind the lines before it.
  };
  stdout.write = ((chunk: string | Uint8Array, ...rest: unknown[]): boolean => {
    printTo(log.info, chunk);
    const done = rest.at(-1);
    if (typeof done === "function") queueMicrotask(() => done());
    return true;
  }) as typeof stdout.write;
  redirectConsole(log);
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  return {
    read(onBytes, onEnd): void {
      stdin.on("data", onBytes);
      stdin.on("end", onEnd);
      stdin.on("error", onEnd);
      stdout.on("error", onEnd); // The host has closed our stdout: it is gone.
    },
    write: (text) => new Promise((resolve) => void write(text, resolve)),
    end: (code) => void writeLog("", () => process.exit(code)),
  };
}

/** Logs what was meant for stdout. */
function printTo(print: LogMethod, chunk: string | Uint8Array): void {
  const text = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
  if (text.trim() !== "") print(text.replace(/\n$/, ""));
}

/** Sends every printing method of `console` to the log; formatting is loaded with the first line printed. */
function redirectConsole(log: PluginLog): void {
  const formatters = new Map<LogMethod, Console>();
  const formatter = (print: LogMethod): Console => {
    const known = formatters.get(print);
    if (known) return known;
    const { Console } = process.getBuiltinModule("node:console");
    const write = (text: string): void => printTo(print, text);
    const stream = { write, listenerCount: () => 0, on() {}, once() {}, removeListener() {} };
    const made = new Console(stream as unknown as NodeJS.WritableStream);
    formatters.set(print, made);
    return made;
  };
  const target = console as unknown as Record<string, unknown>;
  const levels: Record<string, LogMethod> = {
    debug: log.debug,
    trace: log.debug,
    warn: log.warn,
    error: log.error,
    assert: log.error,
  };
  for (const name of Object.keys(target)) {
    if (typeof target[name] !== "function" || name === "Console") continue;
    target[name] = (...values: unknown[]) => {
      const made = formatter(levels[name] ?? log.info) as unknown as Record<string, (...values: unknown[]) => void>;
      (made[name] ?? made.log)?.(...values);
    };
  }
}

function createLog(write: (line: string) => void): PluginLog {
  const least = Math.max(0, LEVELS.indexOf((process.env.KAGED_LOG_LEVEL ?? "info") as Level));
  const method = (level: Level): LogMethod => (message, fields) => {
    if (LEVELS.indexOf(level) < least) return;
    const head = { level, msg: message, time: new Date().toISOString() };
    const entry = { ...head, ...fields, ...head };
    const text = attempt(() => JSON.stringify(entry, loggable)) ?? JSON.stringify(head);
    write(text + "\n");
  };
  return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error") };
}

function loggable(_key: string, value: unknown): unknown {
  if (value instanceof Error) return value.stack ?? String(value);
  return typeof value === "bigint" ? String(value) : value;
}

const HOOK_PREFIX = "kaged.hook.";
const METHOD_NAME = /^(?!kaged\.|system\.)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,3}$/;
const METHOD_RULE = "names have 2 to 4 parts like presets.list and do not start with kaged. or system.";
const SHORT_NAME = /^[a-z][a-z0-9_]*$/;
const SYSTEM_METHODS = new Set(["config.update", "projects.activated", "projects.deactivated"]);

/** Every method the host may call, under its name on the wire. */
function routes({ name, methods = {}, tools = {}, hooks = {} }: PluginDefinition): Map<string, Handler> {
  const handlers = new Map<string, Handler>();
  const add = (wireName: string, handler: unknown): void => {
    if (typeof handler !== "function") throw new TypeError(`Cannot call "${wireName}": its handler is no function`);
    if (handlers.has(wireName)) throw new TypeError(`Cannot tell the tool "${wireName}" from the method of that name`);
    handlers.set(wireName, handler as Handler);
  };
  for (const [method, handler] of Object.entries(methods)) {
    if (!METHOD_NAME.test(method)) throw new TypeError(`Cannot offer the method "${method}": ${METHOD_RULE}`);
    if (SYSTEM_METHODS.has(method)) throw new TypeError(`Cannot offer the method "${method}": it is the host's`);
    add(method, handler);
  }
  for (const [tool, handler] of Object.entries(tools)) {
    if (!SHORT_NAME.test(tool)) throw new TypeError(`Cannot offer the tool "${tool}": names look like add_note`);
    add(`${name}.${tool}`, handler);
  }
  for (const [hook, handler] of Object.entries(hooks)) {
    if (!SHORT_NAME.test(hook)) throw new TypeError(`Cannot subscribe to "${hook}": names look like on_session_start`);
    add(HOOK_PREFIX + hook, handler);
  }
  return handlers;
}

const line = (message: Record<string, unknown>): string => JSON.stringify({ jsonrpc: "2.0", ...message });

const hostGone = (): PluginError => new PluginError("The host is gone", { code: -32603 });

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isId = (value: unknown): value is Id => value === null || typeof value === "number" || typeof value === "string";

const isPromise = (value: unknown): value is Promise<unknown> =>
  typeof (value as { then?: unknown } | null | undefined)?.then === "function";

const isOwnCode = (code: number): boolean => code === -32602 || (code >= -32099 && code <= -32000);

/** Whether a line is longer than the cap. A UTF-16 unit takes at most 3 bytes, so most need no count. */
const isOversize = (text: string): boolean =>
  text.length * 3 > MAX_LINE_BYTES && new TextEncoder().encode(text).length > MAX_LINE_BYTES;

/** Causes looked at: fetch alone says no more than "fetch failed", and a chain may lead back to its start. */
const MAX_CAUSES = 3;

/** The message of an error, and those of its causes. */
function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  let said = thrown.message;
  let { cause } = thrown;
  for (let count = 0; count < MAX_CAUSES && cause instanceof Error; count++) {
    if (!said.includes(cause.message)) said += `: ${cause.message}`;
    cause = cause.cause;
  }
  return said;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
