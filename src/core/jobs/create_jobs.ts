/**
 * Background jobs: agents that run apart from who asked for it, with their records, their events and their schedules.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import type { Clock, Ids } from "../ports.ts";
import type { Tracing } from "../tracing/types.ts";
import type { AgentContext, AgentRun, JobEvents, RunRequest, RunResult } from "./agent.ts";
import { placeOf, type StreamReader } from "./event_stream.ts";
import { lifeOf } from "./job_ends.ts";
import { checkName, checkScope } from "./job_names.ts";
import { pageOf } from "./job_page.ts";
import { JobStreams } from "./job_streams.ts";
import { keepTidy } from "./retention.ts";
import { type PrepareRun, runAgent, type RunnerPorts, tellEnd } from "./run_agent.ts";
import { type OpenSchedule, type Schedule, Schedules } from "./schedules.ts";
import { isFinal, type Job, type JobBackend, type JobPage } from "./types.ts";
import { Worker } from "./worker.ts";

/** How jobs are run and kept. Every field has a default. */
export interface JobsOptions {
  /** Where jobs live. Default of a host: SQLite, in the operator's folder. */
  readonly backend?: JobBackend;
  /** Jobs that run at a time in this process. Default 10. */
  readonly concurrency?: number;
  /** How long a worker may be silent before its jobs are taken from it. Default 15 000. */
  readonly leaseMs?: number;
  /** How often to look for jobs other processes have queued. Default 1 000. */
  readonly pollMs?: number;
  /** How often a job may be begun. Default 1: a job whose process dies has failed, and is never run twice. */
  readonly maxAttempts?: number;
  /** Whether a run that fails is begun again too, within `maxAttempts`. Default false. */
  readonly retryErrors?: boolean;
  /** Wait before the second attempt at a run that failed, doubled for each one after. Default 1 000. */
  readonly retryDelayMs?: number;
  /** Agents that other processes run: jobs for them are queued here. */
  readonly remoteAgents?: readonly string[];
  /** Events kept for the readers of one job. Default 10 000. */
  readonly maxEvents?: number;
  /** Characters of event data kept for the readers of one job. Default 1 Mi. */
  readonly maxEventChars?: number;
  /** How long the events of a finished job are kept after its last reader has left. Default 60 000. */
  readonly eventGraceMs?: number;
  /** How long finished jobs are kept; `Infinity` for ever. Default 30 days. */
  readonly keepFinishedMs?: number;
  /** How many finished jobs are kept, of all scopes together: the first that ended go first. Default 100 000. */
  readonly maxFinished?: number;
  /** Keeps the platform from ending the program before the work is done, where platforms do that. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
  /** Hears of trouble with the store, and of turns a schedule skips. Default: `console.error`. */
  readonly onProblem?: (error: unknown) => void;
}

/** What jobs stand on. */
export interface CreateJobsOptions<C extends AgentContext = AgentContext> extends JobsOptions {
  /** Where jobs live. */
  readonly backend: JobBackend;
  /** Time and ids. */
  readonly runtime: { readonly clock: Clock; readonly ids: Ids };
  /** Where lifecycle events go. Absent: nowhere, at no cost. */
  readonly events?: JobEvents | null;
  /** Spans. */
  readonly tracing?: Tracing | null;
  /** Completes the context of each run. Default: the run gets the plain one. */
  readonly prepare?: PrepareRun<C>;
}

/** Which jobs are meant. */
export interface JobFilter extends JobPage {
  /** Of which scope; absent: those without one. */
  readonly scopeId?: string;
}

/** What a client asks of jobs. Scopes are part of a job's address: leave `scopeId` out for jobs without one. */
export interface JobsClient {
  /** Names of the agents that jobs can be started for. */
  agents(): string[];
  /** Starts a job: resolves when it is queued. Throws `jobs.agent_unknown` or `jobs.input_invalid`. */
  start(request: RunRequest): Promise<Job>;
  /** Returns a job. Throws `jobs.unknown`. */
  get(id: string, scopeId?: string): Promise<Job>;
  /** Returns jobs, the oldest first; with a limit the newest of them. Throws `jobs.unknown` for a `before` that is gone. */
  list(filter?: JobFilter): Promise<Job[]>;
  /** Cancels a job and aborts its run. Throws `jobs.unknown` or `jobs.finished`. */
  cancel(id: string, scopeId?: string): Promise<Job>;
  /** Removes the record of a finished job. Throws `jobs.unknown` or `jobs.not_finished`. */
  delete(id: string, scopeId?: string): Promise<void>;
  /**
   * Follows a job: what it has told, what it tells, then `done`. `after` is the id of the last event that was read. Ends
   * for a job of another process too, with `lost` in place of its events. Throws `jobs.unknown`.
   */
  stream(id: string, options?: { readonly scopeId?: string; readonly after?: string }): Promise<StreamReader>;
  /**
   * Resolves with the job when it has come to its end, wherever it runs. Throws `jobs.unknown`, or `jobs.stopped` when
   * these jobs are stopped before.
   */
  finished(id: string, scopeId?: string): Promise<Job>;
  /** Runs an agent here and now, without a job. Throws `jobs.run_failed` with what the agent threw as cause. */
  run(
    request: RunRequest,
    options?: { readonly signal?: AbortSignal; readonly emit?: (type: string, data?: unknown) => void },
  ): Promise<RunResult>;
}

