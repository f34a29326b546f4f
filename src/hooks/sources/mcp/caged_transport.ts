/**
 * The wire between the official MCP client and a server in its cage.
 *
 * @module
 */
import type { Cage } from "../../../core/cage/cage.ts";
import { killCage } from "../../../core/cage/kill_cage.ts";
import { HostError, messageOf } from "../../../core/errors/host_error.ts";
import type { McpTransport } from "../../../core/mcp/sdk_types.ts";
import type { ChildProcess, Runtime } from "../../../core/ports/ports.ts";
import { parseLine } from "../../../core/wire/codec.ts";
import { MAX_LINE_BYTES } from "../../../core/wire/connection_types.ts";
import { LineReader } from "../../../core/wire/read_lines.ts";
import { stderrTail } from "../../../core/supervisor/stderr_tail.ts";

const END_GRACE_MS = 2_000;
const PIPE_GRACE_MS = 1_000;
const MAX_QUEUED_BYTES = 8 * 1024 * 1024;

/** What a transport stands on. */
export interface CagedTransportOptions {
  /** The runtime. */
  readonly runtime: Runtime;
  /** The server's cage, used up by this one start. */
  readonly cage: Cage;
  /** Hears a line of stderr. */
  readonly onLog?: (line: string) => void;
  /** Removes what was made for this start; called once, when the cage is closed. */
  readonly cleanUp?: () => Promise<void>;
}

/** A transport of the SDK over a caged process. It ends when the process does, and the process when it does. */
export class CagedTransport implements McpTransport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: ((message: never) => void) | undefined;
  /** Resolves when the process is gone and its cage is closed. */
  readonly ended: Promise<void>;
  readonly #options: CagedTransportOptions;
  readonly #stderr: ReturnType<typeof stderrTail>;
  readonly #reader: LineReader;
  #child: ChildProcess | null = null;
  #isEnding = false;
  #end!: () => void;

  /** Starts nothing yet. */
  constructor(options: CagedTransportOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => this.#end = resolve);
    this.#stderr = stderrTail(options.onLog ?? (() => {}));
    this.#reader = new LineReader({
      line: (text, start, end) => this.#take(text.slice(start, end)),
      undecodable: () => {}, // No message, and nobody to tell.
      oversize: () => this.#kill(),
    }, { bytes: options.runtime.bytes, maxLineBytes: MAX_LINE_BYTES });
  }

  /** The newest lines of stderr. */
  get lastStderr(): string[] {
    return this.#stderr.lines();
  }

  /** Starts the process. Rejects with `cage.spawn_failed`. */
  async start(): Promise<void> {
    const { runtime, cage } = this.#options;
    try {
      this.#child = await runtime.processes.spawn(cage.command, {
        stdout: (chunk) => this.#reader.push(chunk),
        stdoutEnd() {},
        stderr: (chunk) => this.#stderr.receive(chunk),
      });
    } catch (cause) {
      await this.#finish();
      throw new HostError("cage.spawn_failed", `Cannot start "${cage.command.file}": ${messageOf(cause)}`, { cause });
    }
    cage.watch();
    void this.#child.exited.then(() => this.#onExit());
  }

  /** Sends one message. Rejects when the server does not read. */
  send(message: unknown): Promise<void> {
    const child = this.#child;
    if (!child || this.#isEnding) return Promise.reject(new HostError("protocol.closed", "The server has ended"));
    if (child.bufferedBytes() > MAX_QUEUED_BYTES) {
      return Promise.reject(new HostError("protocol.busy", "The server does not read what it is sent"));
    }
    child.write(JSON.stringify(message) + "\n");
    return Promise.resolve();
  }

  /** Ends the server: its input first, then everything in its cage. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    this.#isEnding = true;
    child.endInput();
    const cancel = this.#options.runtime.clock.after(END_GRACE_MS, () => this.#kill());
    await this.ended;
    cancel();
  }

  #take(line: string): void {
    const message = parseLine(line);
    // Anything else is noise, as a banner is.
    if (typeof message === "object" && message !== null) this.onmessage?.(message as never);
  }

  #kill(): void {
    this.#isEnding = true;
    if (this.#child) void killCage(this.#child, this.#options.runtime);
  }

  async #onExit(): Promise<void> {
    const child = this.#child!;
    const { clock } = this.#options.runtime;
    const cancel = clock.after(PIPE_GRACE_MS, () => child.release());
    await child.closed;
    cancel();
    this.#stderr.end();
    await this.#finish();
  }

  async #finish(): Promise<void> {
    const { cage, cleanUp } = this.#options;
    this.#isEnding = true;
    this.#reader.end();
    await cage.close();
    await cleanUp?.();
    this.#end();
    this.onclose?.();
  }
}
