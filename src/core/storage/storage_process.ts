/**
 * One storage process, as the host sees it: it answers one question at a time, and is killed when an answer takes too
 * long or too much memory.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { ChildProcess, Clock, Runtime } from "../ports/ports.ts";
import { LineReader } from "../wire/read_lines.ts";
import type { StorageLimits } from "./limits.ts";
import { ANSWER, errorFrom, type StorageQuestion, type StorageSetup } from "./messages.ts";

/** How a storage process is started. */
interface StorageProcessOptions {
  readonly runtime: Runtime;
  /** Path of the program's file. */
  readonly program: string;
  readonly cwd: string;
  readonly setup: StorageSetup;
}

/** Far above the largest answer: the process itself caps those. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MEMORY_CHECK_MS = 100;
const PAGE_BYTES = 4096;
const STDERR_CHARACTERS = 2_000;

/** Takes the answer to a question, {@link ANSWER} and JSON, or the error that it ended with. */
export type Settle = (answer: string | HostError) => void;

/** A process that runs one question at a time. */
export class StorageProcess {
  readonly #clock: Runtime["clock"];
  readonly #files: Runtime["files"];
  readonly #limits: StorageLimits;
  readonly #child: ChildProcess;
  #settle: Settle | null = null;
  #stderr = "";
  #isDead = false;
  /** Counts the questions. */
  #turn = 0;
  #deadlineMs = Infinity;
  #dueMs = Infinity;
  #ringsMs = Infinity;
  #cancelTimer: () => void = () => {};
  #isWatched = false;

  private constructor(child: ChildProcess, { runtime, setup }: StorageProcessOptions) {
    this.#child = child;
    this.#clock = runtime.clock;
    this.#files = runtime.files;
    this.#limits = setup.limits;
  }

