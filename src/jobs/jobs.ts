/**
 * The public face of background jobs: settings and methods.
 *
 * @module
 */
import type { Clock, Ids } from "../core/ports/ports.ts";
import type { Tracing } from "../otel/types.ts";
import type { AgentContext, AgentRun, JobEvents, RunRequest, RunResult } from "./agent.ts";
import type { StreamReader } from "./event_stream.ts";
import type { PrepareRun } from "./run_agent.ts";
import type { OpenSchedule, Schedule } from "./schedules.ts";
import type { ScopeLimit } from "./fair_turns.ts";
import type { Job, JobBackend, JobList, JobPage } from "./types.ts";

/** How jobs are run and kept. Every field has a default. */
export interface JobsOptions {
  /** Where jobs live. Default: memory; of a host, a SQLite file in the operator's folder. */
  readonly backend?: JobBackend;
  /** Jobs that run at a time in this process. Default 10. */
  readonly concurrency?: number;
  /**
   * Jobs of one scope that run at a time, in all processes of the store together; those without a scope are not counted.
   * Default: no such bound, but a scope alone leaves one place of each process to others.
   */
  readonly maxPerScope?: number;
  /** Scopes with another share than the others, by their ids. */
  readonly scopeLimits?: Readonly<Record<string, ScopeLimit>>;
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
  /** Bytes of a result that its record carries; a longer one has `resultAside` there. Default 1 MiB. */
  readonly inlineResultBytes?: number;
  /** Bytes that a result may have; a run that answers more fails with `jobs.result_too_large`. Default 64 MiB. */
  readonly maxResultBytes?: number;
  /** Keeps the platform from ending the program before the work is done, where platforms do that. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
  /** Called when the store fails, and for each turn that a schedule skips. Default: `console.error`. */
  readonly onProblem?: (error: unknown) => void;
}

/** Settings and ports of {@link createJobs}. Every field has a default. */
export interface CreateJobsOptions<C extends AgentContext = AgentContext> extends JobsOptions {
  /** Time and ids. Default: the system's. */
  readonly runtime?: { readonly clock: Clock; readonly ids: Ids };
  /** Takes lifecycle events. Absent: none are made. */
  readonly events?: JobEvents | null;
  /** Traces each run as a span. Default: no tracing. */
  readonly tracing?: Tracing | null;
  /** Completes the context of each run. Default: the run gets the plain one. */
  readonly prepare?: PrepareRun<C>;
}

/** Selects jobs of one scope. */
export interface JobFilter extends JobPage {
  /** Of which scope; absent: those without one. */
  readonly scopeId?: string;
  /** Whether records carry results up to `inlineResultBytes`. Default false: `resultAside` stands for each. */
  readonly results?: boolean;
}

/** Selects one page of jobs. */
export interface JobPageFilter extends Omit<JobFilter, "before"> {
  /** Jobs of every scope, for operators. Default false. */
  readonly everyScope?: boolean;
  /** The `next` of the page before; absent for the newest jobs. */
  readonly cursor?: string;
}

/** Jobs as a client uses them. Scopes are part of a job's address: leave `scopeId` out for jobs without one. */
export interface JobsClient {
  /** Names of the agents that jobs can be started for. */
  agents(): string[];
  /** Starts a job: resolves when it is queued. Throws `jobs.agent_unknown` or `jobs.input_invalid`. */
  start(request: RunRequest): Promise<Job>;
  /** Returns a job. Throws `jobs.unknown`. */
  get(id: string, scopeId?: string): Promise<Job>;
  /** Returns a job of whichever scope, for operators. Throws `jobs.unknown`. */
  find(id: string): Promise<Job>;
  /** Returns the whole result of a job as UTF-8. Throws `jobs.unknown` or `jobs.result_missing`. */
  result(id: string, scopeId?: string): Promise<ReadableStream<Uint8Array>>;
  /**
   * Returns a page of the newest jobs, the oldest of them first; the page that follows has older ones. A page has 100
   * jobs unless `limit` is given, and fewer when their records come to 4 MiB. Throws `http.cursor_invalid`.
   */
  page(filter?: JobPageFilter): Promise<JobList>;
  /** Returns jobs, the oldest first; with a limit the newest of them. Throws `jobs.unknown` for a `before` that is gone. */
  list(filter?: JobFilter): Promise<Job[]>;
  /** Cancels a job and aborts its run. Throws `jobs.unknown` or `jobs.finished`. */
  cancel(id: string, scopeId?: string): Promise<Job>;
  /** Removes the record of a finished job. Throws `jobs.unknown` or `jobs.not_finished`. */
  delete(id: string, scopeId?: string): Promise<void>;
  /**
   * Follows a job: its events so far, its next ones, then `done`. `after` is the id of the last event that was read. Ends
   * for a job of another process too, with `lost` in place of its events. Throws `jobs.unknown`.
   */
  stream(id: string, options?: { readonly scopeId?: string; readonly after?: string }): Promise<StreamReader>;
  /**
   * Resolves with the job when it has come to its end, wherever it runs. Throws `jobs.unknown`, or `jobs.stopped` when
   * these jobs are stopped before.
   */
  finished(id: string, scopeId?: string): Promise<Job>;
  /** Runs an agent here and now, without a job. Throws `jobs.run_failed` with the agent's error as cause. */
  run(
    request: RunRequest,
    options?: { readonly signal?: AbortSignal; readonly emit?: (type: string, data?: unknown) => void },
  ): Promise<RunResult>;
}

/** Background jobs of one process: runs, schedules and the worker. */
export interface Jobs<C extends AgentContext = AgentContext> extends JobsClient, AsyncDisposable {
  /** Registers the run of an agent. Throws `jobs.agent_duplicate`. */
  agent(name: string, run: AgentRun<C>): void;
  /**
   * Begins to take jobs, those that were queued before included. Returns the jobs found running in a process that is
   * gone, as they are now: failed, or queued again. Without it jobs are only queued, for another process.
   */
  work(): Promise<Job[]>;
  /** Starts a job at set times, until it is stopped. Rejects with `jobs.schedule_invalid` or `jobs.schedule_duplicate`. */
  schedule(schedule: Schedule): Promise<OpenSchedule>;
  /** The schedules that have not been stopped. */
  schedules(): OpenSchedule[];
  /**
   * Takes no more jobs, waits `graceMs` (default 5 000) for those that run, then aborts them: each is queued again when
   * it may be begun again, and has failed otherwise. Closes the backend.
   */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}
