// Made by scripts/generators/plugin_bundle.ts from plugins/smart-compactor/src: do not edit.
// deno-lint-ignore-file
// src/sdk/mod.ts
import process from "node:process";

class PluginError extends Error {
  code;
  constructor(message, options = {}) {
    super(message);
    this.name = "PluginError";
    this.code = options.code ?? -32000;
    if (options.data !== undefined) {
      this.data = options.data;
    }
  }
}
function createPlugin(definition) {
  return new WirePlugin(definition);
}
var API_VERSION = 1;
var MAX_LINE_BYTES = 4 * 1024 * 1024;
var FOLDER_VARIABLES = { config: "KAGED_CONFIG_DIR", project: "KAGED_PROJECT_DIR", plugin: "KAGED_PLUGIN_DIR" };
var LEVELS = ["debug", "info", "warn", "error"];

class Prepared {
  sql;
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
    if (prefix === "" || segments.includes("..") || path.includes("\x00")) {
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
  #loseHost(code) {
    this.#hostGone = true;
    for (const { reject } of this.#asked.values()) {
      reject(hostGone());
    }
    this.#asked.clear();
    this.#end(code);
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
    } else if (isId(id) && (("result" in message) || ("error" in message))) {
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
      this.#end(0);
    } else if (method === "system.cancel" && isRecord(params)) {
      this.#calls.get(params.id)?.abort("cancelled");
    } else if (method.startsWith("projects.")) {
      this.#project(method, isRecord(params) ? params : {});
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
    const short = message.length > 1e4 ? message.slice(0, 1e4) + "…" : message;
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
  #write(text) {
    if (this.#outgoing === "") {
      queueMicrotask(() => this.#flush());
    }
    this.#outgoing += text + `
`;
  }
  #flush() {
    const text = this.#outgoing;
    this.#outgoing = "";
    if (text !== "") {
      this.#written = this.#transport?.write(text);
    }
  }
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
    return (this.#controller ??= new AbortController()).signal;
  }
  get user_id() {
    return this.operator_id;
  }
  get project() {
    return this.project_id;
  }
  get progress() {
    return (progress, total, message) => this.#report({ progress, total, message });
  }
  abort(why) {
    const controller = this.#controller ??= new AbortController();
    controller.abort(new PluginError(`The call was stopped: ${why}`));
  }
}

class LineReader {
  #pieces = [];
  #size = 0;
  #decoder = new TextDecoder();
  push(bytes, onLine) {
    let start = 0;
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
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
      readAll().then(onEnd, onEnd);
    },
    write: output,
    end,
  };
}
function stdioTransport(log) {
  const { stdin, stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  const writeLog = stderr.write.bind(stderr);
  const crash = (error) => {
    log.error("The plugin broke down", { error });
    writeLog("", () => process.exit(1));
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
      stdout.on("error", onEnd);
    },
    write: (text) => new Promise((resolve) => void write(text, resolve)),
    end: (code) => void writeLog("", () => process.exit(code)),
  };
}
function printTo(print, chunk) {
  const text = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
  if (text.trim() !== "") {
    print(text.replace(/\n$/, ""));
  }
}
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
    write(
      text + `
`,
    );
  };
  return { debug: method("debug"), info: method("info"), warn: method("warn"), error: method("error") };
}
function loggable(_key, value) {
  if (value instanceof Error) {
    return value.stack ?? String(value);
  }
  return typeof value === "bigint" ? String(value) : value;
}
var HOOK_PREFIX = "kaged.hook.";
var METHOD_NAME = /^(?!kaged\.|system\.)[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*){1,3}$/;
var METHOD_RULE = "names have 2 to 4 parts like presets.list and do not start with kaged. or system.";
var SHORT_NAME = /^[a-z][a-z0-9_]*$/;
var SYSTEM_METHODS = new Set(["config.update", "projects.activated", "projects.deactivated"]);
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
var line = (message) => JSON.stringify({ jsonrpc: "2.0", ...message });
var hostGone = () => new PluginError("The host is gone", { code: -32603 });
var isRecord = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
var isId = (value) => value === null || typeof value === "number" || typeof value === "string";
var isPromise = (value) => typeof value?.then === "function";
var isOwnCode = (code) => code === -32602 || code >= -32099 && code <= -32000;
var isOversize = (text) => text.length * 3 > MAX_LINE_BYTES && new TextEncoder().encode(text).length > MAX_LINE_BYTES;
var MAX_CAUSES = 3;
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
    return;
  }
}

// plugins/shared/message_text.ts
var CODE_BLOCK = /^```[^]*?^```/gm;
function textOf({ content }) {
  if (typeof content === "string") {
    return content;
  }
  if (!Array.isArray(content)) {
    return "";
  }
  return content.map((part) => {
    const { text } = Object(part);
    return typeof text === "string" ? text : "";
  }).filter(Boolean).join(`
`);
}
function proseOf(message) {
  return withoutPlugins(textOf(message)).replace(
    CODE_BLOCK,
    `
`,
  );
}
function withoutPlugins(text) {
  const rest = [];
  let at = 0;
  for (let open = text.indexOf("<plugin:"); open >= 0; open = text.indexOf("<plugin:", at)) {
    const close = text.indexOf("</plugin:", open);
    const end = close < 0 ? -1 : text.indexOf(">", close);
    if (end < 0) {
      break;
    }
    rest.push(text.slice(at, open));
    at = end + 1;
  }
  return [...rest, text.slice(at)].join(`
`);
}
var MAX_SENTENCE = 400;
var LIST_MARK = /^\s*(?:[-*+•>]|\d{1,3}[.)]|#{1,6})\s+/;
function sentencesOf(text) {
  const lines = text.split(/\r?\n/).map((line) => line.replace(LIST_MARK, "").trim());
  const sentences = lines.flatMap((line) => line.split(/(?<=[.!?])\s+(?=\S)/));
  return sentences.map((sentence) => sentence.replace(/\s+/g, " ").trim()).filter((sentence) =>
    sentence.length >= 8 && sentence.length <= MAX_SENTENCE
  );
}
function normalized(text) {
  return text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").replace(/^[\s"'`]+|[\s"'`.!;,:]+$/g, "");
}
var NAMED_SECRET = /\b(?:password|passwd|passphrase|secret|api[_ -]?key|token)\b["' ]{0,3}(?:is|=|:)/i;
var SECRET_SHAPE = /-----BEGIN |\b(?:sk|pk|rk|ghp|gho|ghs|glpat|xox[abprs])[-_][A-Za-z0-9_-]{10,}|\bAKIA[0-9A-Z]{16}\b/;
var LONG_WORD = /[A-Za-z0-9+_=-]{32,}/g;
function looksSecret(text) {
  const isRandom = (word) => /\d/.test(word) && /[a-z]/.test(word) && /[A-Z]/.test(word);
  return NAMED_SECRET.test(text) || SECRET_SHAPE.test(text) || (text.match(LONG_WORD) ?? []).some(isRandom);
}

// plugins/shared/statements.ts
var DECISION =
  /\b(?:decided|decision|agreed|settled on|going with|go with|chose|(?:we|I)(?:'ll| will| shall) (?:use|keep|store|ship|write|drop|move|run|stay)|let's (?:use|keep|go|drop|move|stay))\b/i;
var isQuestion = (sentence) => sentence.endsWith("?");
function decisionsOf(messages) {
  const said = messages.filter(({ role }) => role === "user" || role === "assistant").flatMap((message) =>
    sentencesOf(proseOf(message))
  );
  return distinct(
    said.filter((sentence) => !isQuestion(sentence) && DECISION.test(sentence) && !looksSecret(sentence)),
  );
}
var PATH = /^(?:~|\.{1,2})?(?:\/?[\p{L}\d_@.+-]+)(?:\/[\p{L}\d_@.+-]+)+$/u;
var FILE =
  /^[\p{L}\d_-][\p{L}\d_.-]*\.(?:c|cc|cpp|cs|css|go|h|html|java|js|json|jsx|kt|lock|md|mjs|php|py|rb|rs|sh|sql|swift|toml|ts|tsx|txt|vue|xml|ya?ml)$/iu;
function pathsOf(messages) {
  const texts = messages.map((message) => {
    const calls = message.tool_calls === undefined ? "" : JSON.stringify(message.tool_calls).replaceAll("\\", " ");
    return `${textOf(message)}
${calls}`;
  });
  const words = texts.flatMap((text) => text.split(/[\s"'`<>()[\]{},;|=*]+/));
  const paths = words.map((word) => word.replace(/[.:!?]+$/, "").replace(/:\d+(?::\d+)?$/, "")).filter((word) =>
    word.length >= 4 && word.length <= 200 && (FILE.test(word) || isPath(word))
  );
  return [...new Set(paths)];
}
var isPath = (word) => PATH.test(word) && (/\/[^/]*\.[\p{L}\d]{1,8}$/u.test(word) || /^(?:~|\.{1,2})?\//.test(word));
var SMALL_WORDS = new Set(
  "about after also and any are but can could did does for from had has have how into its let may not now off our out should than that the their them then there they this use was were what when where which who why will with would you your"
    .split(" "),
);
function questionsOf(messages, follow = []) {
  const turnsOf = (said) =>
    said.filter(({ role }) => role === "user" || role === "assistant").map((message) => ({
      role: message.role,
      text: proseOf(message),
    })).filter(({ text }) => text.trim() !== "");
  const turns = turnsOf(messages);
  const all = [...turns, ...turnsOf(follow)];
  const open = turns.flatMap(({ role, text }, index) => {
    const reply = all.slice(index + 1).find((turn) => turn.role !== role);
    const answered = new Set(reply ? weightyWords(reply.text) : []);
    return sentencesOf(text).filter((sentence) =>
      isQuestion(sentence) && !weightyWords(sentence).some((word) => answered.has(word))
    );
  });
  return distinct(open.filter((question) => !looksSecret(question)));
}
function weightyWords(text) {
  return (text.toLowerCase().match(/[\p{L}\d]{3,40}/gu) ?? []).filter((word) => !SMALL_WORDS.has(word));
}
function distinct(texts) {
  const seen = new Map();
  for (const text of texts) {
    const key = normalized(text);
    if (key !== "" && !seen.has(key)) {
      seen.set(key, text);
    }
  }
  return [...seen.values()];
}

// plugins/shared/digest.ts
var TITLES = {
  asked: "Asked",
  decided: "Decided",
  open: "Open questions",
  files: "Files",
};
var SECTIONS = Object.keys(TITLES);
var BY_WEIGHT = ["decided", "open", "files", "asked"];
var MAX_LINE = 300;
function digestOf(messages, follow = []) {
  const requests = messages.filter(({ role, added_by }) => role === "user" && added_by === undefined).map((message) =>
    sentencesOf(proseOf(message))[0] ?? ""
  ).filter(Boolean);
  return {
    asked: distinct(requests),
    decided: decisionsOf(messages),
    files: pathsOf(messages),
    open: questionsOf(messages, follow),
  };
}
function mergeDigests(older, newer) {
  const merged = (section) => distinct([...older[section], ...newer[section]]);
  return { asked: merged("asked"), decided: merged("decided"), files: merged("files"), open: merged("open") };
}
function isEmptyDigest(digest) {
  return SECTIONS.every((section) => digest[section].length === 0);
}
function writeDigest(digest, { maxBytes, maxItems }) {
  const chosen = new Map();
  let left = maxBytes;
  for (const section of BY_WEIGHT) {
    for (const entry of digest[section].slice(-maxItems).reverse()) {
      const lines = chosen.get(section);
      const cost = byteLength(entryLine(entry)) + 1 + (lines ? 0 : byteLength(titleLine(section)) + 2);
      if (cost > left) {
        continue;
      }
      left -= cost;
      if (lines) {
        lines.add(entry);
      } else {
        chosen.set(section, new Set([entry]));
      }
    }
  }
  const blocks = SECTIONS.filter((section) => chosen.has(section)).map((section) =>
    [titleLine(section), ...digest[section].filter((entry) => chosen.get(section).has(entry)).map(entryLine)].join(`
`)
  );
  return blocks.join(`

`);
}
function readDigest(text) {
  const read = { asked: [], decided: [], files: [], open: [] };
  let section = null;
  for (
    const line of text.split(`
`)
  ) {
    const title = SECTIONS.find((each) => line === titleLine(each));
    if (title) {
      section = title;
    } else if (line.startsWith("- ") && section) {
      read[section].push(line.slice(2));
    }
  }
  return read;
}
var titleLine = (section) => `## ${TITLES[section]}`;
var entryLine = (entry) => `- ${entry.length > MAX_LINE ? `${entry.slice(0, MAX_LINE - 1).toWellFormed()}…` : entry}`;
function byteLength(text) {
  return new TextEncoder().encode(text).length;
}

// plugins/smart-compactor/src/compact.ts
var NAME = "smart-compactor";
var BYTES_PER_TOKEN = 4;
var ADOPTION_BYTES = 100;
function settingsOf(config) {
  const { digest_tokens: tokens = 600, max_items: maxItems = 20, keep_requests: keepRequests = true } = config;
  if (!Number.isInteger(tokens) || tokens < 50) {
    throw new RangeError("digest_tokens is no whole number from 50");
  }
  if (!Number.isInteger(maxItems) || maxItems < 1) {
    throw new RangeError("max_items is no whole number from 1");
  }
  return { digestBytes: tokens * BYTES_PER_TOKEN, maxItems, keepRequests: keepRequests !== false };
}
function compactWindow(params, settings) {
  const { messages_being_compacted: old = [], messages_remaining: remaining = [] } = params;
  const ids = old.flatMap(({ id }) => typeof id === "string" ? [id] : []);
  if (old.length < 2 || ids.length < old.length) {
    throw notApplicable("there are not two messages that may go");
  }
  const { count, digest } = gather(old, remaining);
  const chars = sum(old, (message) => lengthOf(message.content));
  const bytes = sum(old, (message) => byteLength(JSON.stringify(message)));
  const content = write(digest, count, settings);
  const taken = byteLength(JSON.stringify(content)) + ADOPTION_BYTES + BYTES_PER_TOKEN;
  if (content.length >= chars || taken > bytes) {
    throw notApplicable("a digest would be no shorter than the messages");
  }
  const place = placeIn(remaining);
  const added = { role: "user", content };
  return {
    role: "compactor",
    messages: [...remaining.slice(0, place), added, ...remaining.slice(place)],
    superseded: ids,
    summary: `Replaced ${ids.length} messages by a digest: ${counts(digest)}`,
  };
}
function retained(params) {
  const { messages_being_compacted: gone = [], messages_remaining: remaining = [] } = params;
  const { decided, open } = digestOf(gone, remaining);
  const retain = [...decided, ...open];
  return retain.length > 0 ? { retain } : null;
}
function reminder(params, settings) {
  const { messages_being_compacted: gone = [], messages_remaining: remaining = [], strategy } = params;
  if (strategy === "compactor" || gone.length === 0) {
    return null;
  }
  const { count, digest } = gather(gone, remaining);
  return isEmptyDigest(digest) ? null : { inject: write(digest, count, settings) };
}
function gather(messages, follow) {
  let count = 0;
  let before = { asked: [], decided: [], files: [], open: [] };
  const plain = messages.filter((message) => {
    const written = digestIn(message);
    count += written?.count ?? 1;
    if (written) {
      before = mergeDigests(before, written.digest);
    }
    return written === null;
  });
  return { count, digest: mergeDigests(before, digestOf(plain, follow)) };
}
var HEAD = /^Digest of (\d{1,9}) earlier messages, in place of them:/m;
function digestIn(message) {
  if (!String(message.added_by ?? "").split(", ").includes(NAME)) {
    return null;
  }
  const text = textOf(message);
  const head = HEAD.exec(text);
  if (!head) {
    return null;
  }
  return { count: Number(head[1]), digest: readDigest(text.slice(head.index).split("</plugin:")[0]) };
}
function write(digest, count, { digestBytes, maxItems, keepRequests }) {
  const head = `Digest of ${count} earlier messages, in place of them:`;
  const room = { maxBytes: digestBytes - byteLength(head) - 2, maxItems };
  const body = writeDigest(keepRequests ? digest : { ...digest, asked: [] }, room);
  return body === "" ? `${head} nothing was decided, asked or named.` : `${head}

${body}`;
}
function placeIn(remaining) {
  const first = remaining.findIndex(({ role }) => role !== "system" && role !== "developer");
  const place = first < 0 ? remaining.length : first;
  const isPlain = (message) =>
    typeof message.content === "string" && !("tool_calls" in message) && !("tool_call_id" in message);
  return remaining.slice(0, place).every(isPlain) ? place : 0;
}
function counts({ decided, open, files, asked }) {
  const parts = [[decided, "decision"], [open, "open question"], [files, "file"], [asked, "request"]];
  return parts.map(([entries, name]) => `${entries.length} ${name}${entries.length === 1 ? "" : "s"}`).join(", ");
}
function lengthOf(content) {
  return typeof content === "string" ? content.length : (JSON.stringify(content) ?? "").length;
}
var sum = (items, amount) => items.reduce((total, item) => total + amount(item), 0);
function notApplicable(why) {
  return new PluginError(`Nothing to compact: ${why}`, { code: -32006 });
}

// plugins/smart-compactor/src/main.ts
createPlugin({
  name: "smart-compactor",
  version: "0.1.0",
  onConfigUpdate: (config) => void settingsOf(config),
  hooks: {
    pre_compact: (params, { config }) =>
      params.role === "compactor" ? compactWindow(params, settingsOf(config)) : retained(params),
    post_compact: (params, { config }) => reminder(params, settingsOf(config)),
  },
}).start();
