/**
 * Jobs in Postgres, for more than one machine: a job is one row, which is its record, its place in the queue and its
 * lease. Each step of its life is one statement.
 *
 * @module
 */
import { clock as systemClock } from "../adapters/shared/clock.ts";
import { ids as systemIds } from "../adapters/shared/ids.ts";
import type { Clock, Ids } from "../core/ports/ports.ts";
import { cancelled, ended, isAbandoned, kept, reclaimed, recovered, updated } from "./job_changes.ts";
import { checkAddress, checkScope } from "./job_names.ts";
import { unknownJob } from "./job_table.ts";
import { postgresApprovals } from "./postgres_approvals.ts";
import { claimsIn } from "./postgres_claim.ts";
import { openLayout } from "./postgres_layout.ts";
import { keepResult, postgresResults } from "./postgres_results.ts";
import { openPostgres, type PostgresOptions, type PostgresPool } from "./postgres_pool.ts";
import { setAside } from "./results_aside.ts";
import { isFinal, type Job, type JobBackend } from "./types.ts";

/** The database of jobs in Postgres; clock and ids are the system's unless a test hands in its own. */
export interface PostgresJobsOptions extends PostgresOptions {
  /** Time of records. Default: the system's. Leases run by the clock of the database. */
  readonly clock?: Pick<Clock, "now">;
  /** Makes ids of jobs. Default: ids that no other process makes. */
  readonly ids?: Ids;
}

/** The condition of a step, as SQL after four values. */
interface Step {
  readonly when: string;
  readonly values: readonly unknown[];
  /** Time until a worker may take the job again. */
  readonly delayMs?: number;
}

interface Tables extends PostgresPool {
  /** The table's full name, quoted for SQL. */
  readonly jobs: string;
  readonly schema: string;
  readonly clock: Pick<Clock, "now">;
}

/** Opens jobs in Postgres. Throws `jobs.library_missing`, `jobs.store_unavailable` or `jobs.layout_newer`. */
export async function postgresJobs(options: PostgresJobsOptions): Promise<JobBackend> {
  const { clock = systemClock, ids = systemIds, schema = "kaged_jobs" } = options;
  const pool = await openPostgres(options);
  try {
    await openLayout(pool, schema);
  } catch (error) {
    await pool.close();
    throw error;
  }
  const tables: Tables = { ...pool, jobs: `"${schema}".kaged_job`, schema, clock };
  const approvals = postgresApprovals(pool, schema);
  return { store: storeIn(tables, ids), queue: queueIn(tables, schema), approvals, close: pool.close };
}

