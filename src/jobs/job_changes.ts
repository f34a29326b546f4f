/**
 * The steps of a job's life, as every store makes them: record in, record out.
 *
 * @module
 */
import { plainCopy } from "../events/plain_copy.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import { checkName, checkScope } from "./job_names.ts";
import type { Job, JobClaim, JobOutcome, JobWaiting, NewJob, RecoveryPolicy } from "./types.ts";

type Now = Pick<Clock, "now">;

/** Returns a new job as it is kept. Throws `jobs.id_invalid`. */
export function kept(fields: NewJob, ids: Ids, clock: Now): Job {
  checkName("An agent's name", fields.agentName);
  checkScope(fields.scopeId);
  return plain({ ...fields, id: ids.create("job"), createdAt: iso(clock) });
}

/** Returns a job with fields changed; its address and creation stay. */
export function updated(job: Job, updates: Partial<Job>): Job {
  const { id, scopeId, createdAt } = job;
  const { resultAside: _, ...rest } = job;
  const before = updates.result === undefined ? job : rest;
  return plain(
    { ...before, ...updates, id, createdAt, ...(scopeId !== undefined && { scopeId }) },
    scopeId === undefined,
  );
}

/** Returns a job with the calls of it that wait for a person, or null for a job that does not run. */
export function waitingFor(job: Job, waiting: readonly JobWaiting[]): Job | null {
  if (job.status !== "running") return null;
  return waiting.length === 0 ? answered(job) : { ...job, waiting: [...waiting] };
}

/** A run that has ended waits for nobody. */
function answered({ waiting: _, ...job }: Job): Job {
  return job;
}

/** Returns a job that a worker has begun. */
export function begun(job: Job, clock: Now): Job {
  return { ...answered(job), status: "running", startedAt: iso(clock) };
}

/** Returns a job whose run ended with `outcome`. */
export function ended(before: Job, outcome: JobOutcome, clock: Now): Job {
  const job = answered(before);
  if (outcome.status === "queued") return { ...job, status: "queued" };
  return plain({ ...job, ...outcome, completedAt: iso(clock) });
}

/** Whether a job still is as recovery left it: no worker has begun it since the run of this claim. */
export function isAbandoned(job: Job, { job: { startedAt } }: JobClaim, lostError: string): boolean {
  const isLost = job.status === "queued" || job.status === "failed" && job.error === lostError;
  return isLost && job.startedAt === startedAt;
}

/** Returns a job whose run ended with `outcome` after it had been given up. */
export function reclaimed({ error: _, errorCode: _code, ...job }: Job, outcome: JobOutcome, clock: Now): Job {
  return ended(job, outcome, clock);
}

/** Returns a job that was cancelled. */
export function cancelled(job: Job, clock: Now): Job {
  return { ...answered(job), status: "cancelled", completedAt: iso(clock) };
}

/** Returns a job whose worker is gone. */
export function recovered(job: Job, attempts: number, { maxAttempts, error }: RecoveryPolicy, clock: Now): Job {
  return ended(job, attempts < maxAttempts ? { status: "queued", delayMs: 0 } : { status: "failed", error }, clock);
}

/** A copy without fields that are undefined: JSON has none, so no store has. */
function plain(job: Job, withoutScope = false): Job {
  const fields = Object.entries(job).filter(([key, value]) => {
    return value !== undefined && !(withoutScope && key === "scopeId");
  });
  return plainCopy(Object.fromEntries(fields)).copy as unknown as Job;
}

function iso(clock: Now): string {
  return new Date(clock.now()).toISOString();
}
