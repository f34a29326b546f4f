/**
 * The streams of one process's jobs: those it runs, and those it only watches because another process runs them.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";
import { EventStream, type StreamLimits, type StreamPlace, type StreamReader } from "./event_stream.ts";
import { isFinal, type Job } from "./types.ts";

interface JobStreamsOptions extends StreamLimits {
  readonly clock: Clock;
  /** How long the events of a finished job are kept after its last reader has left. */
  readonly graceMs: number;
  /** Characters that finished jobs may keep together; beyond them, or beyond 10 000 jobs, the oldest go. */
  readonly maxKeptChars: number;
  /** How often a job that another process runs is looked at while someone reads it. */
  readonly pollMs: number;
  /** Reads the job's record, or null when it was deleted. */
  readonly look: (job: Job) => Promise<Job | null>;
}

interface Entry {
  readonly stream: EventStream;
  job: Job;
  /** Whether this process runs it. */
  isOurs: boolean;
  cancelTimer: () => void;
}

const MAX_KEPT = 10_000;

/** Keeps a stream for each job that runs here or is read here. */
export class JobStreams {
  readonly #options: JobStreamsOptions;
  readonly #entries = new Map<string, Entry>();
  /** Finished jobs without readers → characters each keeps, the first finished first. */
  readonly #kept = new Map<string, number>();
  #keptChars = 0;

  constructor(options: JobStreamsOptions) {
    this.#options = options;
  }

  /** A run of the job begins in this process. */
  begin(job: Job, attempt: number): EventStream {
    const entry = this.#entry(job);
    entry.isOurs = true;
    entry.cancelTimer();
    entry.stream.begin(attempt);
    return entry.stream;
  }

  /** The run is over here, with the job as it is now: at its end, or waiting for a run that may be elsewhere. */
  end(job: Job): void {
    const entry = this.#entries.get(job.id);
    if (!entry) return;
    entry.job = job;
    entry.isOurs = false;
    if (!isFinal(job.status)) return this.#watch(entry);
    entry.stream.finish(job);
    this.#rest(entry);
  }

  /** Returns a reader of a job's events, from after a place or from the start. */
  read(job: Job, after: StreamPlace | null): StreamReader {
    const entry = this.#entry(job);
    this.#unkeep(job.id);
    entry.cancelTimer();
    const reader = entry.stream.read(after);
    if (isFinal(job.status)) this.end(job);
    else if (!entry.isOurs) this.#watch(entry);
    return reader;
  }

  /** Forgets a job and its events. */
  drop(id: string): void {
    this.#entries.get(id)?.cancelTimer();
    this.#unkeep(id);
    this.#entries.delete(id);
  }

  /** Lets every reader go, and forgets everything. */
  close(): void {
    for (const { stream } of this.#entries.values()) stream.abandon();
    for (const id of [...this.#entries.keys()]) this.drop(id);
  }

  #entry(job: Job): Entry {
    const found = this.#entries.get(job.id);
    if (found) return found;
    const stream = new EventStream(this.#options);
    const entry: Entry = { stream, job, isOurs: false, cancelTimer: () => {} };
    stream.onIdle = () => this.#rest(entry);
    this.#entries.set(job.id, entry);
    return entry;
  }

  /** Another process runs it, or will: only its record can be seen here, so it is read every `pollMs`. */
  #watch(entry: Entry): void {
    if (entry.stream.readers === 0) return this.#rest(entry);
    entry.cancelTimer();
    entry.cancelTimer = this.#options.clock.after(this.#options.pollMs, async () => {
      const job = await this.#options.look(entry.job).catch(() => entry.job);
      if (entry.isOurs || this.#entries.get(entry.job.id) !== entry) return;
      // A missing record was deleted, which only a finished job can be.
      if (job === null) entry.stream.finish({ ...entry.job, error: "The job was deleted" });
      else this.end(job);
    });
  }

  /** Nobody reads it: a finished job goes after the grace, one that was only watched goes now. */
  #rest(entry: Entry): void {
    const { stream, job, isOurs } = entry;
    if (stream.readers > 0 || isOurs) return;
    entry.cancelTimer();
    if (!stream.isDone || !stream.hasBegun) return this.drop(job.id);
    entry.cancelTimer = this.#options.clock.after(this.#options.graceMs, () => this.drop(job.id));
    this.#unkeep(job.id);
    this.#kept.set(job.id, stream.chars);
    this.#keptChars += stream.chars;
    while (this.#keptChars > this.#options.maxKeptChars || this.#kept.size > MAX_KEPT) {
      this.drop(this.#kept.keys().next().value!);
    }
  }

  #unkeep(id: string): void {
    this.#keptChars -= this.#kept.get(id) ?? 0;
    this.#kept.delete(id);
  }
}