function storeIn(tables: Tables, ids: Ids): JobBackend["store"] {
  const { jobs, schema, query, transaction, clock } = tables;
  return {
    ...postgresResults(tables, schema, { columns: COLUMNS, jobOf: (row) => rowOf([row])!.job }),
    async create(fields) {
      const { record: job, aside } = setAside(kept(fields, ids, clock));
      const sql = `INSERT INTO ${jobs} (id, status, agent, scope, job, ended) VALUES ($1, $2, $3, $4, $5, ${ENDED})`;
      const values = [job.id, job.status, job.agentName, job.scopeId ?? null, JSON.stringify(job)];
      if (aside === null) await query(sql, values);
      else {
        await transaction(async (tx) => {
          await tx.query(sql, values);
          await keepResult(tx, schema, { id: job.id, result: aside });
        });
      }
      return job;
    },
    async find(id) {
      checkAddress(id);
      return rowOf(await query(`SELECT ${COLUMNS} FROM ${jobs} WHERE id = $1`, [id]))?.job ?? null;
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
        const { record, aside } = setAside(updated(found.job, updates));
        const { waiting: _, ...job } = record; // It has a column of its own.
        if (aside !== null || found.job.resultAside && !job.resultAside) {
          await keepResult(tx, schema, { id, result: aside });
        }
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
  const { jobs, query, clock } = tables;
  return {
    claim: claimsIn(tables, schema, clock),
    async heartbeat({ job, worker, attempt }, leaseMs) {
      const sql = `UPDATE ${jobs} SET lease_until = now() + $4 * interval '1 ms'
        WHERE id = $1 AND worker = $2 AND attempts = $3 RETURNING id`;
      return (await query(sql, [job.id, worker, attempt, leaseMs])).length === 1;
    },
    release({ job, worker, attempt }, outcome) {
      const delayMs = outcome.status === "queued" ? outcome.delayMs : 0;
      const held = { when: "worker = $5 AND attempts = $6", values: [worker, attempt], delayMs };
      return settle(tables, ended(job, outcome, clock), held);
    },
    async reclaim(claim, outcome, lostError) {
      const row = await lookUp(tables, claim.job.id, claim.job.scopeId);
      if (!row || row.attempts !== claim.attempt || !isAbandoned(row.job, claim, lostError)) return null;
      const { attempts, job: { status } } = row;
      const asSeen = { when: "status = $5 AND attempts = $6 AND worker IS NULL", values: [status, attempts] };
      return await settle(tables, reclaimed(row.job, outcome, clock), asSeen);
    },
    async cancel(id, scopeId) {
      for (;;) {
        const row = await lookUp(tables, id, scopeId);
        if (!row || isFinal(row.job.status)) return null;
        const { attempts, job: { status } } = row;
        const asSeen = { when: "status = $5 AND attempts = $6", values: [status, attempts] };
        const job = await settle(tables, cancelled(row.job, clock), asSeen);
        if (job) return job; // Otherwise the job went on between the two statements.
      }
    },
    async setWaiting(id, waiting) {
      const said = waiting.length === 0 ? null : JSON.stringify(waiting);
      await query(`UPDATE ${jobs} SET waiting = $2 WHERE id = $1 AND status = 'running'`, [id, said]);
    },
    async recover(policy) {
      const isLost = "status = 'running' AND lease_until <= now()";
      const lost = await query(`SELECT ${COLUMNS} FROM ${jobs} WHERE ${isLost} ORDER BY seq`);
      const found = await Promise.all(lost.map((each) => {
        const { job, attempts } = rowOf([each])!;
        return settle(tables, recovered(job, attempts, policy, clock), {
          when: `attempts = $5 AND ${isLost}`,
          values: [attempts],
        });
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

/** Writes the next state of a job and gives up its lease, if `when` still holds. */
async function settle(tables: Tables, next: Job, { when, values, delayMs = 0 }: Step): Promise<Job | null> {
  const { jobs, schema, query, transaction } = tables;
  const { record, aside } = setAside(next);
  const sql =
    `UPDATE ${jobs} SET status = $2, step = $3, worker = NULL, lease_until = NULL, waiting = NULL, ended = ${ENDED},
    not_before = CASE WHEN $4::float8 > 0 THEN now() + $4::float8 * interval '1 ms' END WHERE id = $1 AND ${when} RETURNING ${COLUMNS}`;
  const given = [next.id, next.status, stepOf(record), delayMs, ...values];
  if (aside === null) return rowOf(await query(sql, given))?.job ?? null;
  return await transaction(async (tx) => {
    const row = rowOf(await tx.query(sql, given));
    if (row) await keepResult(tx, schema, { id: next.id, result: aside });
    return row && row.job;
  });
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
}

/** When a job ended, for a statement whose second value is its status. */
const ENDED = "CASE WHEN $2 IN ('completed', 'failed', 'cancelled') THEN now() END";

/** The columns that {@link rowOf} reads. */
const COLUMNS = "job, step, status, waiting, attempts";

/** Returns the first row as a record, or null. */
function rowOf([row]: Record<string, unknown>[]): Row | null {
  if (!row) return null;
  const [base, step] = [JSON.parse(row["job"] as string), JSON.parse(row["step"] as string)];
  return {
    job: { ...base, ...step, status: row["status"], ...waitingIn(row) },
    attempts: row["attempts"] as number,
  };
}

function waitingIn({ waiting }: Record<string, unknown>): Pick<Job, "waiting"> {
  return typeof waiting === "string" ? { waiting: JSON.parse(waiting) } : {};
}

/** Returns the fields that change in a job's life, as JSON. */
function stepOf({ startedAt, completedAt, result, resultAside, error, errorCode, usage, toolsUsed }: Job): string {
  return JSON.stringify({ startedAt, completedAt, result, resultAside, error, errorCode, usage, toolsUsed });
}
