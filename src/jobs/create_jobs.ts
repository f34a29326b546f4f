/**
 * Background jobs: runs of agents that outlive the request for them, with records, events and schedules.
 *
 * @module
 */
import { clock as systemClock } from "../adapters/shared/clock.ts";
import { ids as systemIds } from "../adapters/shared/ids.ts";
import { HostError } from "../core/errors/host_error.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import { printWarning } from "../core/values/printable.ts";
import type { AgentContext, AgentRun, RunRequest, RunResult } from "./agent.ts";
import { placeOf, type StreamReader } from "./event_stream.ts";
import { lifeOf } from "./job_ends.ts";
import { checkName, checkScope } from "./job_names.ts";
import { JobStreams } from "./job_streams.ts";
import { JobReader } from "./job_reader.ts";
import type { CreateJobsOptions, JobFilter, JobPageFilter, Jobs, JobsOptions } from "./jobs.ts";
import { emitRunEnd, runAgent, type RunnerPorts } from "./run_agent.ts";
import { type OpenSchedule, type Schedule, Schedules } from "./schedules.ts";
import { memoryJobs } from "./sqlite_jobs.ts";
import { type ForgetRequest, isFinal, type Job, type JobBackend, type JobList, type JobQueue } from "./types.ts";
import { Worker } from "./worker.ts";

const DAY_MS = 24 * 3600_000;
const KEPT_CHARS = 64 * 1024 * 1024;
const INLINE_BYTES = 1024 * 1024;
const MAX_RESULT_BYTES = 64 * 1024 * 1024;
/** An input stands in its record, which every list reads. */
const MAX_INPUT_CHARS = 16 * 1024 * 1024;

/** Returns jobs in a backend. Nothing runs before {@link Jobs.work}. */
export function createJobs<C extends AgentContext = AgentContext>(options: CreateJobsOptions<C> = {}): Jobs<C> {
  checkNumbers(options);
  return new OpenJobs(options);
}

class OpenJobs<C extends AgentContext> implements Jobs<C> {
  readonly #options: CreateJobsOptions<C>;
  readonly #backend: JobBackend;
  readonly #reader: JobReader;
  readonly #ports: RunnerPorts<C>;
  readonly #ids: Ids;
  readonly #runs = new Map<string, AgentRun<C>>();
  readonly #streams: JobStreams;
  readonly #worker: Worker<C>;
  readonly #schedules: Schedules;
  readonly #retention: RetentionOptions;
  readonly #starting = new Set<Promise<Job>>();
  #stopTidying: (() => Promise<void>) | null = null;
  #isStopped = false;