/** Background jobs. */
export interface Jobs<C extends AgentContext = AgentContext> extends JobsClient, AsyncDisposable {
  /** Says what an agent runs. Throws `jobs.agent_duplicate`. */
  agent(name: string, run: AgentRun<C>): void;
  /**
   * Begins to take jobs, those that were queued before included. Returns the jobs found running in a process that is
   * gone, as they are now: failed, or queued again. Without it jobs are only queued, for another process.
   */
  work(): Promise<Job[]>;
  /** Starts a job at set times, until it is stopped. Rejects with `jobs.schedule_invalid` or `jobs.schedule_duplicate`. */
  schedule(schedule: Schedule): Promise<OpenSchedule>;
  /** The schedules under way. */
  schedules(): OpenSchedule[];
  /**
   * Takes no more jobs, waits `graceMs` (default 5 000) for those that run, then aborts them: each is queued again when
   * it may be begun again, and has failed otherwise. Closes the backend.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

const DAY_MS = 24 * 3600_000;
const KEPT_CHARS = 64 * 1024 * 1024;

/** Returns jobs in a backend. Nothing runs before {@link Jobs.work}. */
export function createJobs<C extends AgentContext = AgentContext>(options: CreateJobsOptions<C>): Jobs<C> {
  const { backend, runtime: { clock, ids }, pollMs = 1000, remoteAgents = [], waitUntil } = options;
  checkNumbers(options);
  const { store, queue } = backend;
  const onProblem = options.onProblem ?? ((error: unknown) => console.error(error));
  const runs = new Map<string, AgentRun<C>>();
  const ports: RunnerPorts<C> = {
    prepare: options.prepare ?? ((base) => ({ context: base as C, toolsUsed: () => [], close: async () => {} })),
    events: options.events ?? null,
    tracing: options.tracing ?? null,
    clock,
  };
  const { events } = ports;
  const streams = new JobStreams({
    clock,
    pollMs,
    maxEvents: options.maxEvents ?? 10_000,
    maxChars: options.maxEventChars ?? 1024 * 1024,
    graceMs: options.eventGraceMs ?? 60_000,
    maxKeptChars: KEPT_CHARS,
    look: ({ id, scopeId }) => store.get(id, scopeId),
  });
  const starting = new Set<Promise<Job>>();
  const worker = new Worker<C>({
    ...ports,
    // A store may hand a job out before it has told us that it is kept.
    told: () => starting.size === 0 ? null : Promise.allSettled(starting),
    name: ids.create("worker"),
    backend,
    runs,
    streams,
    concurrency: options.concurrency ?? 10,
    leaseMs: options.leaseMs ?? 15_000,
    pollMs,
    retry: {
      maxAttempts: options.maxAttempts ?? 1,
      retryErrors: options.retryErrors ?? false,
      retryDelayMs: options.retryDelayMs ?? 1000,
    },
    onProblem,
  });
  const schedules = new Schedules({ clock, queue, events, onProblem, start, finished: ended });
  const { keepFinishedMs: maxAgeMs = 30 * DAY_MS, maxFinished = 100_000 } = options;
  let stopTidying: (() => Promise<void>) | null = null;
  let isStopped = false;

  async function find(id: string, scopeId?: string): Promise<Job> {
    const job = await store.get(id, scopeId);
    if (job) return job;
    throw new HostError("jobs.unknown", `There is no job "${id}"`, { data: { id }, hint: "List the jobs" });
  }

  function checkOpen(): void {
    if (isStopped) throw new HostError("jobs.stopped", "The jobs were stopped", { hint: "Make new ones" });
  }

  /** The end of a job is the end of its stream. */
  async function ended(job: Job): Promise<Job> {
    for await (const event of streams.read(job, null)) if (event.type === "done") return event.data as Job;
    throw new HostError("jobs.stopped", `The jobs were stopped while "${job.id}" was waited for`);
  }

  async function start(given: RunRequest): Promise<Job> {
    const { agentName, input, conversationId, scopeId } = checked(given);
    checkOpen();
    const scope = scopeId === undefined ? {} : { scopeId };
    const creating = store.create({ agentName, input, conversationId, ...scope, status: "queued" }).then((job) => {
      events?.emit("job:start", { jobId: job.id, agentName, input, conversationId, ...scope });
      return job;
    });
    starting.add(creating);
    const job = await creating.finally(() => starting.delete(creating));
    waitUntil?.(ended(job).catch(() => {}));
    worker.poke();
    return job;
  }

  /** The request with its defaults, or an error that lists everything that is wrong with it. */
  function checked({ agentName, input, conversationId = ids.create("ses"), scopeId }: RunRequest): RunRequest & {
    conversationId: string;
  } {
    if (!runs.has(agentName) && !remoteAgents.includes(agentName)) {
      throw new HostError("jobs.agent_unknown", `No run is registered for the agent "${agentName}"`, {
        data: { agentName, known: known() },
        hint: known().length > 0 ? `There are: ${known().join(", ")}` : "Register one with agent(name, run)",
      });
    }
    const issues = [
      ...(typeof input === "string" ? [] : ["input is not a text"]),
      ...(typeof conversationId === "string" && conversationId !== "" ? [] : ["conversationId is not a text"]),
    ];
    if (issues.length > 0) throw new HostError("jobs.input_invalid", issues.join("; "), { data: { issues } });
    checkScope(scopeId);
    return { agentName, input, conversationId, ...(scopeId !== undefined && { scopeId }) };
  }

  const known = (): string[] => [...new Set([...runs.keys(), ...remoteAgents])];

  const jobs: Jobs<C> = {
    agent(name, run) {
      checkName("An agent's name", name);
      if (runs.has(name)) {
        throw new HostError("jobs.agent_duplicate", `The agent "${name}" has a run already`, { data: { name } });
      }
      runs.set(name, run);
      worker.poke();
    },
    agents: known,
    async work() {
      const found = await worker.open();
      if (!isStopped) stopTidying ??= keepTidy({ queue, clock, maxAgeMs, maxFinished, onProblem });
      return found;
    },
    start,
    get: find,
    async list({ scopeId, ...page } = {}) {
      const { limit = Infinity, before } = page;
      if (!(limit >= 1) || limit % 1 > 0) {
        throw new RangeError(`jobs: limit is ${limit}, not a whole number of 1 or more`);
      }
      if (before !== undefined) await find(before, scopeId);
      return pageOf(await store.list(scopeId, page), page);
    },
    async cancel(id, scopeId) {
      const job = await queue.cancel(id, scopeId);
      if (!job) {
        const { status } = await find(id, scopeId);
        throw new HostError("jobs.finished", `The job "${id}" has ${status} already`, { data: { id, status } });
      }
      events?.emit("job:cancelled", { jobId: id, agentName: job.agentName, duration: lifeOf(job, clock) });
      worker.abort(id);
      streams.end(job);
      return job;
    },
    async delete(id, scopeId) {
      const { status } = await find(id, scopeId);
      if (!isFinal(status)) {
        throw new HostError("jobs.not_finished", `The job "${id}" is ${status}`, {
          data: { id, status },
          hint: "Cancel it first, or wait for its end",
        });
      }
      await store.delete(id, scopeId);
      streams.drop(id);
    },
    async stream(id, { scopeId, after } = {}) {
      checkOpen();
      return streams.read(await find(id, scopeId), after === undefined ? null : placeOf(after));
    },
    async finished(id, scopeId) {
      checkOpen();
      return await ended(await find(id, scopeId));
    },
    async run(given, { signal = new AbortController().signal, emit = () => {} } = {}) {
      const request = checked(given);
      checkOpen();
      const run = runs.get(request.agentName);
      if (!run) {
        throw new HostError("jobs.agent_unknown", `The agent "${request.agentName}" runs in other processes`, {
          hint: "Start a job for it",
        });
      }
      const context: AgentContext = { ...request, attempt: 1, signal, emit };
      const outcome = await runAgent(run, context, ports);
      tellEnd(context, outcome, events);
      if (!outcome.ok) throw new HostError("jobs.run_failed", outcome.error, { cause: outcome.cause });
      const { output, usage, toolsUsed } = outcome;
      return { output, usage, toolsUsed, conversationId: request.conversationId };
    },
    async schedule(schedule) {
      checked(schedule);
      checkOpen();
      return await schedules.add(schedule);
    },
    schedules: () => schedules.list(),
    async stop({ graceMs = 5000 } = {}) {
      if (isStopped) return;
      isStopped = true;
      schedules.stop();
      await Promise.all([worker.stop(graceMs), stopTidying?.()]);
      streams.close();
      await backend.close();
    },
    [Symbol.asyncDispose]: () => jobs.stop(),
  };
  return jobs;
}

/** Throws a `RangeError` for settings with which nothing would ever run. */
function checkNumbers(options: JobsOptions): void {
  for (const name of ["concurrency", "leaseMs", "pollMs", "maxAttempts"] as const) {
    const value = options[name] ?? 1;
    if (!Number.isFinite(value) || value < 1) throw new RangeError(`jobs: ${name} is ${value}, not 1 or more`);
  }
  for (const name of ["keepFinishedMs", "maxFinished"] as const) {
    const value = options[name] ?? 0;
    if (!(value >= 0)) throw new RangeError(`jobs: ${name} is ${value}, not 0 or more`);
  }
}
