/**
 * A lane: a queue of questions, and the processes that answer them. Writes have a lane with one process, because SQLite has one
 * writer; reads have one that grows, so that a slow query of one plugin does not keep the others waiting.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Clock } from "../ports/ports.ts";
import type { StorageQuestion } from "./messages.ts";
import type { StorageProcess } from "./storage_process.ts";

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
