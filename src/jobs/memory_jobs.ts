/**
 * Jobs in memory: for tests, and for programs that need none to survive them.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { plainCopy } from "../events/plain_copy.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import { checkAddress, checkScope } from "./job_names.ts";
import { forgettable, pageOf } from "./job_page.ts";
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
  const waiting = new Set<Entry>();
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

  const settle = (entry: Entry, job: Job): Job => {
    entry.job = job;
    entry.lease = null;
    if (job.status === "queued") waiting.add(entry);
    else waiting.delete(entry);
    return copyOf(entry);
  };

  const store: JobStore = {
    create: (fields) =>
      promised(() => {
        const job = kept(fields, ids, clock);
        const entry: Entry = { job, attempts: 0, notBeforeMs: 0, lease: null };
        entries.set(job.id, entry);
        if (job.status === "queued") waiting.add(entry);
        return plainCopy(job).copy;
      }),
    get: (id, scopeId) => promised(() => copyOf(find(id, scopeId))),
    list: (scopeId, page = {}) =>
      promised(() => {
        checkScope(scopeId);
        const own = [...entries.values()].map(({ job }) => job).filter((job) => job.scopeId === scopeId);
        return pageOf(own, page).map((job) => plainCopy(job).copy);
      }),
    update: (id, updates) =>
      promised(() => {
        checkAddress(id);
        const entry = entries.get(id);
        if (!entry) throw new HostError("jobs.unknown", `There is no job "${id}"`, { data: { id } });
        entry.job = updated(entry.job, updates);
        return copyOf(entry);
      }),
    delete: (id, scopeId) =>
      promised(() => {
        const entry = find(id, scopeId);
        if (entry) waiting.delete(entry);
        return entries.delete(entry?.job.id ?? "");
      }),
  };

  const queue: JobQueue = {
    claim: ({ worker, agents, leaseMs }) =>
      promised(() => {
        const nowMs = clock.now();
        for (const entry of waiting) {
          if (entry.notBeforeMs > nowMs || !agents.includes(entry.job.agentName)) continue;
          waiting.delete(entry);
          entry.job = begun(entry.job, clock);
          entry.lease = { worker, untilMs: nowMs + leaseMs };
          return { job: copyOf(entry), attempt: ++entry.attempts, worker };
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
        entry.notBeforeMs = outcome.status === "queued" ? clock.now() + outcome.delayMs : 0;
        return settle(entry, ended(entry.job, outcome, clock));
      }),
    cancel: (id, scopeId) =>
      promised(() => {
        const entry = find(id, scopeId);
        if (!entry || isFinal(entry.job.status)) return null;
        return settle(entry, cancelled(entry.job, clock));
      }),
    recover: (policy) =>
      promised(() => {
        const lost = [...entries.values()].filter(({ lease }) => lease && lease.untilMs <= clock.now());
        return lost.map((entry) => settle(entry, recovered(entry.job, entry.attempts, policy, clock)));
      }),
    takeTurn: (cronId, dueMs) =>
      promised(() => {
        if ((turns.get(cronId) ?? -Infinity) >= dueMs) return false;
        turns.set(cronId, dueMs);
        return true;
      }),
    forget: (request) =>
      promised(() => {
        const old = forgettable([...entries.values()].map(({ job }) => job), request, clock.now());
        for (const { id } of old) entries.delete(id);
        return old.length;
      }),
  };
  return { store, queue, close: () => Promise.resolve() };
}

function copyOf<E extends Entry | null>(entry: E): E extends Entry ? Job : Job | null {
  return (entry && plainCopy(entry.job).copy) as E extends Entry ? Job : Job | null;
}

/** What `work` returns or throws, as a promise. */
function promised<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}
