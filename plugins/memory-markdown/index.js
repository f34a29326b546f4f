// Made by scripts/generators/plugin_bundle.ts from plugins/memory-markdown/src: do not edit.
// deno-lint-ignore-file
/*!
 * Contains minisearch 7.2.0 (MIT):
 *
 * Copyright 2022 Luca Ongaro
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */
// plugins/memory-markdown/src/main.ts
import { join as join3 } from "node:path";

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

// plugins/memory-markdown/src/memories.ts
import { existsSync, mkdirSync as mkdirSync2 } from "node:fs";
import { join as join2 } from "node:path";

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
var FACT = [
  /\b(?:remember|note)(?: that)?\b[:,]? /i,
  /\b(?:I|we|the team|the user|they) (?:really |usually |always |never |mostly )?(?:prefers?|likes?|uses?|wants?|needs?|avoids?|deploys?|runs?|targets?|works?|lives?)\b/i,
  /\b(?:my|our) [\p{L}\d ._/-]{2,40} (?:is|are|was|were|lives?|runs?|uses?|has|have|must|goes|go)\b/iu,
  /^(?:please )?(?:always|never|do not|don't|avoid|prefer|use)\b/i,
  /\bthe [\p{L}\d ._/-]{2,40} (?:is|are|lives in|runs on|must be) (?!it\b|that\b|this\b|not sure)/iu,
];
var REMEMBER = /^.{0,40}?\b(?:remember|note)(?: that)?\b[:,]? */i;
var isQuestion = (sentence) => sentence.endsWith("?");
function factsOf(messages) {
  const spoken = messages.filter(({ role }) => role === "user").flatMap((message) => sentencesOf(proseOf(message)));
  const facts = spoken.filter((sentence) => !isQuestion(sentence) && FACT.some((mark) => mark.test(sentence)));
  return distinct([...facts.map(bare), ...decisionsOf(messages)].filter((text) => !looksSecret(text)));
}
function bare(sentence) {
  const rest = sentence.replace(REMEMBER, "");
  return rest.length >= 8 ? rest : sentence;
}
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

// plugins/memory-markdown/src/memory_file.ts
import { createHash } from "node:crypto";

// plugins/memory-markdown/src/settings.ts
var BYTES_PER_TOKEN = 4;
function settingsOf(config) {
  const whole = (name, fallback, [min, max]) => {
    const value = config[name] ?? fallback;
    if (Number.isInteger(value) && value >= min && value <= max) {
      return value;
    }
    throw new RangeError(`${name} is no whole number from ${min} to ${max}`);
  };
  const { isolation = "agent", store = "config:/memory", tags = [] } = config;
  if (isolation !== "agent" && isolation !== "project") {
    throw new RangeError("isolation is neither agent nor project");
  }
  if (typeof store !== "string" || !/^config:\/memory(\/|$)/.test(store)) {
    throw new RangeError("store is not config:/memory or a folder below it, the one place this plugin may write");
  }
  if (!Array.isArray(tags) || !tags.every((tag) => typeof tag === "string")) {
    throw new TypeError("tags is no list of texts");
  }
  return {
    isolation,
    store,
    tags: tagsOf(tags),
    recallBytes: whole("recall_budget", 1000, [50, 8000]) * BYTES_PER_TOKEN,
    maxInjected: whole("max_injected", 12, [0, 100]),
    retainEveryNTurns: whole("retain_every_n_turns", 1, [1, 20]),
    retainFacts: config.retain_facts !== false,
    retainSummary: config.retain_summary !== false,
  };
}
function tagsOf(tags) {
  const tidy = tags.map((tag) => tag.normalize("NFKC").replace(/[\s,[\]"']+/g, " ").trim().toLowerCase().slice(0, 64));
  return [...new Set(tidy.filter((tag) => tag !== ""))];
}

// plugins/memory-markdown/src/memory_file.ts
var MAX_FACT = 400;
var KINDS = new Set(["fact", "note", "session"]);
function idOf(content) {
  const key = normalized(content);
  const plain = key.normalize("NFD").replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
  return `${plain || "memory"}-${createHash("sha256").update(key).digest("hex").slice(0, 12)}`;
}
function isId2(text) {
  return /^[a-z0-9][a-z0-9_-]{0,99}$/i.test(text);
}
function kindOf(content) {
  return content.length <= MAX_FACT && !content.includes(`
`)
    ? "fact"
    : "note";
}
function formatMemory({ kind, content, tags, created, context, source, session }) {
  const field = (name, value) => value === undefined ? [] : [`${name}: ${JSON.stringify(value)}`];
  const head = [
    `kind: ${kind}`,
    `created: ${created}`,
    ...tags.length > 0 ? field("tags", tags) : [],
    ...field("context", context),
    ...field("source", source),
    ...field("session", session),
  ];
  return `---
${
    head.join(`
`)
  }
---

${content.trim()}
`;
}
function parseMemory(id, text, modified) {
  const { fields, body } = splitFrontMatter(text);
  const content = body.trim();
  if (content === "") {
    throw new Error("it holds no text");
  }
  const { kind, tags, context, source, session } = fields;
  const one = (value) => Array.isArray(value) ? value.join(", ") : value;
  return {
    id,
    kind: typeof kind === "string" && KINDS.has(kind) ? kind : kindOf(content),
    content,
    tags: tagsOf(Array.isArray(tags) ? tags : tags ? tags.split(",") : []).slice(0, 50),
    created: timeOf(fields.created) ?? modified.toISOString(),
    ...optional("context", one(context)),
    ...optional("source", one(source)),
    ...optional("session", one(session)),
  };
}
function timeOf(text) {
  if (typeof text !== "string") {
    return null;
  }
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
var optional = (name, value) => value ? { [name]: value } : {};
var MAX_HEAD_LINES = 100;
function splitFrontMatter(text) {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  if (lines[0]?.trimEnd() !== "---") {
    return {
      fields: {},
      body: lines.join(`
`),
    };
  }
  const end = lines.slice(1, MAX_HEAD_LINES + 1).findIndex((line) => line.trimEnd() === "---") + 1;
  if (end === 0) {
    throw new Error("its front matter has no end");
  }
  const fields = Object.create(null);
  let list = null;
  for (const line of lines.slice(1, end)) {
    const item = /^\s*-\s+(.*)$/s.exec(line);
    if (item && list) {
      list.push(scalar(item[1]));
      continue;
    }
    const [, name, value = ""] = /^([A-Za-z_][\w-]{0,63}):(?:\s+(.*))?$/s.exec(line) ?? [];
    list = null;
    if (name === undefined) {
      continue;
    }
    if (value.trim() === "") {
      fields[name] = list = [];
    } else {
      fields[name] = value.trim().startsWith("[") ? flowList(value.trim()) : scalar(value);
    }
  }
  return {
    fields,
    body: lines.slice(end + 1).join(`
`),
  };
}
function flowList(text) {
  const whole = quoted(text);
  if (Array.isArray(whole)) {
    return whole.map((each) => typeof each === "string" ? each : JSON.stringify(each));
  }
  return text.replace(/^\[|\]$/g, "").split(",").map(scalar).filter((each) => each !== "");
}
function scalar(text) {
  const plain = text.trim();
  const value = plain.startsWith('"') ? quoted(plain) : undefined;
  if (typeof value === "string") {
    return value;
  }
  return /^'.*'$/s.test(plain) ? plain.slice(1, -1).replaceAll("''", "'") : plain;
}
function quoted(text) {
  try {
    return JSON.parse(text);
  } catch {
    return;
  }
}

// plugins/memory-markdown/src/memory_store.ts
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

// plugins/memory-markdown/src/pages.ts
var README = `# Memory

Kept by the plugin memory-markdown. Every memory is a markdown file with a little YAML on top:

    <project>/agent/               the primary agent
    <project>/subagent/<name>/     a subagent
    <project>/project/             all agents of the project (isolation: project)

Edit or delete a file and the agent remembers accordingly. A file you add is a memory too; the front matter may be left
out. \`facts.md\` in each folder is a list made from its files: changes to that one page are lost.
`;
var MAX_LISTED = 1000;
function factsPage(memories) {
  const facts = memories.filter(({ kind }) => kind === "fact");
  const lines = facts.slice(0, MAX_LISTED).map(({ content, tags, id }) =>
    `- ${content.replace(/\s+/g, " ")}${
      tags.map((tag) => ` #${tag.replace(/\s+/g, "-")}`).join("")
    } ([${id}](${id}.md))`
  );
  const more = facts.length > MAX_LISTED
    ? [`
…and ${facts.length - MAX_LISTED} more.`]
    : [];
  const head = `# Facts

Made from the files in this folder, newest first. Changes to this page are lost.
`;
  return [head, ...lines.length > 0 ? lines : ["None yet."], ...more].join(`
`) + `
`;
}

// node_modules/minisearch/dist/es/index.js
var ENTRIES = "ENTRIES";
var KEYS = "KEYS";
var VALUES = "VALUES";
var LEAF = "";

class TreeIterator {
  constructor(set, type) {
    const node = set._tree;
    const keys = Array.from(node.keys());
    this.set = set;
    this._type = type;
    this._path = keys.length > 0 ? [{ node, keys }] : [];
  }
  next() {
    const value = this.dive();
    this.backtrack();
    return value;
  }
  dive() {
    if (this._path.length === 0) {
      return { done: true, value: undefined };
    }
    const { node, keys } = last$1(this._path);
    if (last$1(keys) === LEAF) {
      return { done: false, value: this.result() };
    }
    const child = node.get(last$1(keys));
    this._path.push({ node: child, keys: Array.from(child.keys()) });
    return this.dive();
  }
  backtrack() {
    if (this._path.length === 0) {
      return;
    }
    const keys = last$1(this._path).keys;
    keys.pop();
    if (keys.length > 0) {
      return;
    }
    this._path.pop();
    this.backtrack();
  }
  key() {
    return this.set._prefix + this._path.map(({ keys }) => last$1(keys)).filter((key) => key !== LEAF).join("");
  }
  value() {
    return last$1(this._path).node.get(LEAF);
  }
  result() {
    switch (this._type) {
      case VALUES:
        return this.value();
      case KEYS:
        return this.key();
      default:
        return [this.key(), this.value()];
    }
  }
  [Symbol.iterator]() {
    return this;
  }
}
var last$1 = (array) => {
  return array[array.length - 1];
};
var fuzzySearch = (node, query, maxDistance) => {
  const results = new Map();
  if (query === undefined) {
    return results;
  }
  const n = query.length + 1;
  const m = n + maxDistance;
  const matrix = new Uint8Array(m * n).fill(maxDistance + 1);
  for (let j = 0; j < n; ++j) {
    matrix[j] = j;
  }
  for (let i = 1; i < m; ++i) {
    matrix[i * n] = i;
  }
  recurse(node, query, maxDistance, results, matrix, 1, n, "");
  return results;
};
var recurse = (node, query, maxDistance, results, matrix, m, n, prefix) => {
  const offset = m * n;
  key:
  for (const key of node.keys()) {
    if (key === LEAF) {
      const distance = matrix[offset - 1];
      if (distance <= maxDistance) {
        results.set(prefix, [node.get(key), distance]);
      }
    } else {
      let i = m;
      for (let pos = 0; pos < key.length; ++pos, ++i) {
        const char = key[pos];
        const thisRowOffset = n * i;
        const prevRowOffset = thisRowOffset - n;
        let minDistance = matrix[thisRowOffset];
        const jmin = Math.max(0, i - maxDistance - 1);
        const jmax = Math.min(n - 1, i + maxDistance);
        for (let j = jmin; j < jmax; ++j) {
          const different = char !== query[j];
          const rpl = matrix[prevRowOffset + j] + +different;
          const del = matrix[prevRowOffset + j + 1] + 1;
          const ins = matrix[thisRowOffset + j] + 1;
          const dist = matrix[thisRowOffset + j + 1] = Math.min(rpl, del, ins);
          if (dist < minDistance) {
            minDistance = dist;
          }
        }
        if (minDistance > maxDistance) {
          continue key;
        }
      }
      recurse(node.get(key), query, maxDistance, results, matrix, i, n, prefix + key);
    }
  }
};

class SearchableMap {
  constructor(tree = new Map(), prefix = "") {
    this._size = undefined;
    this._tree = tree;
    this._prefix = prefix;
  }
  atPrefix(prefix) {
    if (!prefix.startsWith(this._prefix)) {
      throw new Error("Mismatched prefix");
    }
    const [node, path] = trackDown(this._tree, prefix.slice(this._prefix.length));
    if (node === undefined) {
      const [parentNode, key] = last(path);
      for (const k of parentNode.keys()) {
        if (k !== LEAF && k.startsWith(key)) {
          const node = new Map();
          node.set(k.slice(key.length), parentNode.get(k));
          return new SearchableMap(node, prefix);
        }
      }
    }
    return new SearchableMap(node, prefix);
  }
  clear() {
    this._size = undefined;
    this._tree.clear();
  }
  delete(key) {
    this._size = undefined;
    return remove(this._tree, key);
  }
  entries() {
    return new TreeIterator(this, ENTRIES);
  }
  forEach(fn) {
    for (const [key, value] of this) {
      fn(key, value, this);
    }
  }
  fuzzyGet(key, maxEditDistance) {
    return fuzzySearch(this._tree, key, maxEditDistance);
  }
  get(key) {
    const node = lookup(this._tree, key);
    return node !== undefined ? node.get(LEAF) : undefined;
  }
  has(key) {
    const node = lookup(this._tree, key);
    return node !== undefined && node.has(LEAF);
  }
  keys() {
    return new TreeIterator(this, KEYS);
  }
  set(key, value) {
    if (typeof key !== "string") {
      throw new Error("key must be a string");
    }
    this._size = undefined;
    const node = createPath(this._tree, key);
    node.set(LEAF, value);
    return this;
  }
  get size() {
    if (this._size) {
      return this._size;
    }
    this._size = 0;
    const iter = this.entries();
    while (!iter.next().done) {
      this._size += 1;
    }
    return this._size;
  }
  update(key, fn) {
    if (typeof key !== "string") {
      throw new Error("key must be a string");
    }
    this._size = undefined;
    const node = createPath(this._tree, key);
    node.set(LEAF, fn(node.get(LEAF)));
    return this;
  }
  fetch(key, initial) {
    if (typeof key !== "string") {
      throw new Error("key must be a string");
    }
    this._size = undefined;
    const node = createPath(this._tree, key);
    let value = node.get(LEAF);
    if (value === undefined) {
      node.set(LEAF, value = initial());
    }
    return value;
  }
  values() {
    return new TreeIterator(this, VALUES);
  }
  [Symbol.iterator]() {
    return this.entries();
  }
  static from(entries) {
    const tree = new SearchableMap();
    for (const [key, value] of entries) {
      tree.set(key, value);
    }
    return tree;
  }
  static fromObject(object) {
    return SearchableMap.from(Object.entries(object));
  }
}
var trackDown = (tree, key, path = []) => {
  if (key.length === 0 || tree == null) {
    return [tree, path];
  }
  for (const k of tree.keys()) {
    if (k !== LEAF && key.startsWith(k)) {
      path.push([tree, k]);
      return trackDown(tree.get(k), key.slice(k.length), path);
    }
  }
  path.push([tree, key]);
  return trackDown(undefined, "", path);
};
var lookup = (tree, key) => {
  if (key.length === 0 || tree == null) {
    return tree;
  }
  for (const k of tree.keys()) {
    if (k !== LEAF && key.startsWith(k)) {
      return lookup(tree.get(k), key.slice(k.length));
    }
  }
};
var createPath = (node, key) => {
  const keyLength = key.length;
  outer:
  for (let pos = 0; node && pos < keyLength;) {
    for (const k of node.keys()) {
      if (k !== LEAF && key[pos] === k[0]) {
        const len = Math.min(keyLength - pos, k.length);
        let offset = 1;
        while (offset < len && key[pos + offset] === k[offset]) {
          ++offset;
        }
        const child = node.get(k);
        if (offset === k.length) {
          node = child;
        } else {
          const intermediate = new Map();
          intermediate.set(k.slice(offset), child);
          node.set(key.slice(pos, pos + offset), intermediate);
          node.delete(k);
          node = intermediate;
        }
        pos += offset;
        continue outer;
      }
    }
    const child = new Map();
    node.set(key.slice(pos), child);
    return child;
  }
  return node;
};
var remove = (tree, key) => {
  const [node, path] = trackDown(tree, key);
  if (node === undefined) {
    return;
  }
  node.delete(LEAF);
  if (node.size === 0) {
    cleanup(path);
  } else if (node.size === 1) {
    const [key, value] = node.entries().next().value;
    merge(path, key, value);
  }
};
var cleanup = (path) => {
  if (path.length === 0) {
    return;
  }
  const [node, key] = last(path);
  node.delete(key);
  if (node.size === 0) {
    cleanup(path.slice(0, -1));
  } else if (node.size === 1) {
    const [key, value] = node.entries().next().value;
    if (key !== LEAF) {
      merge(path.slice(0, -1), key, value);
    }
  }
};
var merge = (path, key, value) => {
  if (path.length === 0) {
    return;
  }
  const [node, nodeKey] = last(path);
  node.set(nodeKey + key, value);
  node.delete(nodeKey);
};
var last = (array) => {
  return array[array.length - 1];
};
var OR = "or";
var AND = "and";
var AND_NOT = "and_not";

class MiniSearch {
  constructor(options) {
    if ((options === null || options === undefined ? undefined : options.fields) == null) {
      throw new Error('MiniSearch: option "fields" must be provided');
    }
    const autoVacuum = options.autoVacuum == null || options.autoVacuum === true
      ? defaultAutoVacuumOptions
      : options.autoVacuum;
    this._options = {
      ...defaultOptions,
      ...options,
      autoVacuum,
      searchOptions: { ...defaultSearchOptions, ...options.searchOptions || {} },
      autoSuggestOptions: { ...defaultAutoSuggestOptions, ...options.autoSuggestOptions || {} },
    };
    this._index = new SearchableMap();
    this._documentCount = 0;
    this._documentIds = new Map();
    this._idToShortId = new Map();
    this._fieldIds = {};
    this._fieldLength = new Map();
    this._avgFieldLength = [];
    this._nextId = 0;
    this._storedFields = new Map();
    this._dirtCount = 0;
    this._currentVacuum = null;
    this._enqueuedVacuum = null;
    this._enqueuedVacuumConditions = defaultVacuumConditions;
    this.addFields(this._options.fields);
  }
  add(document) {
    const { extractField, stringifyField, tokenize, processTerm, fields, idField } = this._options;
    const id = extractField(document, idField);
    if (id == null) {
      throw new Error(`MiniSearch: document does not have ID field "${idField}"`);
    }
    if (this._idToShortId.has(id)) {
      throw new Error(`MiniSearch: duplicate ID ${id}`);
    }
    const shortDocumentId = this.addDocumentId(id);
    this.saveStoredFields(shortDocumentId, document);
    for (const field of fields) {
      const fieldValue = extractField(document, field);
      if (fieldValue == null) {
        continue;
      }
      const tokens = tokenize(stringifyField(fieldValue, field), field);
      const fieldId = this._fieldIds[field];
      const uniqueTerms = new Set(tokens).size;
      this.addFieldLength(shortDocumentId, fieldId, this._documentCount - 1, uniqueTerms);
      for (const term of tokens) {
        const processedTerm = processTerm(term, field);
        if (Array.isArray(processedTerm)) {
          for (const t of processedTerm) {
            this.addTerm(fieldId, shortDocumentId, t);
          }
        } else if (processedTerm) {
          this.addTerm(fieldId, shortDocumentId, processedTerm);
        }
      }
    }
  }
  addAll(documents) {
    for (const document of documents) {
      this.add(document);
    }
  }
  addAllAsync(documents, options = {}) {
    const { chunkSize = 10 } = options;
    const acc = { chunk: [], promise: Promise.resolve() };
    const { chunk, promise } = documents.reduce(({ chunk, promise }, document, i) => {
      chunk.push(document);
      if ((i + 1) % chunkSize === 0) {
        return {
          chunk: [],
          promise: promise.then(() => new Promise((resolve) => setTimeout(resolve, 0))).then(() => this.addAll(chunk)),
        };
      } else {
        return { chunk, promise };
      }
    }, acc);
    return promise.then(() => this.addAll(chunk));
  }
  remove(document) {
    const { tokenize, processTerm, extractField, stringifyField, fields, idField } = this._options;
    const id = extractField(document, idField);
    if (id == null) {
      throw new Error(`MiniSearch: document does not have ID field "${idField}"`);
    }
    const shortId = this._idToShortId.get(id);
    if (shortId == null) {
      throw new Error(`MiniSearch: cannot remove document with ID ${id}: it is not in the index`);
    }
    for (const field of fields) {
      const fieldValue = extractField(document, field);
      if (fieldValue == null) {
        continue;
      }
      const tokens = tokenize(stringifyField(fieldValue, field), field);
      const fieldId = this._fieldIds[field];
      const uniqueTerms = new Set(tokens).size;
      this.removeFieldLength(shortId, fieldId, this._documentCount, uniqueTerms);
      for (const term of tokens) {
        const processedTerm = processTerm(term, field);
        if (Array.isArray(processedTerm)) {
          for (const t of processedTerm) {
            this.removeTerm(fieldId, shortId, t);
          }
        } else if (processedTerm) {
          this.removeTerm(fieldId, shortId, processedTerm);
        }
      }
    }
    this._storedFields.delete(shortId);
    this._documentIds.delete(shortId);
    this._idToShortId.delete(id);
    this._fieldLength.delete(shortId);
    this._documentCount -= 1;
  }
  removeAll(documents) {
    if (documents) {
      for (const document of documents) {
        this.remove(document);
      }
    } else if (arguments.length > 0) {
      throw new Error("Expected documents to be present. Omit the argument to remove all documents.");
    } else {
      this._index = new SearchableMap();
      this._documentCount = 0;
      this._documentIds = new Map();
      this._idToShortId = new Map();
      this._fieldLength = new Map();
      this._avgFieldLength = [];
      this._storedFields = new Map();
      this._nextId = 0;
    }
  }
  discard(id) {
    const shortId = this._idToShortId.get(id);
    if (shortId == null) {
      throw new Error(`MiniSearch: cannot discard document with ID ${id}: it is not in the index`);
    }
    this._idToShortId.delete(id);
    this._documentIds.delete(shortId);
    this._storedFields.delete(shortId);
    (this._fieldLength.get(shortId) || []).forEach((fieldLength, fieldId) => {
      this.removeFieldLength(shortId, fieldId, this._documentCount, fieldLength);
    });
    this._fieldLength.delete(shortId);
    this._documentCount -= 1;
    this._dirtCount += 1;
    this.maybeAutoVacuum();
  }
  maybeAutoVacuum() {
    if (this._options.autoVacuum === false) {
      return;
    }
    const { minDirtFactor, minDirtCount, batchSize, batchWait } = this._options.autoVacuum;
    this.conditionalVacuum({ batchSize, batchWait }, { minDirtCount, minDirtFactor });
  }
  discardAll(ids) {
    const autoVacuum = this._options.autoVacuum;
    try {
      this._options.autoVacuum = false;
      for (const id of ids) {
        this.discard(id);
      }
    } finally {
      this._options.autoVacuum = autoVacuum;
    }
    this.maybeAutoVacuum();
  }
  replace(updatedDocument) {
    const { idField, extractField } = this._options;
    const id = extractField(updatedDocument, idField);
    this.discard(id);
    this.add(updatedDocument);
  }
  vacuum(options = {}) {
    return this.conditionalVacuum(options);
  }
  conditionalVacuum(options, conditions) {
    if (this._currentVacuum) {
      this._enqueuedVacuumConditions = this._enqueuedVacuumConditions && conditions;
      if (this._enqueuedVacuum != null) {
        return this._enqueuedVacuum;
      }
      this._enqueuedVacuum = this._currentVacuum.then(() => {
        const conditions = this._enqueuedVacuumConditions;
        this._enqueuedVacuumConditions = defaultVacuumConditions;
        return this.performVacuuming(options, conditions);
      });
      return this._enqueuedVacuum;
    }
    if (this.vacuumConditionsMet(conditions) === false) {
      return Promise.resolve();
    }
    this._currentVacuum = this.performVacuuming(options);
    return this._currentVacuum;
  }
  async performVacuuming(options, conditions) {
    const initialDirtCount = this._dirtCount;
    if (this.vacuumConditionsMet(conditions)) {
      const batchSize = options.batchSize || defaultVacuumOptions.batchSize;
      const batchWait = options.batchWait || defaultVacuumOptions.batchWait;
      let i = 1;
      for (const [term, fieldsData] of this._index) {
        for (const [fieldId, fieldIndex] of fieldsData) {
          for (const [shortId] of fieldIndex) {
            if (this._documentIds.has(shortId)) {
              continue;
            }
            if (fieldIndex.size <= 1) {
              fieldsData.delete(fieldId);
            } else {
              fieldIndex.delete(shortId);
            }
          }
        }
        if (this._index.get(term).size === 0) {
          this._index.delete(term);
        }
        if (i % batchSize === 0) {
          await new Promise((resolve) => setTimeout(resolve, batchWait));
        }
        i += 1;
      }
      this._dirtCount -= initialDirtCount;
    }
    await null;
    this._currentVacuum = this._enqueuedVacuum;
    this._enqueuedVacuum = null;
  }
  vacuumConditionsMet(conditions) {
    if (conditions == null) {
      return true;
    }
    let { minDirtCount, minDirtFactor } = conditions;
    minDirtCount = minDirtCount || defaultAutoVacuumOptions.minDirtCount;
    minDirtFactor = minDirtFactor || defaultAutoVacuumOptions.minDirtFactor;
    return this.dirtCount >= minDirtCount && this.dirtFactor >= minDirtFactor;
  }
  get isVacuuming() {
    return this._currentVacuum != null;
  }
  get dirtCount() {
    return this._dirtCount;
  }
  get dirtFactor() {
    return this._dirtCount / (1 + this._documentCount + this._dirtCount);
  }
  has(id) {
    return this._idToShortId.has(id);
  }
  getStoredFields(id) {
    const shortId = this._idToShortId.get(id);
    if (shortId == null) {
      return;
    }
    return this._storedFields.get(shortId);
  }
  search(query, searchOptions = {}) {
    const { searchOptions: globalSearchOptions } = this._options;
    const searchOptionsWithDefaults = { ...globalSearchOptions, ...searchOptions };
    const rawResults = this.executeQuery(query, searchOptions);
    const results = [];
    for (const [docId, { score, terms, match }] of rawResults) {
      const quality = terms.length || 1;
      const result = {
        id: this._documentIds.get(docId),
        score: score * quality,
        terms: Object.keys(match),
        queryTerms: terms,
        match,
      };
      Object.assign(result, this._storedFields.get(docId));
      if (searchOptionsWithDefaults.filter == null || searchOptionsWithDefaults.filter(result)) {
        results.push(result);
      }
    }
    if (query === MiniSearch.wildcard && searchOptionsWithDefaults.boostDocument == null) {
      return results;
    }
    results.sort(byScore);
    return results;
  }
  autoSuggest(queryString, options = {}) {
    options = { ...this._options.autoSuggestOptions, ...options };
    const suggestions = new Map();
    for (const { score, terms } of this.search(queryString, options)) {
      const phrase = terms.join(" ");
      const suggestion = suggestions.get(phrase);
      if (suggestion != null) {
        suggestion.score += score;
        suggestion.count += 1;
      } else {
        suggestions.set(phrase, { score, terms, count: 1 });
      }
    }
    const results = [];
    for (const [suggestion, { score, terms, count }] of suggestions) {
      results.push({ suggestion, terms, score: score / count });
    }
    results.sort(byScore);
    return results;
  }
  get documentCount() {
    return this._documentCount;
  }
  get termCount() {
    return this._index.size;
  }
  static loadJSON(json, options) {
    if (options == null) {
      throw new Error("MiniSearch: loadJSON should be given the same options used when serializing the index");
    }
    return this.loadJS(JSON.parse(json), options);
  }
  static async loadJSONAsync(json, options) {
    if (options == null) {
      throw new Error("MiniSearch: loadJSON should be given the same options used when serializing the index");
    }
    return this.loadJSAsync(JSON.parse(json), options);
  }
  static getDefault(optionName) {
    if (defaultOptions.hasOwnProperty(optionName)) {
      return getOwnProperty(defaultOptions, optionName);
    } else {
      throw new Error(`MiniSearch: unknown option "${optionName}"`);
    }
  }
  static loadJS(js, options) {
    const { index, documentIds, fieldLength, storedFields, serializationVersion } = js;
    const miniSearch = this.instantiateMiniSearch(js, options);
    miniSearch._documentIds = objectToNumericMap(documentIds);
    miniSearch._fieldLength = objectToNumericMap(fieldLength);
    miniSearch._storedFields = objectToNumericMap(storedFields);
    for (const [shortId, id] of miniSearch._documentIds) {
      miniSearch._idToShortId.set(id, shortId);
    }
    for (const [term, data] of index) {
      const dataMap = new Map();
      for (const fieldId of Object.keys(data)) {
        let indexEntry = data[fieldId];
        if (serializationVersion === 1) {
          indexEntry = indexEntry.ds;
        }
        dataMap.set(parseInt(fieldId, 10), objectToNumericMap(indexEntry));
      }
      miniSearch._index.set(term, dataMap);
    }
    return miniSearch;
  }
  static async loadJSAsync(js, options) {
    const { index, documentIds, fieldLength, storedFields, serializationVersion } = js;
    const miniSearch = this.instantiateMiniSearch(js, options);
    miniSearch._documentIds = await objectToNumericMapAsync(documentIds);
    miniSearch._fieldLength = await objectToNumericMapAsync(fieldLength);
    miniSearch._storedFields = await objectToNumericMapAsync(storedFields);
    for (const [shortId, id] of miniSearch._documentIds) {
      miniSearch._idToShortId.set(id, shortId);
    }
    let count = 0;
    for (const [term, data] of index) {
      const dataMap = new Map();
      for (const fieldId of Object.keys(data)) {
        let indexEntry = data[fieldId];
        if (serializationVersion === 1) {
          indexEntry = indexEntry.ds;
        }
        dataMap.set(parseInt(fieldId, 10), await objectToNumericMapAsync(indexEntry));
      }
      if (++count % 1000 === 0) {
        await wait(0);
      }
      miniSearch._index.set(term, dataMap);
    }
    return miniSearch;
  }
  static instantiateMiniSearch(js, options) {
    const { documentCount, nextId, fieldIds, averageFieldLength, dirtCount, serializationVersion } = js;
    if (serializationVersion !== 1 && serializationVersion !== 2) {
      throw new Error("MiniSearch: cannot deserialize an index created with an incompatible version");
    }
    const miniSearch = new MiniSearch(options);
    miniSearch._documentCount = documentCount;
    miniSearch._nextId = nextId;
    miniSearch._idToShortId = new Map();
    miniSearch._fieldIds = fieldIds;
    miniSearch._avgFieldLength = averageFieldLength;
    miniSearch._dirtCount = dirtCount || 0;
    miniSearch._index = new SearchableMap();
    return miniSearch;
  }
  executeQuery(query, searchOptions = {}) {
    if (query === MiniSearch.wildcard) {
      return this.executeWildcardQuery(searchOptions);
    }
    if (typeof query !== "string") {
      const options = { ...searchOptions, ...query, queries: undefined };
      const results = query.queries.map((subquery) => this.executeQuery(subquery, options));
      return this.combineResults(results, options.combineWith);
    }
    const { tokenize, processTerm, searchOptions: globalSearchOptions } = this._options;
    const options = { tokenize, processTerm, ...globalSearchOptions, ...searchOptions };
    const { tokenize: searchTokenize, processTerm: searchProcessTerm } = options;
    const terms = searchTokenize(query).flatMap((term) => searchProcessTerm(term)).filter((term) => !!term);
    const queries = terms.map(termToQuerySpec(options));
    const results = queries.map((query) => this.executeQuerySpec(query, options));
    return this.combineResults(results, options.combineWith);
  }
  executeQuerySpec(query, searchOptions) {
    const options = { ...this._options.searchOptions, ...searchOptions };
    const boosts = (options.fields || this._options.fields).reduce(
      (boosts, field) => ({ ...boosts, [field]: getOwnProperty(options.boost, field) || 1 }),
      {},
    );
    const { boostDocument, weights, maxFuzzy, bm25: bm25params } = options;
    const { fuzzy: fuzzyWeight, prefix: prefixWeight } = { ...defaultSearchOptions.weights, ...weights };
    const data = this._index.get(query.term);
    const results = this.termResults(
      query.term,
      query.term,
      1,
      query.termBoost,
      data,
      boosts,
      boostDocument,
      bm25params,
    );
    let prefixMatches;
    let fuzzyMatches;
    if (query.prefix) {
      prefixMatches = this._index.atPrefix(query.term);
    }
    if (query.fuzzy) {
      const fuzzy = query.fuzzy === true ? 0.2 : query.fuzzy;
      const maxDistance = fuzzy < 1 ? Math.min(maxFuzzy, Math.round(query.term.length * fuzzy)) : fuzzy;
      if (maxDistance) {
        fuzzyMatches = this._index.fuzzyGet(query.term, maxDistance);
      }
    }
    if (prefixMatches) {
      for (const [term, data] of prefixMatches) {
        const distance = term.length - query.term.length;
        if (!distance) {
          continue;
        }
        fuzzyMatches === null || fuzzyMatches === undefined || fuzzyMatches.delete(term);
        const weight = prefixWeight * term.length / (term.length + 0.3 * distance);
        this.termResults(query.term, term, weight, query.termBoost, data, boosts, boostDocument, bm25params, results);
      }
    }
    if (fuzzyMatches) {
      for (const term of fuzzyMatches.keys()) {
        const [data, distance] = fuzzyMatches.get(term);
        if (!distance) {
          continue;
        }
        const weight = fuzzyWeight * term.length / (term.length + distance);
        this.termResults(query.term, term, weight, query.termBoost, data, boosts, boostDocument, bm25params, results);
      }
    }
    return results;
  }
  executeWildcardQuery(searchOptions) {
    const results = new Map();
    const options = { ...this._options.searchOptions, ...searchOptions };
    for (const [shortId, id] of this._documentIds) {
      const score = options.boostDocument ? options.boostDocument(id, "", this._storedFields.get(shortId)) : 1;
      results.set(shortId, {
        score,
        terms: [],
        match: {},
      });
    }
    return results;
  }
  combineResults(results, combineWith = OR) {
    if (results.length === 0) {
      return new Map();
    }
    const operator = combineWith.toLowerCase();
    const combinator = combinators[operator];
    if (!combinator) {
      throw new Error(`Invalid combination operator: ${combineWith}`);
    }
    return results.reduce(combinator) || new Map();
  }
  toJSON() {
    const index = [];
    for (const [term, fieldIndex] of this._index) {
      const data = {};
      for (const [fieldId, freqs] of fieldIndex) {
        data[fieldId] = Object.fromEntries(freqs);
      }
      index.push([term, data]);
    }
    return {
      documentCount: this._documentCount,
      nextId: this._nextId,
      documentIds: Object.fromEntries(this._documentIds),
      fieldIds: this._fieldIds,
      fieldLength: Object.fromEntries(this._fieldLength),
      averageFieldLength: this._avgFieldLength,
      storedFields: Object.fromEntries(this._storedFields),
      dirtCount: this._dirtCount,
      index,
      serializationVersion: 2,
    };
  }
  termResults(
    sourceTerm,
    derivedTerm,
    termWeight,
    termBoost,
    fieldTermData,
    fieldBoosts,
    boostDocumentFn,
    bm25params,
    results = new Map(),
  ) {
    if (fieldTermData == null) {
      return results;
    }
    for (const field of Object.keys(fieldBoosts)) {
      const fieldBoost = fieldBoosts[field];
      const fieldId = this._fieldIds[field];
      const fieldTermFreqs = fieldTermData.get(fieldId);
      if (fieldTermFreqs == null) {
        continue;
      }
      let matchingFields = fieldTermFreqs.size;
      const avgFieldLength = this._avgFieldLength[fieldId];
      for (const docId of fieldTermFreqs.keys()) {
        if (!this._documentIds.has(docId)) {
          this.removeTerm(fieldId, docId, derivedTerm);
          matchingFields -= 1;
          continue;
        }
        const docBoost = boostDocumentFn
          ? boostDocumentFn(this._documentIds.get(docId), derivedTerm, this._storedFields.get(docId))
          : 1;
        if (!docBoost) {
          continue;
        }
        const termFreq = fieldTermFreqs.get(docId);
        const fieldLength = this._fieldLength.get(docId)[fieldId];
        const rawScore = calcBM25Score(
          termFreq,
          matchingFields,
          this._documentCount,
          fieldLength,
          avgFieldLength,
          bm25params,
        );
        const weightedScore = termWeight * termBoost * fieldBoost * docBoost * rawScore;
        const result = results.get(docId);
        if (result) {
          result.score += weightedScore;
          assignUniqueTerm(result.terms, sourceTerm);
          const match = getOwnProperty(result.match, derivedTerm);
          if (match) {
            match.push(field);
          } else {
            result.match[derivedTerm] = [field];
          }
        } else {
          results.set(docId, {
            score: weightedScore,
            terms: [sourceTerm],
            match: { [derivedTerm]: [field] },
          });
        }
      }
    }
    return results;
  }
  addTerm(fieldId, documentId, term) {
    const indexData = this._index.fetch(term, createMap);
    let fieldIndex = indexData.get(fieldId);
    if (fieldIndex == null) {
      fieldIndex = new Map();
      fieldIndex.set(documentId, 1);
      indexData.set(fieldId, fieldIndex);
    } else {
      const docs = fieldIndex.get(documentId);
      fieldIndex.set(documentId, (docs || 0) + 1);
    }
  }
  removeTerm(fieldId, documentId, term) {
    if (!this._index.has(term)) {
      this.warnDocumentChanged(documentId, fieldId, term);
      return;
    }
    const indexData = this._index.fetch(term, createMap);
    const fieldIndex = indexData.get(fieldId);
    if (fieldIndex == null || fieldIndex.get(documentId) == null) {
      this.warnDocumentChanged(documentId, fieldId, term);
    } else if (fieldIndex.get(documentId) <= 1) {
      if (fieldIndex.size <= 1) {
        indexData.delete(fieldId);
      } else {
        fieldIndex.delete(documentId);
      }
    } else {
      fieldIndex.set(documentId, fieldIndex.get(documentId) - 1);
    }
    if (this._index.get(term).size === 0) {
      this._index.delete(term);
    }
  }
  warnDocumentChanged(shortDocumentId, fieldId, term) {
    for (const fieldName of Object.keys(this._fieldIds)) {
      if (this._fieldIds[fieldName] === fieldId) {
        this._options.logger(
          "warn",
          `MiniSearch: document with ID ${
            this._documentIds.get(shortDocumentId)
          } has changed before removal: term "${term}" was not present in field "${fieldName}". Removing a document after it has changed can corrupt the index!`,
          "version_conflict",
        );
        return;
      }
    }
  }
  addDocumentId(documentId) {
    const shortDocumentId = this._nextId;
    this._idToShortId.set(documentId, shortDocumentId);
    this._documentIds.set(shortDocumentId, documentId);
    this._documentCount += 1;
    this._nextId += 1;
    return shortDocumentId;
  }
  addFields(fields) {
    for (let i = 0; i < fields.length; i++) {
      this._fieldIds[fields[i]] = i;
    }
  }
  addFieldLength(documentId, fieldId, count, length) {
    let fieldLengths = this._fieldLength.get(documentId);
    if (fieldLengths == null) {
      this._fieldLength.set(documentId, fieldLengths = []);
    }
    fieldLengths[fieldId] = length;
    const averageFieldLength = this._avgFieldLength[fieldId] || 0;
    const totalFieldLength = averageFieldLength * count + length;
    this._avgFieldLength[fieldId] = totalFieldLength / (count + 1);
  }
  removeFieldLength(documentId, fieldId, count, length) {
    if (count === 1) {
      this._avgFieldLength[fieldId] = 0;
      return;
    }
    const totalFieldLength = this._avgFieldLength[fieldId] * count - length;
    this._avgFieldLength[fieldId] = totalFieldLength / (count - 1);
  }
  saveStoredFields(documentId, doc) {
    const { storeFields, extractField } = this._options;
    if (storeFields == null || storeFields.length === 0) {
      return;
    }
    let documentFields = this._storedFields.get(documentId);
    if (documentFields == null) {
      this._storedFields.set(documentId, documentFields = {});
    }
    for (const fieldName of storeFields) {
      const fieldValue = extractField(doc, fieldName);
      if (fieldValue !== undefined) {
        documentFields[fieldName] = fieldValue;
      }
    }
  }
}
MiniSearch.wildcard = Symbol("*");
var getOwnProperty = (object, property) =>
  Object.prototype.hasOwnProperty.call(object, property) ? object[property] : undefined;
var combinators = {
  [OR]: (a, b) => {
    for (const docId of b.keys()) {
      const existing = a.get(docId);
      if (existing == null) {
        a.set(docId, b.get(docId));
      } else {
        const { score, terms, match } = b.get(docId);
        existing.score = existing.score + score;
        existing.match = Object.assign(existing.match, match);
        assignUniqueTerms(existing.terms, terms);
      }
    }
    return a;
  },
  [AND]: (a, b) => {
    const combined = new Map();
    for (const docId of b.keys()) {
      const existing = a.get(docId);
      if (existing == null) {
        continue;
      }
      const { score, terms, match } = b.get(docId);
      assignUniqueTerms(existing.terms, terms);
      combined.set(docId, {
        score: existing.score + score,
        terms: existing.terms,
        match: Object.assign(existing.match, match),
      });
    }
    return combined;
  },
  [AND_NOT]: (a, b) => {
    for (const docId of b.keys()) {
      a.delete(docId);
    }
    return a;
  },
};
var defaultBM25params = { k: 1.2, b: 0.7, d: 0.5 };
var calcBM25Score = (termFreq, matchingCount, totalCount, fieldLength, avgFieldLength, bm25params) => {
  const { k, b, d } = bm25params;
  const invDocFreq = Math.log(1 + (totalCount - matchingCount + 0.5) / (matchingCount + 0.5));
  return invDocFreq * (d + termFreq * (k + 1) / (termFreq + k * (1 - b + b * fieldLength / avgFieldLength)));
};
var termToQuerySpec = (options) => (term, i, terms) => {
  const fuzzy = typeof options.fuzzy === "function" ? options.fuzzy(term, i, terms) : options.fuzzy || false;
  const prefix = typeof options.prefix === "function" ? options.prefix(term, i, terms) : options.prefix === true;
  const termBoost = typeof options.boostTerm === "function" ? options.boostTerm(term, i, terms) : 1;
  return { term, fuzzy, prefix, termBoost };
};
var defaultOptions = {
  idField: "id",
  extractField: (document, fieldName) => document[fieldName],
  stringifyField: (fieldValue, fieldName) => fieldValue.toString(),
  tokenize: (text) => text.split(SPACE_OR_PUNCTUATION),
  processTerm: (term) => term.toLowerCase(),
  fields: undefined,
  searchOptions: undefined,
  storeFields: [],
  logger: (level, message) => {
    if (typeof (console === null || console === undefined ? undefined : console[level]) === "function") {
      console[level](message);
    }
  },
  autoVacuum: true,
};
var defaultSearchOptions = {
  combineWith: OR,
  prefix: false,
  fuzzy: false,
  maxFuzzy: 6,
  boost: {},
  weights: { fuzzy: 0.45, prefix: 0.375 },
  bm25: defaultBM25params,
};
var defaultAutoSuggestOptions = {
  combineWith: AND,
  prefix: (term, i, terms) => i === terms.length - 1,
};
var defaultVacuumOptions = { batchSize: 1000, batchWait: 10 };
var defaultVacuumConditions = { minDirtFactor: 0.1, minDirtCount: 20 };
var defaultAutoVacuumOptions = { ...defaultVacuumOptions, ...defaultVacuumConditions };
var assignUniqueTerm = (target, term) => {
  if (!target.includes(term)) {
    target.push(term);
  }
};
var assignUniqueTerms = (target, source) => {
  for (const term of source) {
    if (!target.includes(term)) {
      target.push(term);
    }
  }
};
var byScore = ({ score: a }, { score: b }) => b - a;
var createMap = () => new Map();
var objectToNumericMap = (object) => {
  const map = new Map();
  for (const key of Object.keys(object)) {
    map.set(parseInt(key, 10), object[key]);
  }
  return map;
};
var objectToNumericMapAsync = async (object) => {
  const map = new Map();
  let count = 0;
  for (const key of Object.keys(object)) {
    map.set(parseInt(key, 10), object[key]);
    if (++count % 1000 === 0) {
      await wait(0);
    }
  }
  return map;
};
var wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
var SPACE_OR_PUNCTUATION = /[\n\r\p{Z}\p{P}]+/u;

// plugins/memory-markdown/src/search_index.ts
var STOP_WORDS = new Set(
  ("a about an and any are as at be by can do does for from had has have how i in is it its me my of on or our so that " +
    "the their them there they this to was we were what when where which who why will with you your").split(" "),
);
var IDEOGRAPHS = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;
function createSearchIndex() {
  const index = new MiniSearch({
    fields: ["content", "tags"],
    tokenize: words,
    processTerm: (word) => STOP_WORDS.has(word) ? null : stem(word),
    autoVacuum: false,
    searchOptions: {
      boost: { tags: 2 },
      prefix: (word) => word.length > 3,
      fuzzy: (word) => word.length > 4 ? 1 : false,
      weights: { prefix: 0.6, fuzzy: 0.2 },
      maxFuzzy: 1,
    },
  });
  const entry = ({ id, content, context = "", tags }) => ({
    id,
    content: `${content}
${context}`,
    tags: tags.join(`
`),
  });
  return {
    add: (memory) => index.add(entry(memory)),
    remove: (memory) => index.remove(entry(memory)),
    search: (query, filter) =>
      index.search(query, filter ? { filter: ({ id }) => filter(id) } : {}).map(({ id, score }) => ({ id, score })),
  };
}
function words(text) {
  const found = text.normalize("NFKC").toLowerCase().match(/[\p{L}\p{N}\p{M}]{1,64}/gu) ?? [];
  return found.flatMap((word) => IDEOGRAPHS.test(word) && word.length > 2 ? pairs(word) : [word]);
}
function pairs(word) {
  const letters = [...word];
  return letters.slice(1).map((letter, at) => letters[at] + letter);
}
function stem(word) {
  const root = word.replace(/(?:ments?|ings?|edly|ed|ies|es|s|ly)$/, "");
  return root.length >= 4 ? root : word;
}

// plugins/memory-markdown/src/memory_store.ts
var FACTS_FILE = "facts.md";
var OWN_FILES = new Set([FACTS_FILE, "README.md"]);
var TEMP_PREFIX = ".tmp-";
var MAX_FILE_BYTES = 256 * 1024;
var SETTLED_MS = 100;
var TEMP_LIFE_MS = 3600000;
var utf8 = new TextDecoder("utf-8", { fatal: true });

class MemoryStore {
  #dir;
  #warn;
  #entries = new Map();
  #index = null;
  #seen = null;
  constructor(dir, warn) {
    this.#dir = dir;
    this.#warn = warn;
  }
  all() {
    this.#follow();
    return this.#memories();
  }
  get(id) {
    if (!isId2(id) || !this.#take(id)) {
      this.#set(id, null);
    }
    return this.#entries.get(id)?.memory ?? null;
  }
  search(query, filter = () => true) {
    this.#follow();
    const index = this.#index ??= this.#newIndex();
    const memoryOf = (id) => this.#entries.get(id).memory;
    const found = index.search(query, (id) => filter(memoryOf(id)));
    return found.sort((a, b) => b.score - a.score || compare(a.id, b.id)).map((each) => ({
      ...each,
      memory: memoryOf(each.id),
    }));
  }
  put(memories) {
    if (memories.length === 0) {
      return;
    }
    mkdirSync(this.#dir, { recursive: true, mode: 448 });
    this.#follow();
    for (const memory of memories) {
      writeWhole(this.#dir, `${memory.id}.md`, formatMemory(memory));
      this.#take(memory.id);
    }
    writeWhole(this.#dir, FACTS_FILE, factsPage(this.#memories()));
  }
  remove(id) {
    if (this.get(id) === null && !this.#entries.has(id)) {
      return false;
    }
    this.#follow();
    rmSync(join(this.#dir, `${id}.md`), { force: true });
    this.#set(id, null);
    writeWhole(this.#dir, FACTS_FILE, factsPage(this.#memories()));
    return true;
  }
  reload() {
    this.#follow({ again: true });
  }
  #memories() {
    const memories = [...this.#entries.values()].flatMap(({ memory }) => memory ? [memory] : []);
    return memories.sort((a, b) => compare(b.created, a.created) || compare(a.id, b.id));
  }
  #newIndex() {
    const index = createSearchIndex();
    for (const { memory } of this.#entries.values()) {
      if (memory) {
        index.add(memory);
      }
    }
    return index;
  }
  #follow({ again = false } = {}) {
    const startedMs = Date.now();
    const folder = statSync(this.#dir, { throwIfNoEntry: false });
    const state = folder ? `${folder.ino}:${folder.mtimeMs}` : "none";
    if (state === this.#seen && !again) {
      return;
    }
    const present = new Set();
    for (const file of folder ? readdirSync(this.#dir, { withFileTypes: true }) : []) {
      if (file.name.startsWith(TEMP_PREFIX)) {
        removeIfOld(join(this.#dir, file.name), startedMs);
      }
      const id = file.name.slice(0, -".md".length);
      if (!file.isFile() || !file.name.endsWith(".md") || !isId2(id)) {
        continue;
      }
      if (!again && this.#entries.has(id) || this.#take(id)) {
        present.add(id);
      }
    }
    for (const id of this.#entries.keys()) {
      if (!present.has(id)) {
        this.#set(id, null);
      }
    }
    this.#seen = folder && startedMs - folder.mtimeMs > SETTLED_MS ? state : null;
  }
  #take(id) {
    const path = join(this.#dir, `${id}.md`);
    if (OWN_FILES.has(`${id}.md`)) {
      return false;
    }
    const info = lstatSync(path, { throwIfNoEntry: false });
    if (!info?.isFile()) {
      return false;
    }
    const mark = `${info.ino}:${info.mtimeMs}:${info.size}`;
    if (this.#entries.get(id)?.mark === mark) {
      return true;
    }
    let memory = null;
    try {
      if (info.size > MAX_FILE_BYTES) {
        throw new Error(`it is larger than ${MAX_FILE_BYTES} bytes`);
      }
      memory = parseMemory(id, utf8.decode(readFileSync(path)), info.mtime);
    } catch (error) {
      this.#warn("Left out a file that is no memory", { file: `${id}.md`, reason: error.message });
    }
    this.#set(id, { mark, memory });
    return true;
  }
  #set(id, entry) {
    const before = this.#entries.get(id)?.memory;
    if (before) {
      this.#index?.remove(before);
    }
    if (entry === null) {
      this.#entries.delete(id);
    } else {
      this.#entries.set(id, entry);
    }
    if (entry?.memory) {
      this.#index?.add(entry.memory);
    }
  }
}
function writeWhole(dir, name, text) {
  const temp = join(dir, `${TEMP_PREFIX}${crypto.randomUUID()}`);
  const file = openSync(temp, "wx", 384);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  try {
    renameSync(temp, join(dir, name));
  } catch (error) {
    rmSync(temp, { force: true });
    throw error;
  }
}
function removeIfOld(path, nowMs) {
  const info = lstatSync(path, { throwIfNoEntry: false });
  if (info && nowMs - info.mtimeMs > TEMP_LIFE_MS) {
    rmSync(path, { force: true });
  }
}
var compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;

// plugins/memory-markdown/src/selection.ts
function fitting(items, maxBytes, { size, cut }) {
  const chosen = [];
  let left = maxBytes;
  for (const item of items) {
    const cost = size(item);
    if (cost > left) {
      continue;
    }
    chosen.push(item);
    left -= cost;
  }
  if (chosen.length === 0 && items.length > 0) {
    chosen.push(cut(items[0], maxBytes));
  }
  return { chosen, omitted: items.length - chosen.length };
}
function cutText(text, maxBytes) {
  if (byteLength(text) <= maxBytes) {
    return text;
  }
  const bytes = new TextEncoder().encode(text).subarray(0, Math.max(0, maxBytes - 3));
  return `${new TextDecoder().decode(bytes).replace(/\uFFFD$/, "")}…`;
}
function byRelevance(memories, { tags, relevance }) {
  const wanted = new Set(tags);
  const newestFirst = [...memories].sort((a, b) => a.created < b.created ? 1 : a.created > b.created ? -1 : 0);
  const score = (memory, age) =>
    (memory.tags.some((tag) => wanted.has(tag)) ? 2 : 0) + (relevance.get(memory.id) ?? 0) +
    0.5 * (1 - age / newestFirst.length);
  return newestFirst.map((memory, age) => ({ memory, score: score(memory, age) })).sort((a, b) => b.score - a.score)
    .map(({ memory }) => memory);
}

// plugins/memory-markdown/src/memories.ts
function retain({ content, context, tags = [] }, { store, settings, session, now }) {
  if (typeof content !== "string" || content.trim() === "") {
    throw new PluginError("There is nothing to remember", { code: -32602, data: { field: "content" } });
  }
  const id = idOf(content);
  const known = store.get(id);
  const allTags = tagsOf([...known?.tags ?? [], ...settings.tags, ...tags]);
  const note = context ?? known?.context;
  store.put([{
    ...known ?? { id, kind: kindOf(content), content: content.trim(), created: now, source: "retain" },
    tags: allTags,
    ...note === undefined ? {} : { context: note },
    ...session === null ? {} : { session },
  }]);
  return { id, known: known !== null, tags: allTags };
}
function recall({ query, tags = [], limit = 10 }, { store, settings }) {
  if (typeof query !== "string") {
    throw new PluginError("There is nothing to look for", { code: -32602, data: { field: "query" } });
  }
  const wanted = tagsOf(tags);
  const found = store.search(query, (memory) => wanted.every((tag) => memory.tags.includes(tag)));
  const recalled = found.slice(0, limit).map(({ memory: { id, content, tags, created, context } }) => ({
    id,
    content,
    tags,
    created,
    ...context === undefined ? {} : { context },
  }));
  const size = (memory) => byteLength(JSON.stringify(memory)) + 1;
  const { chosen } = fitting(recalled, settings.recallBytes - byteLength('{"memories":[],"omitted":12345}'), {
    size,
    cut: ({ context: _, ...memory }, maxBytes) => ({
      ...memory,
      content: cutText(memory.content, Math.floor((maxBytes - size({ ...memory, content: "" })) / 6)),
    }),
  });
  return { memories: chosen, omitted: found.length - chosen.length };
}
function listTags({ store }) {
  const memories = store.all();
  const counts = new Map();
  for (const tag of memories.flatMap(({ tags }) => tags)) {
    counts.set(tag, (counts.get(tag) ?? 0) + 1);
  }
  const tags = [...counts].map(([tag, count]) => ({ tag, count }));
  return { tags: tags.sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1)), memories: memories.length };
}
function openingText({ store, settings }) {
  store.reload();
  const memories = store.all();
  const [last] = memories.filter(({ kind }) => kind === "session");
  const found = last ? store.search(last.content, ({ kind }) => kind !== "session") : [];
  const best = found[0]?.score ?? 1;
  const relevance = new Map(found.map(({ id, score }) => [id, score / best]));
  const told = normalized(last?.content ?? "");
  const facts = memories.filter(({ kind, content }) => kind !== "session" && !told.includes(normalized(content)));
  const ranked = [...last ? [last] : [], ...byRelevance(facts, { tags: settings.tags, relevance })];
  return listing("Known from earlier sessions:", ranked.slice(0, settings.maxInjected), settings.recallBytes);
}
function retainFacts(messages, source, { store, settings, session, now }) {
  const known = new Set(store.all().map(({ id }) => id));
  const fresh = factsOf(messages).map((content) => ({
    id: idOf(content),
    kind: kindOf(content),
    content,
    tags: settings.tags,
    created: now,
    source,
    ...session === null ? {} : { session },
  })).filter(({ id }) => !known.has(id));
  store.put(fresh);
  return fresh.map(({ content }) => content);
}
var SESSION_ROOM = { maxBytes: 4000, maxItems: 30 };
function recordSession(messages, { store, settings, session, now }) {
  if (session === null) {
    return;
  }
  const id = `session-${idOf(session).slice(-12)}`;
  const before = store.get(id);
  const digest = mergeDigests(readDigest(before?.content ?? ""), digestOf(messages));
  if (isEmptyDigest(digest)) {
    return;
  }
  const content = writeDigest(digest, SESSION_ROOM);
  if (content === before?.content) {
    return;
  }
  const created = before?.created ?? now;
  store.put([{ id, kind: "session", content, tags: settings.tags, created, source: "idle", session }]);
}
var RECENT = 4;
function reminderText({ gone, remaining }, { store, settings }) {
  const query = remaining.filter(({ role }) => role === "user").slice(-RECENT).map(proseOf).join(`
`).slice(-4000);
  const inSight = normalized(
    remaining.map(textOf).join(`
`),
  );
  const lost = new Set(factsOf(gone).map(idOf));
  const isOutOfSight = (memory) => memory.kind !== "session" && !inSight.includes(normalized(memory.content));
  const fits = query.trim() === "" ? [] : store.search(query, isOutOfSight).map(({ memory }) => memory);
  const justLost = store.all().filter((memory) => lost.has(memory.id) && isOutOfSight(memory));
  const ranked = [...new Map([...justLost, ...fits].map((memory) => [memory.id, memory])).values()];
  return listing("Remembered from before:", ranked.slice(0, settings.maxInjected), settings.recallBytes);
}
function listing(title, memories, maxBytes) {
  if (memories.length === 0) {
    return null;
  }
  const lines = memories.map(({ kind, content, created }) =>
    kind === "session"
      ? `- Last session (${created.slice(0, 10)}):
${content.replace(/^/gm, "  ")}`
      : `- ${
        content.replace(
          /\n/g,
          `
  `,
        )
      }`
  );
  const { chosen } = fitting(lines, maxBytes - byteLength(title) - 1, {
    size: (line) => byteLength(line) + 1,
    cut: (line, room) => cutText(line, room - 1),
  });
  return [title, ...chosen].join(`
`);
}
function ensureReadme(storeDir) {
  if (existsSync(join2(storeDir, "README.md"))) {
    return;
  }
  mkdirSync2(storeDir, { recursive: true, mode: 448 });
  writeWhole(storeDir, "README.md", README);
}

// plugins/memory-markdown/src/memory_folder.ts
import { createHash as createHash2 } from "node:crypto";
function memoryFolder({ project_id: project, agent_path: agent }, isolation) {
  if (project === null || agent === null) {
    throw new PluginError("Memory belongs to the agents of a project, and this call comes from none", { code: -32006 });
  }
  const own = isolation === "project" ? ["project"] : agentFolders(agent);
  return [safeName(project), ...own].join("/");
}
function agentFolders(agentPath) {
  const [, ...names] = agentPath.split(".subagents.");
  return names.length === 0 ? ["agent"] : names.flatMap((name) => ["subagent", safeName(name)]);
}
function safeName(name) {
  if (/^[a-z0-9][a-z0-9_-]{0,63}$/.test(name)) {
    return name;
  }
  const plain = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").slice(0, 40).replace(/^-+|-+$/g, "");
  return `${plain || "x"}.${createHash2("sha256").update(name).digest("hex").slice(0, 12)}`;
}

// plugins/memory-markdown/src/transcripts.ts
var MAX_SESSIONS = 100;
var MAX_HELD = 500;

class Transcripts {
  #held = new Map();
  add(key, { owner, messages, turns }) {
    const all = [...this.#held.get(key)?.messages ?? [], ...messages];
    this.#held.delete(key);
    if (all.filter(({ role }) => role === "user").length >= turns) {
      return all;
    }
    this.#held.set(key, { owner, messages: all.slice(-MAX_HELD) });
    for (const oldest of this.#held.keys()) {
      if (this.#held.size > MAX_SESSIONS) {
        this.#held.delete(oldest);
      }
    }
    return null;
  }
  takeAll() {
    const all = [...this.#held.values()];
    this.#held.clear();
    return all;
  }
}

// plugins/memory-markdown/src/main.ts
var stores = new Map();
var transcripts = new Transcripts();
var plugin = createPlugin({
  name: "memory-markdown",
  version: "0.1.0",
  capabilitiesUsed: ["read:fs:config:/memory", "write:fs:config:/memory"],
  onConfigUpdate: (config) => ensureReadme(plugin.resolvePath(settingsOf(config).store)),
  onShutdown: () => {
    for (const { owner, messages } of transcripts.takeAll()) {
      keep(messages, owner);
    }
  },
  tools: {
    retain: (params, context) => retain(params, deskOf(context)),
    recall: (params, context) => recall(params, deskOf(context)),
    forget: ({ id }, context) => ({ forgotten: deskOf(context).store.remove(id) }),
    list_tags: (_params, context) => listTags(deskOf(context)),
  },
  hooks: {
    on_session_start: (_params, context) => {
      const inject = openingText(deskOf(context));
      return inject === null ? null : { inject };
    },
    on_session_idle: ({ transcript = [] }, context) => {
      const desk = deskOf(context);
      const key = `${context.project_id} ${context.agent_path} ${context.session_id}`;
      const turns = desk.settings.retainEveryNTurns;
      const messages = transcripts.add(key, { owner: desk, messages: transcript, turns });
      if (messages) {
        keep(messages, desk);
      }
      return null;
    },
    pre_compact: ({ messages_being_compacted: gone = [] }, context) => {
      const desk = deskOf(context);
      return desk.settings.retainFacts ? { retain: retainFacts(gone, "compaction", desk) } : null;
    },
    post_compact: (params, context) => {
      const { messages_being_compacted: gone = [], messages_remaining: remaining = [] } = params;
      const inject = reminderText({ gone, remaining }, deskOf(context));
      return inject === null ? null : { inject };
    },
  },
});
function deskOf(context) {
  const settings = settingsOf(context.config);
  const dir = join3(plugin.resolvePath(settings.store), memoryFolder(context, settings.isolation));
  const store = stores.get(dir) ?? new MemoryStore(dir, plugin.log.warn);
  stores.set(dir, store);
  return { store, settings, session: context.session_id, now: new Date().toISOString() };
}
function keep(messages, desk) {
  if (desk.settings.retainFacts) {
    retainFacts(messages, "idle", desk);
  }
  if (desk.settings.retainSummary) {
    recordSession(messages, desk);
  }
}
plugin.start();
