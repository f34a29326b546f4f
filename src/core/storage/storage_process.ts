/**
 * One storage process, as the host sees it: it answers one question at a time, and is killed when an answer takes too
 * long or too much memory.
 *
 * @module
 */
import { HostError, messageOf } from "../errors/host_error.ts";
import type { ChildProcess, Clock, Runtime } from "../ports/ports.ts";
import { sha256 } from "../values/sha256.ts";
import { LineReader } from "../wire/read_lines.ts";
import type { StorageLimits } from "./limits.ts";
import { errorFromParts, type StorageAnswer, type StorageQuestion, type StorageSetup } from "./messages.ts";

/** How a storage process is started. */
interface StorageProcessOptions {
  readonly runtime: Runtime;
  /** Path of the program's file, see {@link writeProgram}. */
  readonly program: string;
  readonly cwd: string;
  readonly setup: StorageSetup;
}

/** Far above the largest answer: the process itself caps those. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
const MEMORY_CHECK_MS = 100;
const PAGE_BYTES = 4096;
const STDERR_CHARACTERS = 2_000;

/** A process that runs one question at a time. */
export class StorageProcess {
  readonly #clock: Runtime["clock"];
  readonly #files: Runtime["files"];
  readonly #limits: StorageLimits;
  readonly #child: ChildProcess;
  #settle: ((answer: StorageAnswer | HostError) => void) | null = null;
  #stderr = "";
  #isDead = false;

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
      line: (text) => void (started && started.#answered(text)),
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
    await ready.ask(setup, Infinity);
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
  async ask(question: StorageQuestion | StorageSetup, deadlineMs: number): Promise<unknown> {
    const answer = await new Promise<StorageAnswer | HostError>((resolve) => {
      if (this.#isDead) return resolve(new HostError("storage.failed", "The storage process has ended"));
      const stopWatching = this.#watchMemory();
      const stopTimer = deadlineMs === Infinity ? () => {} : this.#clock.after(deadlineMs, () =>
        this.#kill(
          new HostError("storage.timeout", `The statement was stopped after ${deadlineMs} ms`, {
            data: { deadline_ms: deadlineMs },
          }),
        ));
      this.#settle = (settled) => {
        this.#settle = null;
        stopTimer();
        stopWatching();
        resolve(settled);
      };
      this.#child.write(`${JSON.stringify(question)}\n`);
    });
    if (answer instanceof HostError) {
      // The database stays locked until the process is really gone.
      if (this.#isDead) await this.#child.exited;
      throw answer;
    }
    if ("error" in answer) throw errorFromParts(answer.error);
    return answer.ok;
  }

  #answered(text: string): void {
    if (!this.#settle) return this.fail("answered without a question");
    try {
      this.#settle(JSON.parse(text) as StorageAnswer);
    } catch {
      this.fail("sent an answer that is no JSON");
    }
  }

  #ended(how: string): void {
    this.#isDead = true;
    const said = this.#stderr.trim().split("\n").at(-1) ?? "";
    this.#settle?.(
      /out of memory/i.test(this.#stderr)
        ? new HostError("storage.out_of_memory", "The statement needs more memory than it may take")
        : new HostError("storage.failed", `The storage process ended (${how})`, { data: { stderr: said } }),
    );
  }

  #kill(reason: HostError): void {
    this.#isDead = true;
    this.#child.kill("SIGKILL");
    this.#settle?.(reason);
  }

  /** Checks the process's memory every 100 ms, where the system has /proc. */
  #watchMemory(): () => void {
    const { maxMemoryBytes } = this.#limits;
    let cancel = (): void => {};
    let isOver = false;
    const look = async (): Promise<void> => {
      const statm = await this.#files.readText(`/proc/${this.#child.pid}/statm`).catch(() => null);
      if (isOver || statm === null) return;
      if (Number(statm.split(" ")[1]) * PAGE_BYTES > maxMemoryBytes) {
        const message = `The statement was stopped: it took more than ${maxMemoryBytes} bytes of memory`;
        return this.#kill(new HostError("storage.out_of_memory", message, { hint: "Use LIMIT, or sort less at once" }));
      }
      cancel = this.#clock.after(MEMORY_CHECK_MS, look);
    };
    cancel = this.#clock.after(MEMORY_CHECK_MS, look);
    return () => {
      isOver = true;
      cancel();
    };
  }

  #noteStderr(text: string): void {
    this.#stderr = (this.#stderr + text).slice(-STDERR_CHARACTERS);
  }
}

