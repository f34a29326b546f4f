/**
 * Jobs in Postgres, for more than one machine: records and leases in a table of ours, the queue kept by pg-boss. Each
 * step changes both in one transaction, so that neither can know of a job the other does not.
 *
 * @module
 */
import { clock as systemClock } from "../adapters/shared/clock.ts";
import { ids as systemIds } from "../adapters/shared/ids.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import { begun, cancelled, ended, isAbandoned, kept, reclaimed, recovered, updated } from "./job_changes.ts";
import { checkAddress, checkScope } from "./job_names.ts";
import { unknownJob } from "./job_table.ts";
import { makeApprovalTables, postgresApprovals } from "./postgres_approvals.ts";
import { openPostgres, type PostgresOptions, type PostgresPool, type Transaction } from "./postgres_pool.ts";
import { type ClaimRequest, isFinal, type Job, type JobBackend, type JobClaim, type JobStatus } from "./types.ts";

/** The database of jobs in Postgres; clock and ids are the system's unless a test hands in its own. */
export interface PostgresJobsOptions extends PostgresOptions {
  /** Time of records. Default: the system's. Leases run by the clock of the database. */
  readonly clock?: Pick<Clock, "now">;
  /** Makes ids of jobs. Default: ids that no other process makes. */
  readonly ids?: Ids;
}

/** The condition of a step, as SQL after three values, and the status that it starts from. */
interface Step {
  readonly when: string;
  readonly values: readonly unknown[];
  readonly was: JobStatus;
  readonly delayMs?: number;
}

/** The open database with our table of jobs and the queues of pg-boss, which each step changes together. */
interface Tables extends PostgresPool {
  /** The table's full name, quoted for SQL. */
  readonly jobs: string;
  readonly clock: Pick<Clock, "now">;
}

/** Opens jobs in Postgres. Throws `jobs.library_missing` or `jobs.store_unavailable`. */
export async function postgresJobs(options: PostgresJobsOptions): Promise<JobBackend> {
  const { clock = systemClock, ids = systemIds, schema = "kaged_jobs" } = options;
  const pool = await openPostgres(options);
  await makeTables(pool, schema);
  const tables: Tables = { ...pool, jobs: `"${schema}".kaged_job`, clock };
  const approvals = postgresApprovals(pool, schema);
  return { store: storeIn(tables, ids), queue: queueIn(tables, schema), approvals, close: pool.close };
}

function storeIn(tables: Tables, ids: Ids): JobBackend["store"] {
  const { jobs, query, transaction, clock } = tables;
  return {
    async create(fields) {
      const job = kept(fields, ids, clock);
      return await transaction(async (tx) => {
        const sql = `INSERT INTO ${jobs} (id, status, agent, scope, job, ended) VALUES ($1, $2, $3, $4, $5, ${ENDED})`;
        await tx.query(sql, [job.id, job.status, job.agentName, job.scopeId ?? null, JSON.stringify(job)]);
        if (job.status === "queued") await enqueue(tables, tx, job);
        return job;
      });
    },
    get: async (id, scopeId) => (await lookUp(tables, id, scopeId))?.job ?? null,
    async list(scopeId, { status = null, agentName = null, before = null, limit = Infinity } = {}) {
      checkScope(scopeId);
      const sql = `SELECT ${COLUMNS} FROM ${jobs} WHERE scope IS NOT DISTINCT FROM $1
        AND ($2::text IS NULL OR status = $2) AND ($3::text IS NULL OR agent = $3)
        AND ($4::text IS NULL OR seq < (SELECT seq FROM ${jobs} WHERE id = $4)) ORDER BY seq DESC LIMIT $5`;
      const values = [scopeId ?? null, status, agentName, before, Number.isFinite(limit) ? limit : null];
      return (await query(sql, values)).map((row) => rowOf([row])!.job).reverse();
    },
    update: (id, updates) =>
      transaction(async (tx) => {
        checkAddress(id);
        const found = rowOf(await tx.query(`SELECT ${COLUMNS} FROM ${jobs} WHERE id = $1 FOR UPDATE`, [id]));
        if (!found) throw unknownJob(id);
        const { waiting: _, ...job } = updated(found.job, updates); // It has a column of its own.
        const sql = `UPDATE ${jobs} SET status = $2, agent = $3, job = $4, step = '{}', ended = ${ENDED} WHERE id = $1`;
        await tx.query(sql, [id, job.status, job.agentName, JSON.stringify(job)]);
        return job;
      }),
    async delete(id, scopeId) {
      checkAddress(id, scopeId);
      const sql = `DELETE FROM ${jobs} WHERE id = $1 AND scope IS NOT DISTINCT FROM $2 RETURNING id`;
      return (await query(sql, [id, scopeId ?? null])).length === 1;
    },
  };
}

