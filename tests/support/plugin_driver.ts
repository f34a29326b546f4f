/**
 * The host's end of a plugin for tests: sends it lines, hands out what it writes. No supervisor, no cage: it drives our
 * own SDK, fixtures and examples.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import type { Plugin } from "../../src/sdk/mod.ts";

/** A message, loosely typed: tests compare it whole. */
// deno-lint-ignore no-explicit-any
export type Message = Record<string, any>;

/** A plugin under a test's control. */
export interface DrivenPlugin extends AsyncDisposable {
  /** Sends a message; `jsonrpc` is filled in. */
  send(message: Message): void;
  /** Sends text or bytes as they are. */
  sendRaw(data: string | Uint8Array): void;
  /** The next message the plugin wrote; rejects when there is none and will be none. */
  next(): Promise<Message>;
  /** Sends a request and returns the next message. */
  ask(method: string, params?: unknown): Promise<Message>;
  /** Goes through the handshake and returns the answer to `initialize`. */
  handshake(config?: Message): Promise<Message>;
  /** Closes the plugin's input. */
  closeInput(): void;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Text of everything logged to stderr so far. */
  log(): string;
}

/** The context of a call of the host itself. */
export const NO_CONTEXT: Message = {
  operator_id: null,
  project_id: null,
  agent_path: null,
  session_id: null,
  request_id: "req_1",
};

/** Drives a plugin of this very process. */
export function driveInMemory(plugin: Plugin): DrivenPlugin {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  const input = new ReadableStream<Uint8Array>({
    start(given) {
      controller = given;
    },
  });
  const lines = new LineQueue();
  let log = "";
  const ended = plugin.start({
    input: input as unknown as AsyncIterable<Uint8Array>,
    output: (text) => lines.push(text),
    log: (line) => void (log += line),
  });
  void ended.then(() => lines.end());
  let open = true;
  const closeInput = (): void => {
    if (open) controller.close();
    open = false;
  };
  return driver({
    write: (data) => controller.enqueue(typeof data === "string" ? new TextEncoder().encode(data) : data),
    closeInput,
    ended,
    lines,
    log: () => log,
    dispose: async () => {
      closeInput();
      await ended;
    },
  });
}

/** Drives a plugin program, started in its folder. */
export function driveProcess(dir: string, command: readonly string[], env: Message = {}): DrivenPlugin {
  const [file, ...args] = command as [string, ...string[]];
  const child = spawn(file, args, { cwd: dir, env: { PATH: process.env.PATH, LANG: "C.UTF-8", ...env } });
  const lines = new LineQueue();
  let log = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => lines.push(text)).on("end", () => lines.end());
  child.stderr.setEncoding("utf8").on("data", (text: string) => void (log += text));
  child.stdin.on("error", () => {}); // It ended before it read everything.
  const ended = once(child, "close").then(([code, signal]) => signal ?? code);
  return driver({
    write: (data) => void child.stdin.write(data),
    closeInput: () => void child.stdin.end(),
    ended,
    lines,
    log: () => log,
    dispose: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  });
}

/** The command that runs a JavaScript file on the runtime of this test, with the flags the cage gives it. */
export function jsCommand(file: string): string[] {
  const { versions, execPath } = process;
  if (versions.deno) return [execPath, "run", "-A", "--quiet", "--no-lock", "--no-config", "--no-prompt", file];
  if (versions.bun) return [execPath, "--config=/dev/null", "--no-env-file", "--no-install", file];
  return [execPath, file];
}

interface DriverParts {
  readonly write: (data: string | Uint8Array) => void;
  readonly closeInput: () => void;
  readonly ended: Promise<number | string>;
  readonly lines: LineQueue;
  readonly log: () => string;
  readonly dispose: () => Promise<void>;
}

function driver({ write, closeInput, ended, lines, log, dispose }: DriverParts): DrivenPlugin {
  let lastId = 0;
  const send = (message: Message): void => write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
  const next = async (): Promise<Message> => JSON.parse(await lines.next());
  const ask = (method: string, params?: unknown): Promise<Message> => {
    send({ id: ++lastId, method, params });
    return next();
  };
  return {
    send,
    sendRaw: write,
    next,
    ask,
    async handshake(config = {}) {
      const api = { daemon_version: "0.1.0", api_version: 1, plugin_name: "test", storage_available: true };
      const greeting = await ask("initialize", { ...api, projects: [] });
      await ask("config.update", config);
      send({ method: "initialized", params: {} });
      return greeting;
    },
    closeInput,
    ended,
    log,
    [Symbol.asyncDispose]: dispose,
  };
}

/** Text in, lines out, one at a time. */
class LineQueue {
  #rest = "";
  #lines: string[] = [];
  #ended = false;
  #waiting: { resolve(line: string): void; reject(error: Error): void }[] = [];

  push(text: string): void {
    const parts = (this.#rest + text).split("\n");
    this.#rest = parts.pop() ?? "";
    for (const line of parts) {
      const waiting = this.#waiting.shift();
      if (waiting) waiting.resolve(line);
      else this.#lines.push(line);
    }
  }

  end(): void {
    this.#ended = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new Error("The plugin wrote nothing more"));
  }

  next(): Promise<string> {
    const line = this.#lines.shift();
    if (line !== undefined) return Promise.resolve(line);
    if (this.#ended) return Promise.reject(new Error("The plugin wrote nothing more"));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }
}
