/**
 * One queue over any table of jobs: claims, leases and ends are decided here, and a table only finds and writes rows.
 * Postgres has a queue of its own, because its processes change rows at the same time.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import {
  begun,
  cancelled,
  ended,
  isAbandoned,
  kept,
  reclaimed,
  recovered,
  updated,
  waitingFor,
} from "./job_changes.ts";
import { openTurns, type ScopeRules, type Turns } from "./fair_turns.ts";
import { checkAddress, checkName, checkScope } from "./job_names.ts";
import {
  type ForgetRequest,
  isFinal,
  type Job,
  type JobBackend,
  type JobClaim,
  type JobList,
  type JobPage,
  type JobPageQuery,
} from "./types.ts";
import { piecesFrom, setAside } from "./results_aside.ts";

/** A job with the facts that only its queue needs. */
export interface JobRow {
  readonly job: Job;
  /** Number of runs begun so far. */
  readonly attempts: number;
  /** No worker gets the job before this time; 0 for at once. */
  readonly notBeforeMs: number;
  /** Null while no worker runs the job. */
  readonly lease: { readonly worker: string; readonly untilMs: number } | null;
}

/** The row that a step changes. */
export type RowPlace =
  | { readonly by: "address"; readonly id: string; readonly scopeId: string | undefined }
  /** The job of this id in whichever scope. */
  | { readonly by: "id"; readonly id: string }
  /** The oldest job that waits for one of the agents and may begin now, of the scope whose turn it is. */
  | TurnPlace
  /** The job of a claim, as long as its worker holds it. */
  | { readonly by: "claim"; readonly claim: JobClaim };

/** A place in the queue, found by {@link Turns}. */
export interface TurnPlace {
  readonly by: "turn";
  readonly agents: readonly string[];
  readonly nowMs: number;
  readonly turns: Turns;
  readonly scopes: ScopeRules | undefined;
}

/** Returns the row that follows, or null to leave it as it is. Runs while no other process changes the table. */
export type RowStep = (row: JobRow) => JobRow | null;

/** Rows of jobs. Each call is whole or has no effect, also among several processes. */
export interface JobTable {
  insert(row: JobRow): Promise<unknown>;
  get(id: string, scopeId: string | undefined): Promise<Job | null>;
  list(scopeId: string | undefined, page: JobPage): Promise<Job[]>;
  /** See {@link JobStore.page}. */
  page(query: JobPageQuery): Promise<JobList>;
  /** Returns the job of that id in whichever scope, or null. */
  find(id: string): Promise<Job | null>;
  /** Returns a piece of a result that was set aside, counted from 0; null behind the last one. */
  piece(id: string, part: number): Promise<Uint8Array | null>;
  /** Changes the row at a place, and sets a long result aside; null when there is none, or `step` leaves it. */
  change(place: RowPlace, step: RowStep): Promise<JobRow | null>;
  /** Changes every row whose lease ended by then, in the order the jobs were created. */
  changeLost(nowMs: number, step: RowStep): Promise<unknown>;
  remove(id: string, scopeId: string | undefined): Promise<boolean>;
  /** See {@link JobQueue.takeTurn}. */
  takeTurn(cronId: string, dueMs: number): Promise<boolean>;
  /** See {@link JobQueue.forget}. */
  forget(request: ForgetRequest, nowMs: number): Promise<number>;
  close(): Promise<void>;
}

