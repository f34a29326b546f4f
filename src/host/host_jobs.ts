/**
 * The host's background jobs: agents of the project, each run with its session and its tools.
 *
 * @module
 */
import type { ApprovalStore } from "../core/approvals/types.ts";
import { messageOf } from "../core/errors/host_error.ts";
import type { AgentContext, AgentRun, JobEvents } from "../jobs/agent.ts";
import { createJobs } from "../jobs/create_jobs.ts";
import type { Jobs, JobsOptions } from "../jobs/jobs.ts";
import type { PreparedRun } from "../jobs/run_agent.ts";
import { memoryJobs, sqliteJobs } from "../jobs/sqlite_jobs.ts";
import { isFinal, type Job, type JobBackend, type JobQueue } from "../jobs/types.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { Tracing } from "../otel/types.ts";
import type { CallingJob } from "./gate_call.ts";
import type { HostDesk } from "./host_desk.ts";
import { runSteps } from "./run_steps.ts";
import { tieSession } from "./session_host.ts";
import type { HostSession } from "./sessions.ts";
import type { Host, HostAgentContext } from "./types.ts";

/** The host, as its jobs use it. */
export interface HostJobsPorts {
  readonly options: JobsOptions;
  /** File of the SQLite database, for jobs without a backend of the embedder's. */
  readonly path: string;
  readonly runtime: Runtime;
  readonly host: () => Host;
  /** Returns the session of that id, or null when none is open. */
  openedSession(id: string): HostSession | null;
  openSession(id: string): HostSession;
  /** Where calls of jobs wait for a person. */
  readonly desk: HostDesk;
  /** Checks that the project has an agent. Throws `agent.unknown`. */
  checkAgent(path: string): void;
  readonly events: JobEvents | null;
  readonly tracing: Tracing | null;
  warn(message: string): void;
}

/** The host's jobs, made when they are first asked for. */
export interface HostJobs {
  /** Sets the function that runs an agent. */
  agent(path: string, run: AgentRun<HostAgentContext>): void;
  get(): Jobs<HostAgentContext>;
  /** Null while nobody has asked for any. */
  readonly current: Jobs<HostAgentContext> | null;
  /** Keeps requests for a person's yes beside the jobs. */
  approvals(): ApprovalStore;
  /** Notes which calls of a job wait for a person. */
  setWaiting(id: string, waiting: Parameters<NonNullable<JobQueue["setWaiting"]>>[1]): Promise<void>;
  /** Takes jobs from now on. */
  start(): Promise<void>;
  /** Ends them; the next {@link start} makes them anew. */
  stop(): Promise<void>;
}

/** Returns the jobs of a host. */
export function hostJobs(ports: HostJobsPorts): HostJobs {
  const { options, path, runtime, events, tracing, checkAgent, warn } = ports;
  const runs = new Map<string, AgentRun<HostAgentContext>>();
  const prepare = sessionRuns(ports, () => current!);
  let current: Jobs<HostAgentContext> | null = null;
  let store: ApprovalStore | null = null;
  let queue: JobQueue | null = null;
  let isWorking = false;
  /** Whether anybody has asked for jobs; the desk alone needs their store, and is no reason to say that there are jobs. */
  let isAsked = false;

  function make(): Jobs<HostAgentContext> {
    const given = options.backend ?? sqliteJobs({ path, ...runtime });
    const backend = hearEnds(given, ({ id }) => ports.desk.jobEnded(id));
    queue = given.queue;
    store = given.approvals ?? null;
    const onProblem = options.onProblem ?? ((error: unknown) => warn(`Background jobs: ${messageOf(error)}`));
    const jobs = createJobs<HostAgentContext>({ ...options, backend, runtime, events, tracing, prepare, onProblem });
    for (const [name, run] of runs) jobs.agent(name, run);
    if (isWorking) jobs.work().catch(onProblem);
    return jobs;
  }

  return {
    agent(path, run) {
      checkAgent(path);
      isAsked = true;
      (current ??= make()).agent(path, run);
      runs.set(path, run);
    },
    get() {
      isAsked = true;
      return current ??= make();
    },
    get current() {
      return isAsked || options.backend ? current : null;
    },
    approvals() {
      current ??= make();
      return store ??= memoryJobs(runtime).approvals!; // Not before it is needed: a host may be without SQLite.
    },
    setWaiting: async (id, waiting) => await queue?.setWaiting?.(id, waiting),
    async start() {
      isWorking = true;
      if (options.backend || runs.size > 0) current ??= make();
      await current?.work();
    },
    async stop() {
      isWorking = false;
      await current?.stop();
      current = null;
    },
  };
}

