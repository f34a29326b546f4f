// Plugin SDK of @kaged/plugin-host. Do not edit: replace the file to upgrade.
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
/** A failure with a code and data of its own, as it travels on the wire. */
export class PluginError extends Error {
  /** JSON-RPC error code, -32000 by default. */
  code;
  /** Makes an error; a plugin's own codes are -32000…-32099, and -32602 says that params are wrong. */
  constructor(message, options = {}) {
    super(message);
    this.name = "PluginError";
    this.code = options.code ?? -32000;
    if (options.data !== undefined) {
      this.data = options.data;
    }
  }
}
/**
 * Makes a plugin of its handlers.
 *
 * @throws {TypeError} When a name breaks the rules or means two things.
 */
export function createPlugin(definition) {
  return new WirePlugin(definition);
}
const API_VERSION = 1;
const MAX_LINE_BYTES = 4 * 1024 * 1024;
const FOLDER_VARIABLES = { config: "KAGED_CONFIG_DIR", project: "KAGED_PROJECT_DIR", plugin: "KAGED_PLUGIN_DIR" };
const LEVELS = ["debug", "info", "warn", "error"];
class Prepared {
  sql;
  /** Name that the host gave it; undefined until it is prepared. */
  handle;
  #ask;
  constructor(sql, ask) {
    this.sql = sql;
    this.#ask = ask;
  }
  query(params = []) {
    return this.#run("kaged.storage.query", params);
  }
  exec(params = []) {
    return this.#run("kaged.storage.exec", params);
  }
  #run(method, params) {
    return this.#ask(method, this, () => ({ statement: this.handle, params }));
  }
}
function batchStatement({ sql, params }) {
  return sql instanceof Prepared ? { statement: sql.handle, params } : { sql, params };
}
class WirePlugin {
  log;
  storage = {
    query: (sql, params = []) => this.#ask("kaged.storage.query", { sql, params }),
    exec: (sql, params = []) => this.#ask("kaged.storage.exec", { sql, params }),
    batch: (statements) => {
      const prepared = statements.flatMap(({ sql }) => sql instanceof Prepared ? [sql] : []);
      const params = () => ({ statements: statements.map(batchStatement) });
      return this.#askPrepared("kaged.storage.batch", prepared, params);
    },
    prepare: (sql) => new Prepared(sql, (method, self, params) => this.#askPrepared(method, [self], params)),
    schema: () => this.#ask("kaged.storage.schema", {}),
  };
  #definition;
  #handlers;
  #calls = new Map();
  #asked = new Map();
  #lines = new LineReader();
  #transport;
  #writeLog = (line) => void process.stderr.write(line);
  #config = {};
  #capabilities = [];
  #configTurn = Promise.resolve();
  /** Lines that wait for the handshake; undefined once it is done. */
  #held = [];
  #greeted = false;
  #hostGone = false;
  #lastId = 0;
  #outgoing = "";
  #written = undefined;
  #ending;
  constructor(definition) {
    this.#definition = definition;
    this.#handlers = routes(definition);
    this.log = createLog((line) => this.#writeLog(line));
  }
  get config() {
    return this.#config;
  }
  get capabilities() {
    return this.#capabilities;
  }
  start(streams) {
    if (this.#transport) {
      throw new Error(`Plugin "${this.#definition.name}" has been started already`);
    }
    return new Promise((resolve) => {
      if (streams?.log) {
        this.#writeLog = streams.log;
      }
      const transport = this.#transport = streams ? streamTransport(streams, resolve) : stdioTransport(this.log);
      transport.read((bytes) => this.#receive(bytes), () => this.#loseHost(0));
    });
  }
  notify(notification, params = {}) {
    if (!METHOD_NAME.test(notification)) {
      throw new TypeError(`Cannot send "${notification}": ${METHOD_RULE}`);
    }
    this.#sendWhenReady(line({ method: notification, params }));
  }
  resolvePath(path) {
    const [, prefix = "", rest = ""] = /^(config|project|plugin):(\/.*)$/s.exec(path) ?? [];
    const segments = rest.split("/").filter((segment) => segment !== "" && segment !== ".");
    if (prefix === "" || segments.includes("..") || path.includes("\0")) {
      throw new PluginError(`Cannot find "${path}": paths look like config:/memory`, { code: -32602 });
    }
    const root = process.env[FOLDER_VARIABLES[prefix]];
    if (!root) {
      throw new PluginError(`Cannot find "${path}": nothing under ${prefix}:/ is granted`, { code: -32001 });
    }
    return [root.replace(/\/+$/, ""), ...segments].join("/") || "/";
  }
  #receive(bytes) {
    if (this.#hostGone || this.#lines.push(bytes, (text) => this.#take(text))) {
      return;
    }
    this.log.error("The host sent a line of more than 4 MiB");
    this.#loseHost(1);
  }
  /** Nothing more comes: nobody is left to answer, and the plugin ends. */
  #loseHost(code) {
    this.#hostGone = true;
    for (const { reject } of this.#asked.values()) {
      reject(hostGone());
    }
    this.#asked.clear();
    void this.#end(code);
  }
  #take(text) {
    let message;
    try {
      message = JSON.parse(text);
    } catch {
      return this.#refuse(null, -32700, "Not JSON");
    }
    if (Array.isArray(message)) {
      return this.#refuse(null, -32600, "A batch: send each message on a line of its own");
    }
    if (!isRecord(message) || message.jsonrpc !== "2.0") {
      return this.#refuse(null, -32600, "Not a JSON-RPC 2.0 message");
    }
    const { id, method, params } = message;
    if (typeof method === "string") {
      if (id === undefined) {
        this.#hear(method, params);
      } else if (isId(id)) {
        this.#serve(id, method, params);
      } else {
        this.#refuse(null, -32600, "An id is a number or a string");
      }
    } else if (isId(id) && ("result" in message || "error" in message)) {
      this.#settle(id, message);
    } else {
      this.#refuse(isId(id) ? id : null, -32600, "Neither a request nor a response");
    }
  }
  #hear(method, params) {
    if (method === "initialized") {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const text of held) {
        this.#write(text);
      }
    } else if (method === "shutdown") {
      void this.#end(0);
    } else if (method === "system.cancel" && isRecord(params)) {
      this.#calls.get(params.id)?.abort("cancelled");
    } else if (method.startsWith("projects.")) {
      void this.#project(method, isRecord(params) ? params : {});
    } else if (method === "system.rate_limited") {
      this.log.warn("The host drops notifications: too many a second");
    }
  }
  #serve(id, method, params) {
    if (method === "initialize") {
      return this.#greet(id, params);
    }
    if (method === "ping") {
      return this.#write(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"status":"ok"}}`);
    }
    if (method === "config.update") {
      return this.#configure(id, isRecord(params) ? params : {});
    }
    if (method === "shutdown") {
      return void this.#end(0, id);
    }
    if (this.#held) {
      return this.#refuse(id, -32002, `Cannot call "${method}" before initialized`);
    }
    const handler = this.#handlers.get(method);
    if (!handler) {
      return this.#refuse(id, -32601, `No method "${method}"`);
    }
    this.#call(id, handler, method, params);
  }
  #greet(id, params) {
    const { name, version, notifications = [], capabilitiesUsed = [] } = this.#definition;
    if (this.#greeted) {
      return this.#refuse(id, -32600, "initialize comes once");
    }
    this.#greeted = true;
    if (isRecord(params) && params.plugin_name !== name) {
      this.log.warn("Host and plugin disagree on the name", { host: params.plugin_name, plugin: name });
    }
    const { capabilities } = isRecord(params) ? params : {};
    if (Array.isArray(capabilities)) {
      this.#capabilities = capabilities.filter((one) => typeof one === "string");
    }
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
  async #project(method, { project, config }) {
    const { onProjectActivated, onProjectDeactivated } = this.#definition;
    if (typeof project !== "string") {
      return;
    }
    try {
      if (method === "projects.activated") {
        await onProjectActivated?.(project, isRecord(config) ? config : {});
      }
      if (method === "projects.deactivated") {
        await onProjectDeactivated?.(project);
      }
    } catch (error) {
      this.log.error(`The handler of ${method} failed`, { error });
    }
  }
  /** One config at a time, in the order they came. */
  #configure(id, config) {
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
  #call(id, handler, method, params) {
    const { _context, _config, ...rest } = isRecord(params) ? params : {};
    const config = isRecord(_config) ? { ...this.#config, ..._config } : this.#config;
    const call = new Call(isRecord(_context) ? _context : {}, config, (report) => {
      if (this.#calls.get(id) === call) {
        this.#write(line({ method: "system.progress", params: { id, ...report } }));
      }
    });
    this.#calls.set(id, call);
    try {
      const result = handler(Array.isArray(params) ? params : rest, call);
      // A plain value is answered in this turn, so that the answers of one chunk leave in one write.
      if (!isPromise(result)) {
        this.#answer(id, result);
      } else {
        result.then((value) => this.#answer(id, value), (error) => this.#fail(id, method, error));
      }
    } catch (error) {
      this.#fail(id, method, error);
    }
  }
  #fail(id, method, error) {
    if (error instanceof PluginError && isOwnCode(error.code)) {
      return this.#refuse(id, error.code, error.message, error.data);
    }
    this.log.error(`Handler of "${method}" failed`, { error });
    this.#refuse(id, -32603, messageOf(error));
  }
  #answer(id, result) {
    this.#calls.delete(id);
    let text;
    try {
      text = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${JSON.stringify(result) ?? "null"}}`;
    } catch (error) {
      return this.#refuse(id, -32603, `The result cannot be written as JSON: ${messageOf(error)}`);
    }
    if (isOversize(text)) {
      return this.#refuse(id, -32603, "The result does not fit a line of 4 MiB");
    }
    this.#write(text);
  }
  #refuse(id, code, message, data) {
    this.#calls.delete(id);
    const short = message.length > 10_000 ? message.slice(0, 10_000) + "…" : message;
    const full = attempt(() => line({ id, error: { code, message: short, data } }));
    this.#write(full && !isOversize(full) ? full : line({ id, error: { code, message: short } }));
  }
  #ask(method, params) {
    return new Promise((resolve, reject) => {
      if (this.#hostGone) {
        throw hostGone();
      }
      const id = ++this.#lastId;
      this.#sendWhenReady(line({ id, method, params }));
      this.#asked.set(id, { resolve, reject });
    });
  }
  /** Asks with prepared statements. The host runs nothing where it knows one of them no longer: they are prepared again. */
  async #askPrepared(method, statements, params) {
    for (let isFirst = true;; isFirst = false) {
      for (const each of statements) {
        each.handle ??= (await this.#ask("kaged.storage.prepare", { sql: each.sql })).statement;
      }
      try {
        return await this.#ask(method, params());
      } catch (error) {
        const { data } = error;
        if (!isFirst || !isRecord(data) || data.code !== "storage.statement_unknown") {
          throw error;
        }
        for (const each of statements) {
          each.handle = undefined;
        }
      }
    }
  }
  #settle(id, { result, error }) {
    const waiting = this.#asked.get(id);
    if (!waiting) {
      return this.log.warn("The host answered a request that was not sent", { id, error });
    }
    this.#asked.delete(id);
    if (!isRecord(error)) {
      return waiting.resolve(result);
    }
    const code = typeof error.code === "number" ? error.code : -32603;
    waiting.reject(new PluginError(String(error.message), { code, data: error.data }));
  }
  #sendWhenReady(text) {
    if (isOversize(text)) {
      throw new PluginError("The message does not fit a line of 4 MiB", { code: -32603 });
    }
    if (this.#held) {
      this.#held.push(text);
    } else {
      this.#write(text);
    }
  }
  /** Joins the lines of one turn into one write. */
  #write(text) {
    if (this.#outgoing === "") {
      queueMicrotask(() => this.#flush());
    }
    this.#outgoing += text + "\n";
  }
  #flush() {
    const text = this.#outgoing;
    this.#outgoing = "";
    if (text !== "") {
      this.#written = this.#transport?.write(text);
    }
  }
  /** Ends the plugin once; answers `id` when the end was asked for by a request. */
  #end(code, id) {
    return this.#ending ??= (async () => {
      for (const call of this.#calls.values()) {
        call.abort("shutting down");
      }
      let exitCode = code;
      try {
        await this.#definition.onShutdown?.();
      } catch (error) {
        this.log.error("onShutdown failed", { error });
        exitCode = 1;
      }
      if (id !== undefined) {
        this.#answer(id, {});
      }
      this.#flush();
      await this.#written;
      this.#transport?.end(exitCode);
    })();
  }
}
/** One call of the host, as its handler sees it. */
class Call {
  operator_id;
  project_id;
  agent_path;
  session_id;
  request_id;
  #config;
  #report;
  #controller;
  constructor(context, config, report) {
    this.operator_id = context.operator_id ?? null;
    this.project_id = context.project_id ?? null;
    this.agent_path = context.agent_path ?? null;
    this.session_id = context.session_id ?? null;
    this.request_id = context.request_id ?? "";
    if (context.traceparent !== undefined) {
      this.traceparent = context.traceparent;
    }
    this.#config = config;
    this.#report = report;
  }
  get config() {
    return this.#config;
  }
  get signal() {
    return (this.#controller ??= new AbortController()).signal; // Most handlers never look: made at first use.
  }
  get user_id() {
    return this.operator_id;
  }
  get project() {
    return this.project_id;
  }
  get progress() {
    return (progress, total, message) => this.#report({ progress, total, message }); // Handlers take it out of the context.
  }
  abort(why) {
    const controller = this.#controller ??= new AbortController();
    controller.abort(new PluginError(`The call was stopped: ${why}`));
  }
}
/** Cuts bytes into lines. A line's pieces are kept apart until its end has come, and decoded once. */
class LineReader {
  #pieces = [];
  #size = 0;
  #decoder = new TextDecoder();
  /** Hands over each whole line; false when one is longer than the cap, after which nothing may be pushed. */
  push(bytes, onLine) {
    let start = 0;
    // Search bytes, not text: a chunk can end inside a UTF-8 character, but 0x0a is never part of one.
    for (let end = bytes.indexOf(0x0a); end >= 0; end = bytes.indexOf(0x0a, start)) {
      if (this.#size + end - start > MAX_LINE_BYTES) {
        return false;
      }
      onLine(this.#decode(bytes.subarray(start, end)));
      start = end + 1;
    }
    if (start < bytes.length) {
      this.#pieces.push(bytes.subarray(start));
    }
    this.#size += bytes.length - start;
    return this.#size <= MAX_LINE_BYTES;
  }
  #decode(last) {
    if (this.#size === 0) {
      return this.#decoder.decode(last);
    }
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
function streamTransport({ input, output }, end) {
  return {
    read(onBytes, onEnd) {
      const readAll = async () => {
        for await (const bytes of input) {
          onBytes(bytes);
        }
      };
      readAll().then(onEnd, onEnd); // A stream that breaks has ended too.
    },
    write: output,
    end,
  };
}
/** Takes stdin and stdout for the wire, and sends everything else that would be printed to the log. */
function stdioTransport(log) {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const writeLog = stderr.write.bind(stderr);
  const crash = (error) => {
    log.error("The plugin broke down", { error });
    writeLog("", () => process.exit(1)); // Behind the lines before it.
  };
  stdout.write = (chunk, ...rest) => {
    printTo(log.info, chunk);
    const done = rest.at(-1);
    if (typeof done === "function") {
      queueMicrotask(() => done());
    }
    return true;
  };
  redirectConsole(log);
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  return {
    read(onBytes, onEnd) {
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
function printTo(print, chunk) {
  const text = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
  if (text.trim() !== "") {
    print(text.replace(/\n$/, ""));
  }
}
/** Sends every printing method of `console` to the log; formatting is loaded with the first line printed. */
function redirectConsole(log) {
  const formatters = new Map();
  const formatter = (print) => {
    const known = formatters.get(print);
    if (known) {
      return known;
    }
    const { Console } = process.getBuiltinModule("node:console");
    const write = (text) => printTo(print, text);
    const stream = { write, listenerCount: () => 0, on() {}, once() {}, removeListener() {} };
    const made = new Console(stream);
    formatters.set(print, made);
    return made;
  };
  const target = console;
  const levels = {
    debug: log.debug,
    trace: log.debug,
    warn: log.warn,
    error: log.error,
    assert: log.error,
  };
  for (const name of Object.keys(target)) {
    if (typeof target[name] !== "function" || name === "Console") {
      continue;
    }
    target[name] = (...values) => {
      const made = formatter(levels[name] ?? log.info);
      (made[name] ?? made.log)?.(...values);
    };
  }
}
function createLog(write) {
  const least = Math.max(0, LEVELS.indexOf(process.env.KAGED_LOG_LEVEL ?? "info"));
  const method = (level) => (message, fields) => {
    if (LEVELS.indexOf(level) < least) {
      return;
    }
    const head = { level, msg: message, time: new Date().toISOString() };
    const entry = { ...head, ...fields, ...head };
    const text = attempt(() => JSON.stringify(entry, loggable)) ?? JSON.stringify(head);
    write(text + "\n");
  };
  return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error") };
}
function loggable(_key, value) {
  if (value instanceof Error) {
    return value.stack ?? String(value);
  }
  return typeof value === "bigint" ? String(value) : value;
}
const HOOK_PREFIX = "kaged.hook.";
const METHOD_NAME = /^(?!kaged\.|system\.)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,3}$/;
const METHOD_RULE = "names have 2 to 4 parts like presets.list and do not start with kaged. or system.";
const SHORT_NAME = /^[a-z][a-z0-9_]*$/;
const SYSTEM_METHODS = new Set(["config.update", "projects.activated", "projects.deactivated"]);
/** Every method the host may call, under its name on the wire. */
function routes({ name, methods = {}, tools = {}, hooks = {} }) {
  const handlers = new Map();
  const add = (wireName, handler) => {
    if (typeof handler !== "function") {
      throw new TypeError(`Cannot call "${wireName}": its handler is no function`);
    }
    if (handlers.has(wireName)) {
      throw new TypeError(`Cannot tell the tool "${wireName}" from the method of that name`);
    }
    handlers.set(wireName, handler);
  };
  for (const [method, handler] of Object.entries(methods)) {
    if (!METHOD_NAME.test(method)) {
      throw new TypeError(`Cannot offer the method "${method}": ${METHOD_RULE}`);
    }
    if (SYSTEM_METHODS.has(method)) {
      throw new TypeError(`Cannot offer the method "${method}": it is the host's`);
    }
    add(method, handler);
  }
  for (const [tool, handler] of Object.entries(tools)) {
    if (!SHORT_NAME.test(tool)) {
      throw new TypeError(`Cannot offer the tool "${tool}": names look like add_note`);
    }
    add(`${name}.${tool}`, handler);
  }
  for (const [hook, handler] of Object.entries(hooks)) {
    if (!SHORT_NAME.test(hook)) {
      throw new TypeError(`Cannot subscribe to "${hook}": names look like on_session_start`);
    }
    add(HOOK_PREFIX + hook, handler);
  }
  return handlers;
}
const line = (message) => JSON.stringify({ jsonrpc: "2.0", ...message });
const hostGone = () => new PluginError("The host is gone", { code: -32603 });
const isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isId = (value) => value === null || typeof value === "number" || typeof value === "string";
const isPromise = (value) => typeof value?.then === "function";
const isOwnCode = (code) => code === -32602 || (code >= -32099 && code <= -32000);
/** Whether a line is longer than the cap. A UTF-16 unit takes at most 3 bytes, so most need no count. */
const isOversize = (text) => text.length * 3 > MAX_LINE_BYTES && new TextEncoder().encode(text).length > MAX_LINE_BYTES;
/** Causes looked at: fetch alone says no more than "fetch failed", and a chain may lead back to its start. */
const MAX_CAUSES = 3;
/** The message of an error, and those of its causes. */
function messageOf(thrown) {
  if (!(thrown instanceof Error)) {
    return String(thrown);
  }
  let said = thrown.message;
  let { cause } = thrown;
  for (let count = 0; count < MAX_CAUSES && cause instanceof Error; count++) {
    if (!said.includes(cause.message)) {
      said += `: ${cause.message}`;
    }
    cause = cause.cause;
  }
  return said;
}
function attempt(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}