/**
 * Writes the program into `<home>/run/`, unless it is there already; returns its path. Rejects with `storage.disk_full`
 * or `storage.disk_failed`.
 */
export async function writeProgram({ databases, files, ids }: Runtime, home: string): Promise<string> {
  const text = await databases.storageProgram();
  const dir = `${home}/run`;
  await files.makeDir(dir, { recursive: true, mode: 0o700 });
  const path = `${dir}/storage-${(await sha256(text)).slice(0, 16)}.mjs`;
  if (await files.readText(path).catch(() => null) === text) return path;
  // Another host may be doing the same: the file appears whole.
  const draft = `${dir}/${ids.create("storage")}.tmp`;
  try {
    await files.write(draft, text);
    await files.rename(draft, path);
  } catch (cause) {
    await files.remove(draft).catch(() => {});
    const isFull = ["ENOSPC", "EDQUOT"].includes((cause as { code?: string }).code ?? "");
    const message = `Cannot start the storage process: ${messageOf(cause)}`;
    throw new HostError(isFull ? "storage.disk_full" : "storage.disk_failed", message, {
      hint: isFull ? "Make room on the disk: the next request tries again" : "Check the disk and its permissions",
      cause,
    });
  }
  return path;
}

interface LaneOptions {
  readonly start: () => Promise<StorageProcess>;
  readonly maxProcesses: number;
  readonly clock: Clock;
}

interface Waiting {
  readonly question: StorageQuestion;
  readonly deadlineMs: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly isRepeat: boolean;
}

/** A question waits this long for a process that is busy before another one is started. */
const GROW_AFTER_MS = 25;
/** A process beyond the first is let go after this long without work. */
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
  #isClosed = false;

  /** Makes a lane; no process is started before the first question. */
  constructor(options: LaneOptions) {
    this.#options = options;
  }

  /** Asks a question; its time runs from when a process takes it. */
  ask(question: StorageQuestion, deadlineMs: number): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(closed());
      this.#queue.push({ question, deadlineMs, resolve, reject, isRepeat: false });
      this.#advance();
    });
  }

  /** Ends every process; questions that wait are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelGrowth?.();
    this.#cancelShrink?.();
    for (const { reject } of this.#queue.splice(0)) reject(closed());
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
      (error) => this.#queue.shift()?.reject(error),
    ).finally(() => {
      this.#starts.delete(start);
      this.#advance();
    });
    this.#starts.add(start);
  }

  async #run(worker: StorageProcess, waiting: Waiting): Promise<void> {
    const { question, deadlineMs, resolve, reject, isRepeat } = waiting;
    try {
      resolve(await worker.ask(question, deadlineMs));
    } catch (error) {
      // The process may have died before the question reached it: a question that changes nothing is asked again.
      const mayRepeat = !isRepeat && !this.#isClosed && isHarmless(question) && isLost(error);
      if (mayRepeat) this.#queue.unshift({ question, deadlineMs, resolve, reject, isRepeat: true });
      else reject(error);
    }
    if (worker.isDead) this.#all.delete(worker);
    else this.#idle.push(worker);
    this.#advance();
    this.#shrinkLater();
  }

  #shrinkLater(): void {
    if (this.#all.size < 2 || this.#isClosed) return;
    this.#cancelShrink?.();
    this.#cancelShrink = this.#options.clock.after(IDLE_MS, () => {
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

function isLost(error: unknown): boolean {
  return error instanceof HostError && error.code === "storage.failed";
}

function closed(): HostError {
  return new HostError("storage.failed", "The storage was closed");
}