function queueIn(tables: Tables, schema: string): JobBackend["queue"] {
  const { jobs, query, transaction, queueOf, clock } = tables;
  let agentTurn = 0;
  return {
    async claim(request) {
      const { agents } = request;
      const first = agentTurn++;
      for (let at = 0; at < agents.length; at++) {
        const queue = await queueOf(agents[(first + at) % agents.length]!); // Each agent is the first in its turn.
        const claim = await transaction((tx) => claimFrom(tables, queue, tx, request));
        if (claim) return claim;
      }
      return null;
    },
    async heartbeat({ job, worker, attempt }, leaseMs) {
      // Just before pg-boss would give the entry to another, the run is over: see QUEUE in postgres_pool.ts.
      const sql = `UPDATE ${jobs} SET lease_until = now() + $4 * interval '1 ms'
        WHERE id = $1 AND worker = $2 AND attempts = $3 AND begun > now() - interval '23 hours 55 minutes' RETURNING id`;
      return (await query(sql, [job.id, worker, attempt, leaseMs])).length === 1;
    },
    release({ job, worker, attempt }, outcome) {
      const delayMs = outcome.status === "queued" ? outcome.delayMs : 0;
      const held = { when: "worker = $4 AND attempts = $5", values: [worker, attempt], was: "running" } as const;
      return settle(tables, ended(job, outcome, clock), { ...held, delayMs });
    },
    async reclaim(claim, outcome, lostError) {
      const row = await lookUp(tables, claim.job.id, claim.job.scopeId);
      if (!row || row.attempts !== claim.attempt || !isAbandoned(row.job, claim, lostError)) return null;
      const { attempts, job: { status: was } } = row;
      const asSeen = { when: "status = $4 AND attempts = $5 AND worker IS NULL", values: [was, attempts], was };
      return await settle(tables, reclaimed(row.job, outcome, clock), asSeen);
    },
    async cancel(id, scopeId) {
      for (;;) {
        const row = await lookUp(tables, id, scopeId);
        if (!row || isFinal(row.job.status)) return null;
        const { attempts, job: { status: was } } = row;
        const asSeen = { when: "status = $4 AND attempts = $5", values: [was, attempts], was };
        const job = await settle(tables, cancelled(row.job, clock), asSeen);
        if (job) return job; // Otherwise the job went on between the two statements.
      }
    },
    async setWaiting(id, waiting) {
      const said = waiting.length === 0 ? null : JSON.stringify(waiting);
      await query(`UPDATE ${jobs} SET waiting = $2 WHERE id = $1 AND status = 'running'`, [id, said]);
    },
    async recover(policy) {
      const lost = await query(`SELECT ${COLUMNS} FROM ${jobs} WHERE lease_until <= now() ORDER BY seq`);
      const found = await Promise.all(lost.map((each) => {
        const { job, attempts } = rowOf([each])!;
        const stillLost = { when: "attempts = $4 AND lease_until <= now()", values: [attempts], was: job.status };
        return settle(tables, recovered(job, attempts, policy, clock), stillLost);
      }));
      return found.filter((job) => job !== null);
    },
    async takeTurn(cronId, dueMs) {
      const sql = `INSERT INTO "${schema}".kaged_turn AS turn (cron, due) VALUES ($1, $2)
        ON CONFLICT (cron) DO UPDATE SET due = excluded.due WHERE turn.due < excluded.due RETURNING cron`;
      return (await query(sql, [cronId, dueMs])).length === 1;
    },
    async forget({ maxAgeMs, maxFinished, batch }) {
      const remove = async (which: string, values: unknown[]): Promise<number> => {
        const sql = `DELETE FROM ${jobs} WHERE seq IN (SELECT seq FROM ${jobs} WHERE ${which} LIMIT $2) RETURNING id`;
        return (await query(sql, values)).length;
      };
      const age = "ended <= now() - $1 * interval '1 ms'";
      const old = Number.isFinite(maxAgeMs) ? await remove(age, [maxAgeMs, batch]) : 0;
      if (old === batch || !Number.isFinite(maxFinished)) return old;
      return old + await remove("ended IS NOT NULL ORDER BY ended DESC OFFSET $1", [maxFinished, batch - old]);
    },
  };
}