/** Returns the store and the queue over a table. */
export function jobsOver(
  table: JobTable,
  { clock, ids }: { readonly clock: Pick<Clock, "now">; readonly ids: Ids },
): JobBackend {
  const released = ({ attempts }: JobRow, job: Job, notBeforeMs = 0): JobRow => {
    return { job, attempts, notBeforeMs, lease: null };
  };
  const jobOf = (row: JobRow | null): Job | null => row && row.job;
  const turns = openTurns();
  return {
    store: storeOver(table, { clock, ids }),
    queue: {
      async claim({ worker, agents, leaseMs, scopes }) {
        const nowMs = clock.now();
        const row = await table.change({ by: "turn", agents, nowMs, turns, scopes }, ({ job, attempts }) => {
          const lease = { worker, untilMs: nowMs + leaseMs };
          return { job: begun(job, clock), attempts: attempts + 1, notBeforeMs: 0, lease };
        });
        return row && { job: row.job, attempt: row.attempts, worker };
      },
      async heartbeat(claim, leaseMs) {
        const lease = { worker: claim.worker, untilMs: clock.now() + leaseMs };
        return await table.change({ by: "claim", claim }, (row) => ({ ...row, lease })) !== null;
      },
      async release(claim, outcome) {
        const notBeforeMs = outcome.status === "queued" ? clock.now() + outcome.delayMs : 0;
        const step: RowStep = (row) => released(row, ended(row.job, outcome, clock), notBeforeMs);
        return jobOf(await table.change({ by: "claim", claim }, step));
      },
      async reclaim(claim, outcome, lostError) {
        const { id, scopeId } = claim.job;
        const step: RowStep = (row) => {
          if (!isAbandoned(row.job, claim, lostError)) return null;
          return released(row, reclaimed(row.job, outcome, clock));
        };
        return jobOf(await table.change({ by: "address", id, scopeId }, step));
      },
      async cancel(id, scopeId) {
        checkAddress(id, scopeId);
        const step: RowStep = (row) => isFinal(row.job.status) ? null : released(row, cancelled(row.job, clock));
        return jobOf(await table.change({ by: "address", id, scopeId }, step));
      },
      async setWaiting(id, waiting) {
        await table.change({ by: "id", id }, (row) => {
          const job = waitingFor(row.job, waiting);
          return job && { ...row, job };
        });
      },
      async recover(policy) {
        const found: Job[] = [];
        await table.changeLost(clock.now(), (row) => {
          if (row.job.status !== "running") return released(row, row.job); // A killed process left this lease behind.
          const job = recovered(row.job, row.attempts, policy, clock);
          found.push(job);
          return released(row, job);
        });
        return found;
      },
      async takeTurn(cronId, dueMs) {
        checkName("A schedule", cronId);
        return await table.takeTurn(cronId, dueMs);
      },
      forget: (request) => table.forget(request, clock.now()),
    },
    close: () => table.close(),
  };
}

/** Returns the records of a table. */
function storeOver(
  table: JobTable,
  { clock, ids }: { readonly clock: Pick<Clock, "now">; readonly ids: Ids },
): JobBackend["store"] {
  return {
    async create(fields) {
      const job = kept(fields, ids, clock);
      await table.insert({ job, attempts: 0, notBeforeMs: 0, lease: null });
      return setAside(job).record;
    },
    async get(id, scopeId) {
      checkAddress(id, scopeId);
      return await table.get(id, scopeId);
    },
    async list(scopeId, page = {}) {
      checkScope(scopeId);
      return await table.list(scopeId, page);
    },
    page(query) {
      checkScope(query.scopeId ?? undefined);
      return table.page(query);
    },
    async find(id) {
      checkAddress(id);
      return await table.find(id);
    },
    result: (id) => piecesFrom((part) => table.piece(id, part)),
    async update(id, updates) {
      checkAddress(id);
      const row = await table.change({ by: "id", id }, (row) => ({ ...row, job: updated(row.job, updates) }));
      if (!row) throw unknownJob(id);
      return row.job;
    },
    async delete(id, scopeId) {
      checkAddress(id, scopeId);
      return await table.remove(id, scopeId);
    },
  };
}

/** The error of an id that no job has. */
export function unknownJob(id: string): HostError {
  return new HostError("jobs.unknown", `There is no job "${id}"`, { data: { id }, hint: "List the jobs" });
}

/** Returns the jobs of a page, out of all or of those a store has left; both the oldest first. */
export function pageOf(jobs: readonly Job[], { status, agentName, limit = Infinity, before }: JobPage): Job[] {
  const end = jobs.findIndex(({ id }) => id === before);
  const wanted = (end < 0 ? jobs : jobs.slice(0, end)).filter((job) =>
    (status === undefined || job.status === status) && (agentName === undefined || job.agentName === agentName)
  );
  return wanted.slice(Math.max(0, wanted.length - limit));
}

/** Returns the finished jobs to be forgotten now, the first that ended first. */
export function forgettable(
  jobs: readonly Job[],
  { maxAgeMs, maxFinished, batch }: ForgetRequest,
  nowMs: number,
): Job[] {
  const finished = jobs.filter(({ status }) => isFinal(status))
    .map((job) => ({ job, endedMs: Date.parse(job.completedAt ?? job.createdAt) }))
    .sort((a, b) => a.endedMs - b.endedMs);
  const surplus = finished.length - maxFinished;
  return finished.filter(({ endedMs }, at) => endedMs <= nowMs - maxAgeMs || at < surplus).slice(0, batch)
    .map(({ job }) => job);
}
