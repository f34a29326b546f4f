/**
 * Tool calls as MCP tasks: each is a background job of the host, so that it outlives the request that began it, and the
 * client that made it.
 *
 * @module
 */
import { asHostError, HostError } from "../core/errors/host_error.ts";
import { isMap } from "../core/values/plain_data.ts";
import { isFinal, type Job } from "../jobs/types.ts";
import type { Approval } from "../core/approvals/types.ts";
import type { Host, HostAgentContext } from "../host/types.ts";

/** Where a task is in its life; the last three are final. */
export type TaskStatus = "working" | "input_required" | "completed" | "failed" | "cancelled";

/** Result of a tool, or the failure of the protocol that took its place. */
export type TaskOutcome =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } };

/** A tool call in the background. */
export interface ToolTask {
  readonly id: string;
  readonly status: TaskStatus;
  /** Newest words of the tool about its progress; absent when there are none, or another process runs it. */
  readonly message?: string;
  /** ISO 8601, like the next. */
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  /** Session of its own, in which its call is made. */
  readonly session: string;
  /** Null until it is over, and for one that was cancelled. */
  readonly outcome: TaskOutcome | null;
}

/** A client is to look again after so long. */
export const TASK_POLL_MS: number = 1_000;

/** Most tasks on one page of a list. */
const PAGE = 50;

/** Requests for a person that are looked through for those of a task. */
const MAX_ASKED = 200;

/** Messages of progress that are remembered, the newest ones. */
const MAX_MESSAGES = 1_000;

/** How a call that is a task is made: its answer as `tools/call` gives it, failures of the tool included. */
export type RunTask = (
  name: string,
  args: Readonly<Record<string, unknown>>,
  context: HostAgentContext,
  onProgress: (report: unknown) => void,
) => Promise<Readonly<Record<string, unknown>>>;

/** The tasks of one agent. Clients of one agent share them: whoever knows a task's id may ask for it. */
export interface ToolTasks {
  /** Begins a call; resolves when its job is kept. */
  start(name: string, args: Readonly<Record<string, unknown>>): Promise<ToolTask>;
  /** Throws `mcp.task_unknown`, as the next ones do. */
  get(id: string): Promise<ToolTask>;
  /** Resolves with the task when it is over, wherever it runs. */
  finished(id: string): Promise<ToolTask>;
  /** Cancels it; one that is over stays as it is. */
  cancel(id: string): Promise<ToolTask>;
  /** Newest first; `cursor` is the id of the last one on the page before. */
  list(cursor?: string): Promise<{ readonly tasks: ToolTask[]; readonly nextCursor?: string }>;
  /** Calls of a task that wait for a person. */
  asked(id: string): Promise<Approval[]>;
}

/** Tasks by agent: the jobs of a host have one function per agent that runs them, and are made anew with each start. */
const known = new WeakMap<Host["jobs"], Map<string, ToolTasks>>();

/** Returns the tasks of an agent, whose calls `run` makes; the first `run` of an agent stays. */
export function toolTasks(host: Host, agent: string, run: RunTask): ToolTasks {
  const { jobs } = host;
  const byAgent = known.get(jobs) ?? new Map<string, ToolTasks>();
  known.set(jobs, byAgent);
  const tasks = byAgent.get(agent) ?? openTasks(host, agent, run);
  byAgent.set(agent, tasks);
  return tasks;
}