  constructor(options: CreateJobsOptions<C>) {
    const { clock, ids } = options.runtime ?? { clock: systemClock, ids: systemIds };
    const { backend = memoryJobs({ clock, ids }), pollMs = 1000, concurrency = 10, scopeLimits } = options;
    const { maxPerScope = Infinity } = options;
    const { keepFinishedMs: maxAgeMs = 30 * DAY_MS, maxFinished = 100_000 } = options;
    const { inlineResultBytes: inlineBytes = INLINE_BYTES, maxResultBytes = MAX_RESULT_BYTES } = options;
    const { store, queue } = backend;
    const onProblem = options.onProblem ?? printWarning;
    this.#options = options;
    this.#backend = backend;
    this.#reader = new JobReader(store, inlineBytes);
    this.#ids = ids;
    this.#retention = { queue, clock, maxAgeMs, maxFinished, onProblem };
    this.#ports = {
      prepare: options.prepare ?? ((base) => ({ context: base as C, toolsUsed: () => [], close: async () => {} })),
      events: options.events ?? null,
      tracing: options.tracing ?? null,
      clock,
      maxResultBytes,
    };
    this.#streams = new JobStreams({
      clock,
      pollMs,
      maxEvents: options.maxEvents ?? 10_000,
      maxChars: options.maxEventChars ?? 1024 * 1024,
      graceMs: options.eventGraceMs ?? 60_000,
      maxKeptChars: KEPT_CHARS,
      look: async ({ id, scopeId }) => {
        const job = await store.get(id, scopeId);
        return job && await this.#reader.filled(job);
      },
    });
    this.#worker = new Worker<C>({
      ...this.#ports,
      // A store may hand a job to the worker before its create() has resolved here.
      announced: () => this.#starting.size === 0 ? null : Promise.allSettled(this.#starting),
      name: ids.create("worker"),
      backend,
      runs: this.#runs,
      streams: this.#streams,
      inlineBytes,
      concurrency,
      scopes: { maxPerScope, ...(scopeLimits && { limits: scopeLimits }) },
      leavesPlace: options.maxPerScope === undefined,
      leaseMs: options.leaseMs ?? 15_000,
      pollMs,
      retry: {
        maxAttempts: options.maxAttempts ?? 1,
        retryErrors: options.retryErrors ?? false,
        retryDelayMs: options.retryDelayMs ?? 1000,
      },
      onProblem,
    });
    const start = (request: RunRequest): Promise<Job> => this.start(request);
    const finished = (job: Job): Promise<Job> => this.#ended(job);
    this.#schedules = new Schedules({ clock, queue, events: this.#ports.events, onProblem, start, finished });
  }

  agent(name: string, run: AgentRun<C>): void {
    checkName("An agent's name", name);
    if (this.#runs.has(name)) {
      throw new HostError("jobs.agent_duplicate", `The agent "${name}" has a run already`, { data: { name } });
    }
    this.#runs.set(name, run);
    this.#worker.poke();
  }

  agents(): string[] {
    return [...new Set([...this.#runs.keys(), ...this.#options.remoteAgents ?? []])];
  }

  async work(): Promise<Job[]> {
    const found = await this.#worker.open();
    if (!this.#isStopped) this.#stopTidying ??= keepTidy(this.#retention);
    return found;
  }

  async start(given: RunRequest): Promise<Job> {
    const { agentName, input, conversationId, scopeId } = this.#checked(given);
    this.#checkOpen();
    const scope = scopeId === undefined ? {} : { scopeId };
    const fields = { agentName, input, conversationId, ...scope };
    const creating = this.#backend.store.create({ ...fields, status: "queued" }).then((job) => {
      this.#ports.events?.emit("job:start", { jobId: job.id, ...fields });
      return job;
    });
    this.#starting.add(creating);
    const job = await creating.finally(() => this.#starting.delete(creating));
    this.#options.waitUntil?.(this.#ended(job).catch(() => {}));
    this.#worker.poke();
    return job;
  }

  get(id: string, scopeId?: string): Promise<Job> {
    return this.#reader.get(id, scopeId);
  }

  find(id: string): Promise<Job> {
    return this.#reader.find(id);
  }

  result(id: string, scopeId?: string): Promise<ReadableStream<Uint8Array>> {
    return this.#reader.result(id, scopeId);
  }

  list(filter: JobFilter = {}): Promise<Job[]> {
    return this.#reader.list(filter);
  }

  page(filter: JobPageFilter = {}): Promise<JobList> {
    return this.#reader.page(filter);
  }

  async cancel(id: string, scopeId?: string): Promise<Job> {
    const { events, clock } = this.#ports;
    const job = await this.#backend.queue.cancel(id, scopeId);
    if (!job) {
      const { status } = await this.#reader.record(id, scopeId);
      throw new HostError("jobs.finished", `The job "${id}" has ${status} already`, { data: { id, status } });
    }
    events?.emit("job:cancelled", { jobId: id, agentName: job.agentName, duration: lifeOf(job, clock) });
    this.#worker.abort(id);
    this.#streams.end(job);
    return job;
  }

  async delete(id: string, scopeId?: string): Promise<void> {
    const { status } = await this.#reader.record(id, scopeId);
    if (!isFinal(status)) {
      throw new HostError("jobs.not_finished", `The job "${id}" is ${status}`, {
        data: { id, status },
        hint: "Cancel it first, or wait for its end",
      });
    }
    await this.#backend.store.delete(id, scopeId);
    this.#streams.drop(id);
  }

  async stream(id: string, { scopeId, after }: Parameters<Jobs["stream"]>[1] = {}): Promise<StreamReader> {
    this.#checkOpen();
    return this.#streams.read(await this.get(id, scopeId), after === undefined ? null : placeOf(after));
  }

  async finished(id: string, scopeId?: string): Promise<Job> {
    this.#checkOpen();
    return await this.#ended(await this.get(id, scopeId));
  }

  async run(given: RunRequest, options: Parameters<Jobs["run"]>[1] = {}): Promise<RunResult> {
    const { signal = new AbortController().signal, emit = () => {} } = options;
    const request = this.#checked(given);
    this.#checkOpen();
    const run = this.#runs.get(request.agentName);
    if (!run) {
      throw new HostError("jobs.agent_unknown", `The agent "${request.agentName}" runs in other processes`, {
        hint: "Start a job for it",
      });
    }
    const context: AgentContext = { ...request, attempt: 1, signal, emit };
    const outcome = await runAgent(run, context, this.#ports);
    emitRunEnd(context, outcome, this.#ports.events);
    if (!outcome.ok) throw runFailure(outcome.error, outcome.cause);
    const { output, usage, toolsUsed } = outcome;
    return { output, usage, toolsUsed, conversationId: request.conversationId };
  }

  async schedule(schedule: Schedule): Promise<OpenSchedule> {
    this.#checked(schedule);
    this.#checkOpen();
    return await this.#schedules.add(schedule);
  }

  schedules(): OpenSchedule[] {
    return this.#schedules.list();
  }

  async stop({ graceMs = 5000 }: { readonly graceMs?: number } = {}): Promise<void> {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#schedules.stop();
    await Promise.all([this.#worker.stop(graceMs), this.#stopTidying?.()]);
    this.#streams.close();
    await this.#backend.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** The request with its defaults, or an error that lists everything that is wrong with it. */
  #checked(request: RunRequest): RunRequest & { conversationId: string } {
    const { agentName, input, conversationId = this.#ids.create("ses"), scopeId } = request;
    if (!this.#runs.has(agentName) && !this.#options.remoteAgents?.includes(agentName)) {
      const known = this.agents();
      throw new HostError("jobs.agent_unknown", `No run is registered for the agent "${agentName}"`, {
        data: { agentName, known },
        hint: known.length > 0 ? `There are: ${known.join(", ")}` : "Register one with agent(name, run)",
      });
    }
    const issues = [
      ...(typeof input === "string" ? [] : ["input is not a text"]),
      ...(input?.length > MAX_INPUT_CHARS ? [`input has more than ${MAX_INPUT_CHARS} characters`] : []),
      ...(typeof conversationId === "string" && conversationId !== "" ? [] : ["conversationId is not a text"]),
    ];
    if (issues.length > 0) throw new HostError("jobs.input_invalid", issues.join("; "), { data: { issues } });
    checkScope(scopeId);
    return { agentName, input, conversationId, ...(scopeId !== undefined && { scopeId }) };
  }

  #checkOpen(): void {
    if (this.#isStopped) throw new HostError("jobs.stopped", "The jobs were stopped", { hint: "Make new ones" });
  }

  /** The end of a job is the end of its stream. */
  async #ended(job: Job): Promise<Job> {
    for await (const event of this.#streams.read(job, null)) if (event.type === "done") return event.data as Job;
    throw new HostError("jobs.stopped", `The jobs were stopped while "${job.id}" was waited for`);
  }
}

/** The agent's own failure, unless its answer was too large. */
function runFailure(message: string, cause: unknown): HostError {
  const isTooLarge = cause instanceof HostError && cause.code === "jobs.result_too_large";
  return isTooLarge ? cause : new HostError("jobs.run_failed", message, { cause });
}

/** Throws a `RangeError` for settings with which nothing would ever run. */
function checkNumbers(options: JobsOptions): void {
  const check = (name: string, value: number, least: 0 | 1, isBounded: boolean): void => {
    if (value >= least && (value < Infinity || !isBounded)) return;
    throw new RangeError(`jobs: ${name} is ${value}, not ${least} or more`);
  };
  const checkCount = (name: string, value: number, least: 0 | 1, isBounded: boolean): void => {
    check(name, value, least, isBounded);
    if (value % 1 > 0) throw new RangeError(`jobs: ${name} is ${value}, not a whole number`);
  };
  for (const name of ["concurrency", "leaseMs", "pollMs", "maxAttempts", "maxResultBytes"] as const) {
    check(name, options[name] ?? 1, 1, true);
  }
  checkCount("maxPerScope", options.maxPerScope ?? 1, 1, false);
  for (const [scopeId, { max = 1, weight = 1 }] of Object.entries(options.scopeLimits ?? {})) {
    checkCount(`scopeLimits["${scopeId}"].max`, max, 0, false); // None: the jobs of such a scope wait.
    checkCount(`scopeLimits["${scopeId}"].weight`, weight, 1, true);
  }
  for (const name of ["keepFinishedMs", "maxFinished", "inlineResultBytes"] as const) {
    check(name, options[name] ?? 0, 0, false);
  }
}

interface RetentionOptions extends Pick<ForgetRequest, "maxAgeMs" | "maxFinished"> {
  readonly queue: Pick<JobQueue, "forget">;
  readonly clock: Clock;
  readonly onProblem: (error: unknown) => void;
}

const EVERY_MS = 3600_000;
/** Small enough that other users of the store need not wait long. */
const BATCH = 500;

/** Forgets finished jobs now and every hour, until the returned function is called; that resolves when it is done. */
export function keepTidy({ queue, clock, maxAgeMs, maxFinished, onProblem }: RetentionOptions): () => Promise<void> {
  let isStopped = false;
  let cancel = (): void => {};
  let sweeping = sweep();

  async function sweep(): Promise<void> {
    try {
      while (!isStopped && await queue.forget({ maxAgeMs, maxFinished, batch: BATCH }) === BATCH);
    } catch (error) {
      onProblem(error);
    }
    if (!isStopped) cancel = clock.after(EVERY_MS, () => sweeping = sweep());
  }

  return () => {
    isStopped = true;
    cancel();
    return sweeping;
  };
}