async function claimFrom(tables: Tables, queue: string, tx: Transaction, by: ClaimRequest): Promise<JobClaim | null> {
  const { boss, jobs, clock } = tables;
  for (;;) {
    const [entry] = await boss.fetch<{ jobId: string }>(queue, tx.within);
    if (!entry) return null;
    const { id: entryId, retryCount, data: { jobId } } = entry;
    const sql =
      `UPDATE ${jobs} SET status = 'running', step = $2, attempts = attempts + 1, worker = $3, begun = now(), waiting = NULL,
      lease_until = now() + $4 * interval '1 ms', entry_id = $5, entry_retry = $6
      WHERE id = $1 AND status = 'queued' RETURNING ${COLUMNS}`;
    const step = stepOf(begun({} as Job, clock));
    const row = rowOf(await tx.query(sql, [jobId, step, by.worker, by.leaseMs, entryId, retryCount]));
    if (row) return { job: row.job, attempt: row.attempts, worker: by.worker };
    // Cancelled or deleted; or its worker is gone, and recover() will put it into the queue anew.
    await boss.complete(queue, { id: entryId, retryCount }, null, tx.within);
  }
}

/** Writes the next state of a job and gives up its lease, if `when` still holds; then settles its entry. */
function settle(tables: Tables, next: Job, { when, values, was, delayMs = 0 }: Step): Promise<Job | null> {
  const { jobs, transaction } = tables;
  return transaction(async (tx) => {
    const sql =
      `UPDATE ${jobs} SET status = $2, step = $3, worker = NULL, lease_until = NULL, waiting = NULL, ended = ${ENDED}
      WHERE id = $1 AND ${when} RETURNING ${COLUMNS}`;
    const row = rowOf(await tx.query(sql, [next.id, next.status, stepOf(next), ...values]));
    // A waiting entry may stay: the worker that fetches it finds its job not queued, and completes the entry.
    if (row && was === "running") await settleEntry(tables, tx, row, delayMs);
    return row && row.job;
  });
}

async function settleEntry(tables: Tables, tx: Transaction, { job, entry }: Row, delayMs: number): Promise<void> {
  const { boss, queueOf } = tables;
  const queue = await queueOf(job.agentName);
  if (job.status !== "queued") {
    await boss.complete(queue, entry, { status: job.status }, tx.within);
    return;
  }
  const { affected } = await boss.fail(queue, entry, null, tx.within) as { affected?: number };
  const startAfter = delayMs / 1000;
  if (affected === 0) await enqueue(tables, tx, job, startAfter); // pg-boss has dropped the entry.
  else if (delayMs > 0) await boss.update(queue, undefined, { id: entry.id, startAfter, ...tx.within });
}

