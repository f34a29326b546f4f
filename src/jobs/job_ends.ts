/**
 * How the end of a run ends its job, and the events for it.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Clock } from "../core/ports/ports.ts";
import type { AgentContext, JobEvents } from "./agent.ts";
import { emitRunEnd, eventOutput, type RunOutcome } from "./run_agent.ts";
import { isFinal, type Job, type JobOutcome } from "./types.ts";

/** When and how often a job is begun again. */
export interface RetryPolicy {
  readonly maxAttempts: number;
  readonly retryErrors: boolean;
  /** Doubled at each attempt. */
  readonly retryDelayMs: number;
}

/** Returns how a run ends its job: with its answer, with its error, or queued for another attempt. */
export function outcomeOf(outcome: RunOutcome, attempt: number, retry: RetryPolicy): JobOutcome {
  if (outcome.ok) {
    const { output: result, usage, toolsUsed } = outcome;
    return { status: "completed", result, usage, toolsUsed };
  }
  const { error, cause, toolsUsed } = outcome;
  const code = cause instanceof HostError ? { errorCode: cause.code } : {};
  if (!retry.retryErrors || attempt >= retry.maxAttempts) return { status: "failed", error, ...code, toolsUsed };
  return { status: "queued", delayMs: retry.retryDelayMs * 2 ** (attempt - 1) };
}

/** Emits `job:end` and `agent:end`, or `agent:error` and, when the job's status is final, `job:error`. */
export function emitJobEnd(job: Job, outcome: RunOutcome, context: AgentContext, events: JobEvents | null): void {
  const { id: jobId, agentName } = job;
  const duration = outcome.durationMs;
  if (outcome.ok) {
    const { output, usage } = outcome;
    events?.emit("job:end", { jobId, agentName, output: eventOutput(output), duration, usage });
  }
  emitRunEnd(context, outcome, events);
  if (!outcome.ok && isFinal(job.status)) {
    events?.emit("job:error", { jobId, agentName, error: outcome.error, duration });
  }
}

/** Emits `agent:error`, then `job:error`, for a job that failed without an answer of its agent. */
export function emitFailed(job: Job, events: JobEvents | null, clock: Pick<Clock, "now">): void {
  const { id: jobId, agentName, input, conversationId, scopeId, error = "" } = job;
  const duration = lifeOf(job, clock);
  const scope = scopeId === undefined ? {} : { scopeId };
  events?.emit("agent:error", { agentName, input, error, duration, conversationId, ...scope, jobId });
  events?.emit("job:error", { jobId, agentName, error, duration });
}

/** Milliseconds that a job has run, or has waited when it never ran. */
export function lifeOf({ startedAt, createdAt, completedAt }: Job, clock: Pick<Clock, "now">): number {
  const endMs = completedAt === undefined ? clock.now() : Date.parse(completedAt);
  return Math.max(0, endMs - Date.parse(startedAt ?? createdAt));
}