function openTasks(host: Host, agent: string, run: RunTask): ToolTasks {
  const agentName = `mcp.${agent}`;
  const messages = new Map<string, string>();
  host.jobs.agent(agentName, async (context) => {
    const { tool, arguments: args } = JSON.parse(context.input) as { tool: string; arguments: Record<string, unknown> };
    const onProgress = (report: unknown): void => remember(context.jobId, report);
    const outcome: TaskOutcome = await run(tool, args, context, onProgress).then(
      (result) => ({ result }),
      (thrown) => ({ error: protocolError(asHostError(thrown)) }),
    );
    return JSON.stringify(outcome);
  });

  function remember(id: string | undefined, report: unknown): void {
    if (id === undefined || !isMap(report) || typeof report.message !== "string") return;
    messages.delete(id);
    messages.set(id, report.message.slice(0, 1_000));
    for (const oldest of messages.keys()) if (messages.size > MAX_MESSAGES) messages.delete(oldest);
  }

  /** What a call of the job, or a server that it calls, waits for: each task has a session of its own. */
  const askedOf = async ({ status, conversationId }: Job): Promise<Approval[]> => {
    if (status !== "running") return [];
    const { items } = await host.approvals.list({ state: "waiting", limit: MAX_ASKED });
    return items.filter(({ sessionId }) => sessionId === conversationId);
  };
  const taskOf = async (listed: Job): Promise<ToolTask> => {
    const { resultAside, ...record } = listed;
    const result = resultAside && await new Response(await host.jobs.result(listed.id)).text();
    const job = result === undefined ? listed : { ...record, result };
    const message = isFinal(job.status) ? undefined : messages.get(job.id);
    const isAsking = (await askedOf(job)).length > 0;
    return { ...readTask(job, isAsking), ...(message !== undefined && { message }) };
  };
  const find = async (id: string): Promise<Job> => {
    const job = await host.jobs.get(id).catch((error) => Promise.reject(unknownTask(id, asHostError(error))));
    if (job.agentName !== agentName) throw unknownTask(id);
    return job;
  };

  return {
    async start(tool, args) {
      return await taskOf(await host.jobs.start({ agentName, input: JSON.stringify({ tool, arguments: args }) }));
    },
    get: async (id) => await taskOf(await find(id)),
    async finished(id) {
      await find(id);
      return await taskOf(await host.jobs.finished(id));
    },
    async cancel(id) {
      const job = await find(id);
      if (isFinal(job.status)) return await taskOf(job);
      const ended = await host.jobs.cancel(id).catch((error) => {
        if (asHostError(error).code === "jobs.finished") return find(id); // It came to its end meanwhile.
        throw error;
      });
      return await taskOf(ended);
    },
    async list(cursor) {
      if (cursor !== undefined) await find(cursor);
      const page = { agentName, limit: PAGE, ...(cursor !== undefined && { before: cursor }) };
      const tasks = await Promise.all((await host.jobs.list(page)).reverse().map(taskOf));
      const last = tasks.at(-1);
      return { tasks, ...(tasks.length === PAGE && last && { nextCursor: last.id }) };
    },
    asked: async (id) => await askedOf(await find(id)),
  };
}

function readTask(
  { id, status, createdAt, startedAt, completedAt, conversationId, ...job }: Job,
  isAsking: boolean,
): ToolTask {
  const outcome = outcomeOf({ status, ...job });
  const isFailed = outcome !== null && "error" in outcome;
  const shown = { queued: "working", running: "working", completed: "completed" } as const;
  return {
    id,
    status: isFailed
      ? "failed"
      : isAsking
      ? "input_required"
      : status === "cancelled"
      ? status
      : shown[status as "queued"],
    createdAt,
    lastUpdatedAt: completedAt ?? startedAt ?? createdAt,
    session: conversationId,
    outcome,
  };
}

function outcomeOf({ status, result, error }: Pick<Job, "status" | "result" | "error">): TaskOutcome | null {
  if (status === "completed") return JSON.parse(result ?? "null") as TaskOutcome;
  if (status !== "failed") return null;
  return { error: { code: INTERNAL_ERROR, message: error ?? "The task has failed" } };
}

const INTERNAL_ERROR = -32603;

/** Tools answer their own failures; what is left is a mistake in the request, or in the host. */
function protocolError({ code, rpc, message, hint }: HostError): { code: number; message: string; data: unknown } {
  return { code: rpc, message, data: { code, ...(hint !== undefined && { hint }) } };
}

function unknownTask(id: string, cause?: HostError): HostError {
  return new HostError("mcp.task_unknown", `There is no task "${id.slice(0, 200)}"`, {
    data: { task: id.slice(0, 200) },
    ...(cause && { cause }),
  });
}