  /** Starts a process; resolves when it has opened the database. */
  static async start(options: StorageProcessOptions): Promise<StorageProcess> {
    const { runtime, program, cwd, setup } = options;
    let started: StorageProcess | null = null;
    const lines = new LineReader({
      line: (text, start, end) => void (started && started.#answered(text.slice(start, end))),
      undecodable: (start) => started?.fail(`sent bytes that are no UTF-8: ${start.slice(0, 100)}`),
      oversize: () => started?.fail("sent an answer without end"),
    }, { bytes: runtime.bytes, maxLineBytes: MAX_ANSWER_BYTES });
    const decoder = new TextDecoder();
    const { executable, args, env } = await runtime.scripts();
    const command = { file: executable, args: [...args.storage, program], env, cwd };
    const child = await runtime.processes.spawn(command, {
      stdout: (chunk) => lines.push(chunk),
      stdoutEnd: () => {},
      stderr: (chunk) => void (started && started.#noteStderr(decoder.decode(chunk, { stream: true }))),
    }).catch((error) => {
      throw new HostError("storage.failed", `Cannot start the storage process: ${messageOf(error)}`, { cause: error });
    });
    const ready = started = new StorageProcess(child, options);
    child.exited.then(({ code, signal }) => ready.#ended(signal ?? `code ${code}`));
    await new Promise<void>((resolve, reject) =>
      ready.ask(setup, Infinity, (answer) => answer instanceof HostError ? reject(answer) : resolve())
    );
    return ready;
  }

  /** Whether it has ended, or is being ended. */
  get isDead(): boolean {
    return this.#isDead;
  }

  /** Lets it end by itself, or ends it when it is busy. */
  async close(): Promise<void> {
    if (this.#settle) this.#kill(new HostError("storage.failed", "The storage was closed"));
    this.#isDead = true;
    this.#child.endInput();
    await this.#child.exited;
    this.#child.release();
  }

  /** Kills it, because it broke the protocol between host and process. */
  fail(reason: string): void {
    this.#kill(new HostError("storage.failed", `The storage process ${reason}`));
  }

  /** Asks one question. The process is gone after `storage.timeout` and `storage.out_of_memory`. */
  ask(question: StorageQuestion | StorageSetup, deadlineMs: number, settle: Settle): void {
    if (this.#isDead) {
      return this.#settleWhenGone(new HostError("storage.failed", "The storage process has ended"), settle);
    }
    this.#settle = settle;
    this.#turn++;
    this.#deadlineMs = deadlineMs;
    this.#dueMs = this.#clock.monotonic() + deadlineMs;
    // Most answers come long before: one timer serves many questions, and finds out for which it rings.
    if (this.#dueMs < this.#ringsMs) this.#armDeadline(deadlineMs);
    if (!this.#isWatched) this.#armWatch();
    this.#child.write(`${JSON.stringify(question)}\n`);
  }

  #answered(answer: string): void {
    const settle = this.#settle;
    if (!settle) return this.fail("answered without a question");
    const tag = answer[0];
    if (tag === ANSWER.OK || tag === ANSWER.OK_DEFINED) {
      this.#settle = null;
      return settle(answer);
    }
    let error: HostError;
    try {
      error = errorFrom(answer.slice(1));
    } catch {
      return this.fail("sent an answer that cannot be read");
    }
    this.#settle = null;
    settle(error);
  }

  /** The database stays locked until the process is really gone. */
  #settleWhenGone(error: HostError, settle: Settle): void {
    void this.#child.exited.then(() => settle(error));
  }

  #lose(error: HostError): void {
    const settle = this.#settle;
    this.#settle = null;
    this.#isDead = true;
    if (settle) this.#settleWhenGone(error, settle);
  }

  #ended(how: string): void {
    const said = this.#stderr.trim().split("\n").at(-1) ?? "";
    this.#lose(
      /out of memory/i.test(this.#stderr)
        ? new HostError("storage.out_of_memory", "The statement needs more memory than it may take")
        : new HostError("storage.failed", `The storage process ended (${how})`, { data: { stderr: said } }),
    );
  }

  #kill(reason: HostError): void {
    this.#child.kill("SIGKILL");
    this.#lose(reason);
  }

  #armDeadline(afterMs: number): void {
    const turn = this.#turn;
    this.#cancelTimer();
    this.#ringsMs = this.#dueMs;
    this.#cancelTimer = this.#clock.after(afterMs, () => {
      this.#ringsMs = Infinity;
      if (!this.#settle || this.#deadlineMs === Infinity) return;
      if (turn !== this.#turn) return this.#armDeadline(Math.max(0, this.#dueMs - this.#clock.monotonic()));
      const message = `The statement was stopped after ${this.#deadlineMs} ms`;
      this.#kill(new HostError("storage.timeout", message, { data: { deadline_ms: this.#deadlineMs } }));
    });
  }

  /** Checks the process's memory every 100 ms while it works, where the system has /proc. */
  #armWatch(): void {
    const turn = this.#turn;
    this.#isWatched = true;
    this.#clock.after(MEMORY_CHECK_MS, async () => {
      this.#isWatched = false;
      if (!this.#settle || this.#isDead) return;
      if (turn === this.#turn) await this.#checkMemory(turn);
      if (!this.#isWatched) this.#armWatch();
    });
  }

  async #checkMemory(turn: number): Promise<void> {
    const { maxMemoryBytes } = this.#limits;
    const statm = await this.#files.readText(`/proc/${this.#child.pid}/statm`).catch(() => null);
    if (!this.#settle || turn !== this.#turn || statm === null) return;
    if (Number(statm.split(" ")[1]) * PAGE_BYTES <= maxMemoryBytes) return;
    const message = `The statement was stopped: it took more than ${maxMemoryBytes} bytes of memory`;
    this.#kill(new HostError("storage.out_of_memory", message, { hint: "Use LIMIT, or sort less at once" }));
  }

  #noteStderr(text: string): void {
    this.#stderr = (this.#stderr + text).slice(-STDERR_CHARACTERS);
  }
}

interface LaneOptions {
  readonly start: () => Promise<StorageProcess>;
  readonly maxProcesses: number;
  readonly clock: Clock;
}

