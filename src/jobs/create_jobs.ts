/**
 * Background jobs: runs of agents that outlive the request for them, with records, events and schedules.
 *
 * @module
 */
import { clock as systemClock } from "../adapters/shared/clock.ts";
import { ids as systemIds } from "../adapters/shared/ids.ts";
import { HostError } from "../core/errors/host_error.ts";
import type { Clock } from "../core/ports/ports.ts";
import type { AgentContext, AgentRun, RunRequest } from "./agent.ts";
import { placeOf } from "./event_stream.ts";
import { lifeOf } from "./job_ends.ts";
import { checkName, checkScope } from "./job_names.ts";
import { JobStreams } from "./job_streams.ts";
import { pageOf, unknownJob } from "./job_table.ts";
import type { CreateJobsOptions, Jobs, JobsOptions } from "./jobs.ts";
import { emitRunEnd, runAgent, type RunnerPorts } from "./run_agent.ts";
import { Schedules } from "./schedules.ts";
import { memoryJobs } from "./sqlite_jobs.ts";
import { type ForgetRequest, isFinal, type Job, type JobQueue } from "./types.ts";
import { Worker } from "./worker.ts";

const DAY_MS = 24 * 3600_000;
const KEPT_CHARS = 64 * 1024 * 1024;

/** Returns jobs in a backend. Nothing runs before {@link Jobs.work}. */
export function createJobs<C extends AgentContext = AgentContext>(options: CreateJobsOptions<C> = {}): Jobs<C> {
  const { clock, ids } = options.runtime ?? { clock: systemClock, ids: systemIds };
  const { backend = memoryJobs({ clock, ids }), pollMs = 1000, remoteAgents = [], waitUntil } = options;
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
    // A store may hand a job to the worker before its create() has resolved here.
    announced: () => starting.size === 0 ? null : Promise.allSettled(starting),
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
    throw unknownJob(id);
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
      emitRunEnd(context, outcome, events);
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
