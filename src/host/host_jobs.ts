/**
 * The host's background jobs: agents of the project, each run with its session and its tools.
 *
 * @module
 */
import { messageOf } from "../core/errors/host_error.ts";
import { toolFromAlias } from "../core/tools/tool_registry.ts";
import type { AgentContext, AgentRun, JobEvents } from "../jobs/agent.ts";
import { createJobs } from "../jobs/create_jobs.ts";
import type { Jobs, JobsOptions } from "../jobs/jobs.ts";
import type { PreparedRun } from "../jobs/run_agent.ts";
import { sqliteJobs } from "../jobs/sqlite_jobs.ts";
import type { Runtime } from "../core/ports/ports.ts";
import type { Tracing } from "../otel/types.ts";
import type { Host, HostAgentContext, Session } from "./types.ts";

/** The host, as its jobs use it. */
export interface HostJobsPorts {
  readonly options: JobsOptions;
  /** File of the SQLite database, for jobs without a backend of the embedder's. */
  readonly path: string;
  readonly runtime: Runtime;
  readonly host: () => Pick<Host, "callTool" | "tools" | "openSession">;
  /** Returns the session of that id, or null when none is open. */
  openedSession(id: string): Session | null;
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
  /** Takes jobs from now on. */
  start(): Promise<void>;
  /** Ends them; the next {@link start} makes them anew. */
  stop(): Promise<void>;
}

/** Returns the jobs of a host. */
export function hostJobs(ports: HostJobsPorts): HostJobs {
  const { options, path, runtime, events, tracing, checkAgent, warn } = ports;
  const runs = new Map<string, AgentRun<HostAgentContext>>();
  const prepare = sessionRuns(ports);
  let current: Jobs<HostAgentContext> | null = null;
  let isWorking = false;

  function make(): Jobs<HostAgentContext> {
    const backend = options.backend ?? sqliteJobs({ path, ...runtime });
    const onProblem = options.onProblem ?? ((error: unknown) => warn(`Background jobs: ${messageOf(error)}`));
    const jobs = createJobs<HostAgentContext>({ ...options, backend, runtime, events, tracing, prepare, onProblem });
    for (const [name, run] of runs) jobs.agent(name, run);
    if (isWorking) jobs.work().catch(onProblem);
    return jobs;
  }

  return {
    agent(path, run) {
      checkAgent(path);
      (current ??= make()).agent(path, run);
      runs.set(path, run);
    },
    get: () => current ??= make(),
    get current() {
      return current;
    },
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

/** Gives each run its session, open as long as a run needs it, and its agent's tools. */
function sessionRuns({ host, openedSession }: HostJobsPorts): (base: AgentContext) => PreparedRun<HostAgentContext> {
  const ours = new Map<string, { session: Session; runs: number }>();

  const take = (id: string): { session: Session; leave(): Promise<void> } => {
    const open = ours.get(id);
    const theirs = open ? null : openedSession(id);
    if (theirs) return { session: theirs, leave: () => Promise.resolve() };
    const entry = open ?? { session: host().openSession({ id }), runs: 0 };
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
    const { agentName: agent, conversationId, signal } = base;
    const { session, leave } = take(conversationId);
    const used = new Set<string>();
    const tools: HostAgentContext["tools"] = {
      list: () => host().tools(agent),
      call(name, args, options = {}) {
        used.add(toolFromAlias(name));
        return host().callTool(name, args, { signal, ...options, agent, session: session.id });
      },
    };
    return { context: { ...base, session, tools }, toolsUsed: () => [...used], close: leave };
  };
}
