/**
 * A plugin in memory that keeps every rule of the wire, and any part of which a test may replace. It is spoken to line
 * by line, without a process.
 *
 * @module
 */
import type { CagedEnd } from "../../src/core/cage/caged_process.ts";
import type { OpenWire, PluginWire, WireListeners } from "../../src/operator/plugin_wire.ts";
import type { Manifest } from "../../src/core/manifest/manifest.ts";
import { parseManifest } from "../../src/core/manifest/read_manifest.ts";
import type { Exit } from "../../src/core/ports/ports.ts";

/** A message, loosely typed. */
// deno-lint-ignore no-explicit-any
export type Message = Record<string, any>;

/** Ways in which a step of the plugin can answer. */
export interface ModelPlugin {
  /** Sends a message. */
  send(message: Message): void;
  /** Answers a request. */
  reply(id: unknown, result: unknown): void;
  /** Answers a request with an error. */
  refuse(id: unknown, code: number, message?: string): void;
  /** Writes a line as it is. */
  print(line: string): void;
  /** Says that it wrote more than a line may hold. */
  overflow(): void;
  /** Ends. */
  exit(code: number): void;
  /** Messages it got so far. */
  readonly heard: Message[];
}

/** A step: what to do about one message, or one part of its life. */
export type Step = (plugin: ModelPlugin, message: Message) => void;

/** The plugin's behaviour, by method; and `start`, `garbage`, `invalid`, `batch`, `response`, `other`, `end`, `text`. */
export type Steps = Readonly<Record<string, Step>>;

/** Fields of its manifest. */
export const MODEL_MANIFEST: Message = {
  name: "model",
  version: "1.0.0",
  kaged_api: 1,
  description: "Keeps every rule.",
  command: ["./model"],
  capabilities: ["kaged:storage:read"],
  methods: ["model.list"],
  notifications: ["model.listed"],
  hooks: ["on_session_start"],
  tools: [{
    name: "add",
    description: "Adds a note.",
    parameters_schema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
      additionalProperties: false,
    },
  }],
  config_schema: { type: "object", properties: { tag: { type: "string" } } },
};

/** Reads the manifest, with fields replaced. */
export async function modelManifest(change: Message = {}): Promise<Manifest> {
  const text = JSON.stringify({ ...MODEL_MANIFEST, ...change });
  return (await parseManifest(text, { file: "kaged-plugin.yaml" })).manifest;
}

/** The behaviour of an honest plugin. */
export const HONEST: Steps = {
  "start": () => {},
  "initialize": (plugin, { id }) =>
    plugin.reply(id, {
      name: "model",
      version: "1.0.0",
      api_version: 1,
      methods: ["model.list"],
      notifications: ["model.listed"],
      capabilities_used: [],
      features: ["cancel", "progress"],
    }),
  "config.update": (plugin, { id, params }) =>
    params.no_such_setting ? plugin.refuse(id, -32004) : plugin.reply(id, {}),
  "initialized": () => {},
  "ping": (plugin, { id }) => plugin.reply(id, { status: "ok" }),
  "shutdown": (plugin) => plugin.exit(0),
  "model.list": (plugin, { id }) => {
    plugin.send({ method: "model.listed", params: {} });
    plugin.send({ method: "system.progress", params: { id, progress: 1 } });
    plugin.reply(id, { notes: [] });
  },
  "model.add": (plugin, { id, params }) => {
    if (typeof params.text !== "string") return plugin.refuse(id, -32602);
    plugin.send({ id: plugin.heard.length, method: "kaged.storage.query", params: { sql: "SELECT 1" } });
    plugin.reply(id, { added: params.text });
  },
  "kaged.hook.on_session_start": (plugin, { id }) => plugin.reply(id, { inject: "Take notes." }),
  "system.cancel": () => {},
  "garbage": (plugin) => plugin.refuse(null, -32700),
  "invalid": (plugin) => plugin.refuse(null, -32600),
  "batch": (plugin) => plugin.refuse(null, -32600),
  "response": () => {},
  "other": (plugin, { id }) => {
    if (id !== undefined) plugin.refuse(id, -32601);
  },
  "end": (plugin) => plugin.exit(0),
};

/** Opens wires to fresh plugins that do as `steps` say, and as {@link HONEST} where they say nothing. */
export function modelWire(steps: Steps = {}): OpenWire {
  return (listeners) => Promise.resolve(new Model({ ...HONEST, ...steps }, listeners));
}

class Model implements ModelPlugin, PluginWire {
  readonly heard: Message[] = [];
  readonly ended: Promise<CagedEnd>;
  readonly #steps: Steps;
  readonly #listeners: WireListeners;
  #end!: (end: CagedEnd) => void;
  #isOver = false;
  #rest = "";

  constructor(steps: Steps, listeners: WireListeners) {
    this.#steps = steps;
    this.#listeners = listeners;
    this.ended = new Promise((resolve) => this.#end = resolve);
    queueMicrotask(() => this.#do("start"));
  }

  send(message: Message): void {
    this.print(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }

  reply(id: unknown, result: unknown): void {
    this.send({ id, result });
  }

  refuse(id: unknown, code: number, message = "Refused"): void {
    this.send({ id, error: { code, message } });
  }

  print(line: string): void {
    if (!this.#isOver) queueMicrotask(() => this.#listeners.line(line));
  }

  overflow(): void {
    queueMicrotask(() => this.#listeners.oversize());
  }

  exit(code: number): void {
    this.#finish({ code, signal: null });
  }

  write(text: string): void {
    queueMicrotask(() => {
      if (this.#steps.text) return this.#do("text", { text });
      const lines = (this.#rest + text).split("\n");
      this.#rest = lines.pop()!;
      for (const line of lines) this.#take(line);
    });
  }

  endInput(): void {
    queueMicrotask(() => this.#do("end"));
  }

  verify(): Promise<void> {
    return Promise.resolve();
  }

  stderr(): string[] {
    return ["a line of its log"];
  }

  kill(): Promise<CagedEnd> {
    this.#finish({ code: null, signal: "SIGKILL" });
    return this.ended;
  }

  #take(line: string): void {
    let message: Message;
    try {
      message = JSON.parse(line);
    } catch {
      return this.#do("garbage", { line });
    }
    if (Array.isArray(message)) return this.#do("batch", { messages: message });
    if ("result" in message || "error" in message) return this.#do("response", message);
    if (typeof message.method !== "string") return this.#do("invalid", message);
    this.heard.push(message);
    this.#do(this.#steps[message.method] ? message.method : "other", message);
  }

  #do(step: string, message: Message = {}): void {
    if (!this.#isOver) this.#steps[step]!(this, message);
  }

  #finish(exit: Exit): void {
    this.#isOver = true;
    queueMicrotask(() => this.#end({ exit, fault: null, stderr: this.stderr() })); // After what it wrote.
  }
}