async function enqueue({ boss, queueOf }: Tables, { within }: Transaction, job: Job, startAfter = 0): Promise<void> {
  await boss.send(await queueOf(job.agentName), { jobId: job.id }, { startAfter, ...within });
}

async function lookUp({ jobs, query }: Tables, id: string, scopeId?: string): Promise<Row | null> {
  checkAddress(id, scopeId);
  const sql = `SELECT ${COLUMNS} FROM ${jobs} WHERE id = $1 AND scope IS NOT DISTINCT FROM $2`;
  return rowOf(await query(sql, [id, scopeId ?? null]));
}

/** One row of the table of jobs. */
interface Row {
  readonly job: Job;
  readonly attempts: number;
  /** The entry of pg-boss that its last run came from, and which fetch of it that was. */
  readonly entry: { readonly id: string; readonly retryCount: number };
}

/** When a job ended, for a statement whose second value is its status. */
const ENDED = "CASE WHEN $2 IN ('completed', 'failed', 'cancelled') THEN now() END";

/** The columns that {@link rowOf} reads. */
const COLUMNS = "job, step, status, waiting, attempts, entry_id, entry_retry";

/**
 * Makes the tables. The record is text: JSON escapes the zero byte, which Postgres stores in no other way. The fields that
 * change in a job's life stand beside it in `step`, so that a step is one statement.
 */
async function makeTables({ transaction }: PostgresPool, schema: string): Promise<void> {
  await transaction(async (tx) => {
    const { query } = tx;
    // Two processes that make a table at the same time disturb each other, "if not exists" or not.
    await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${schema}.kaged_job`]);
    await query(`CREATE TABLE IF NOT EXISTS "${schema}".kaged_job (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id text NOT NULL UNIQUE,
      scope text,
      status text NOT NULL,
      agent text NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      worker text,
      begun timestamptz,
      lease_until timestamptz,
      ended timestamptz,
      entry_id uuid,
      entry_retry integer NOT NULL DEFAULT 0,
      job text NOT NULL,
      step text NOT NULL DEFAULT '{}',
      waiting text
    )`);
    await query(`ALTER TABLE "${schema}".kaged_job ADD COLUMN IF NOT EXISTS waiting text`);
    await query(`CREATE INDEX IF NOT EXISTS kaged_job_scope ON "${schema}".kaged_job (scope, seq)`);
    await query(`CREATE INDEX IF NOT EXISTS kaged_job_lease ON "${schema}".kaged_job (lease_until)
      WHERE lease_until IS NOT NULL`);
    await query(`CREATE INDEX IF NOT EXISTS kaged_job_ended ON "${schema}".kaged_job (ended)
      WHERE ended IS NOT NULL`);
    await query(`CREATE TABLE IF NOT EXISTS "${schema}".kaged_turn (cron text PRIMARY KEY, due bigint NOT NULL)`);
    await makeApprovalTables(tx, schema);
  });
}

/** Returns the first row as a record, or null. */
function rowOf([row]: Record<string, unknown>[]): Row | null {
  if (!row) return null;
  const [base, step] = [JSON.parse(row["job"] as string), JSON.parse(row["step"] as string)];
  return {
    job: { ...base, ...step, status: row["status"], ...waitingIn(row) },
    attempts: row["attempts"] as number,
    entry: { id: row["entry_id"] as string, retryCount: row["entry_retry"] as number },
  };
}

function waitingIn({ waiting }: Record<string, unknown>): Pick<Job, "waiting"> {
  return typeof waiting === "string" ? { waiting: JSON.parse(waiting) } : {};
}

/** Returns the fields that change in a job's life, as JSON. */
function stepOf({ startedAt, completedAt, result, error, usage, toolsUsed }: Job): string {
  return JSON.stringify({ startedAt, completedAt, result, error, usage, toolsUsed });
}
