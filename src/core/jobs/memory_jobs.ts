/**
 * Jobs in memory: for tests, and for programs that need none to survive them.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import type { Clock, Ids } from "../ports.ts";
import { checkAddress, checkScope } from "./job_names.ts";
import { isFinal, type Job, type JobBackend, type JobClaim, type JobQueue, type JobStore } from "./types.ts";
import { begun, cancelled, ended, kept, recovered, updated } from "./job_changes.ts";

/** What jobs in memory stand on. */
export interface MemoryJobsOptions {
  /** Time of records and leases. */
  readonly clock: Pick<Clock, "now">;
  /** Makes ids. */
  readonly ids: Ids;
}

interface Entry {
  job: Job;
  attempts: number;
  notBeforeMs: number;
  lease: { worker: string; untilMs: number } | null;
}

/** Returns jobs that live as long as the process. */
export function memoryJobs({ clock, ids }: MemoryJobsOptions): JobBackend {
  const entries = new Map<string, Entry>();
  const turns = new Map<string, number>();

  const find = (id: string, scopeId?: string): Entry | null => {
    checkAddress(id, scopeId);
    const entry = entries.get(id);
    return entry && entry.job.scopeId === scopeId ? entry : null;
  };
  const held = ({ job: { id }, attempt, worker }: JobClaim): Entry | null => {
    const entry = entries.get(id);
    return entry?.lease?.worker === worker && entry.attempts === attempt ? entry : null;
  };

  const store: JobStore = {
    create: (fields) =>
      promised(() => {
        const job = kept(fields, ids, clock);
        entries.set(job.id, { job, attempts: 0, notBeforeMs: 0, lease: null });
        return structuredClone(job);
      }),
    get: (id, scopeId) => promised(() => structuredClone(find(id, scopeId)?.job ?? null)),
    list: (scopeId) =>
      promised(() => {
        checkScope(scopeId);
        return [...entries.values()].filter(({ job }) => job.scopeId === scopeId).map(({ job }) =>
          structuredClone(job)
        );
      }),
    update: (id, updates) =>
      promised(() => {
        checkAddress(id);
        const entry = entries.get(id);
        if (!entry) throw new HostError("jobs.unknown", `There is no job "${id}"`, { data: { id } });
        entry.job = updated(entry.job, updates);
        return structuredClone(entry.job);
      }),
    delete: (id, scopeId) => promised(() => find(id, scopeId) !== null && entries.delete(id)),
  };

  const queue: JobQueue = {
    claim: ({ worker, agents, leaseMs }) =>
      promised(() => {
        const nowMs = clock.now();
        for (const entry of entries.values()) {
          const { job, notBeforeMs } = entry;
          if (job.status !== "queued" || notBeforeMs > nowMs || !agents.includes(job.agentName)) continue;
          entry.job = begun(job, clock);
          entry.lease = { worker, untilMs: nowMs + leaseMs };
          return { job: structuredClone(entry.job), attempt: ++entry.attempts, worker };
        }
        return null;
      }),
    heartbeat: (claim, leaseMs) =>
      promised(() => {
        const entry = held(claim);
        if (entry) entry.lease!.untilMs = clock.now() + leaseMs;
        return entry !== null;
      }),
    release: (claim, outcome) =>
      promised(() => {
        const entry = held(claim);
        if (!entry) return null;
        entry.job = ended(entry.job, outcome, clock);
        entry.lease = null;
        entry.notBeforeMs = outcome.status === "queued" ? clock.now() + outcome.delayMs : 0;
        return structuredClone(entry.job);
      }),
    cancel: (id, scopeId) =>
      promised(() => {
        const entry = find(id, scopeId);
        if (!entry || isFinal(entry.job.status)) return null;
        entry.job = cancelled(entry.job, clock);
        entry.lease = null;
        return structuredClone(entry.job);
      }),
    recover: (policy) =>
      promised(() => {
        const lost = [...entries.values()].filter(({ lease }) => lease && lease.untilMs <= clock.now());
        return lost.map((entry) => {
          entry.job = recovered(entry.job, entry.attempts, policy, clock);
          entry.lease = null;
          return structuredClone(entry.job);
        });
      }),
    takeTurn: (cronId, dueMs) =>
      promised(() => {
        if ((turns.get(cronId) ?? -Infinity) >= dueMs) return false;
        turns.set(cronId, dueMs);
        return true;
      }),
  };
  return { store, queue, close: () => Promise.resolve() };
}

/** What `work` returns or throws, as a promise. */
function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}