/** Returns the backend; `onEnd` hears of each job that comes to its end through it. */
function hearEnds(backend: JobBackend, onEnd: (job: Job) => Promise<void>): JobBackend {
  const { queue } = backend;
  const heard = async (job: Job | null): Promise<Job | null> => {
    if (job && isFinal(job.status)) await onEnd(job);
    return job;
  };
  return {
    ...backend,
    store: backend.store,
    close: () => backend.close(),
    queue: {
      claim: (request) => queue.claim(request),
      heartbeat: (claim, leaseMs) => queue.heartbeat(claim, leaseMs),
      release: async (claim, outcome) => await heard(await queue.release(claim, outcome)),
      reclaim: async (claim, outcome, lostError) =>
        await heard(await queue.reclaim?.(claim, outcome, lostError) ?? null),
      cancel: async (id, scopeId) => await heard(await queue.cancel(id, scopeId)),
      async recover(policy) {
        const found = await queue.recover(policy);
        for (const job of found) await heard(job);
        return found;
      },
      takeTurn: (cronId, dueMs) => queue.takeTurn(cronId, dueMs),
      forget: (request) => queue.forget(request),
    },
  };
}

/** Gives each run its session, open as long as a run needs it, and its agent's tools. */
function sessionRuns(
  { host, openedSession, openSession, desk, runtime: { clock } }: HostJobsPorts,
  jobs: () => Jobs<HostAgentContext>,
): (base: AgentContext) => PreparedRun<HostAgentContext> {
  const ours = new Map<string, { session: HostSession; runs: number }>();

  const take = (id: string): { session: HostSession; leave(): Promise<void> } => {
    const open = ours.get(id);
    const theirs = open ? null : openedSession(id);
    if (theirs) return { session: theirs, leave: () => Promise.resolve() };
    const entry = open ?? { session: openSession(id), runs: 0 };
    entry.runs++;
    ours.set(id, entry);
    return {
      session: entry.session,
      async leave() {
        if (--entry.runs > 0) return;
        ours.delete(id);
        await entry.session.close();
      },
    };
  };

  return (base) => {
    const { agentName: agent, conversationId, signal, jobId } = base;
    const { session, leave } = take(conversationId);
    const job = jobId === undefined ? undefined : callingJob(jobId, signal);
    const unhear = desk.hear(base);
    const used = new Set<string>();
    const tools: HostAgentContext["tools"] = {
      list: () => host().tools(agent),
      async call(name, args, options = {}) {
        const tool = session.find(name, agent);
        used.add(tool.name);
        const how = { signal, ...options, agent };
        return (await session.call(tool, args, how, { outputOnly: true, job })).output;
      },
    };
    const close = (): Promise<void> => {
      unhear();
      return leave();
    };
    const steps = runSteps(base, { host: host(), clock, jobs: jobs(), keep: (texts) => session.keep(texts) });
    const { delegate, callModel, usage } = steps;
    // Tied, because adapters of agent frameworks find their host by the session.
    const tied = tieSession(job ? session.of(job) : session, host());
    const context = { ...base, session: tied, tools, delegate, callModel };
    return { context, toolsUsed: () => [...used], usage, close };
  };
}

function callingJob(id: string, signal: AbortSignal): CallingJob {
  const counts = new Map<string, number>();
  return {
    id,
    signal,
    count(key) {
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return count;
    },
  };
}