interface Waiting {
  readonly question: StorageQuestion;
  readonly deadlineMs: number;
  readonly settle: Settle;
  isRepeat: boolean;
}

/** A question waits this long for a process that is busy before another one is started. */
const GROW_AFTER_MS = 25;
/** Processes beyond the first are let go when the lane had no work for this long. */
const IDLE_MS = 30_000;

/** Questions in, answers out, in order of arrival. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #idle: StorageProcess[] = [];
  readonly #all: Set<StorageProcess> = new Set();
  readonly #starts: Set<Promise<void>> = new Set();
  readonly #queue: Waiting[] = [];
  #cancelGrowth: (() => void) | null = null;
  #cancelShrink: (() => void) | null = null;
  #hasWorked = false;
  #isClosed = false;

  /** Makes a lane; no process is started before the first question. */
  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Asks a question; its time runs from when a process takes it. */
  ask(question: StorageQuestion, deadlineMs: number, settle: Settle): void {
    if (this.#isClosed) return settle(closed());
    this.#queue.push({ question, deadlineMs, settle, isRepeat: false });
    this.#advance();
  }

  /** Ends every process; questions that wait are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelGrowth?.();
    this.#cancelShrink?.();
    for (const { settle } of this.#queue.splice(0)) settle(closed());
    await Promise.allSettled(this.#starts);
    await Promise.all([...this.#all].map((worker) => worker.close()));
  }

  #advance(): void {
    while (this.#queue.length > 0) {
      const worker = this.#idle.pop();
      if (!worker) break;
      if (!worker.isDead) this.#run(worker, this.#queue.shift()!);
      else this.#all.delete(worker);
    }
    if (this.#queue.length === 0 || this.#isClosed) return;
    const count = this.#all.size + this.#starts.size;
    if (count === 0) this.#grow();
    else if (count < this.#options.maxProcesses && this.#starts.size === 0) {
      this.#cancelGrowth ??= this.#options.clock.after(GROW_AFTER_MS, () => {
        this.#cancelGrowth = null;
        if (this.#queue.length > 0 && !this.#isClosed) this.#grow();
      });
    }
  }

  #grow(): void {
    const start = this.#options.start().then(
      (worker) => {
        this.#all.add(worker);
        this.#idle.push(worker);
      },
      // The question that has waited longest fails with the error; the others try again.
      (error) => this.#queue.shift()?.settle(error),
    ).finally(() => {
      this.#starts.delete(start);
      this.#advance();
    });
    this.#starts.add(start);
  }

  #run(worker: StorageProcess, waiting: Waiting): void {
    worker.ask(waiting.question, waiting.deadlineMs, (answer) => {
      if (worker.isDead) this.#all.delete(worker);
      else this.#idle.push(worker);
      // The process may have died before the question reached it: a question that changes nothing is asked again.
      if (!waiting.isRepeat && !this.#isClosed && isLost(answer) && isHarmless(waiting.question)) {
        waiting.isRepeat = true;
        this.#queue.unshift(waiting);
      } else waiting.settle(answer);
      this.#advance();
      this.#hasWorked = true;
      if (this.#all.size > 1) this.#shrinkLater();
    });
  }

  #shrinkLater(): void {
    if (this.#isClosed) return;
    this.#cancelShrink ??= this.#options.clock.after(IDLE_MS, () => {
      this.#cancelShrink = null;
      if (this.#hasWorked) {
        this.#hasWorked = false;
        return this.#shrinkLater();
      }
      for (const worker of this.#idle.splice(1)) {
        this.#all.delete(worker);
        void worker.close();
      }
    });
  }
}

function isHarmless({ op }: StorageQuestion): boolean {
  return op === "query" || op === "schema" || op === "claim" || op === "report";
}

function isLost(answer: string | HostError): boolean {
  return answer instanceof HostError && answer.code === "storage.failed";
}

function closed(): HostError {
  return new HostError("storage.failed", "The storage was closed");
}
