/**
 * Jobs in Postgres, for more than one machine: records and leases in a table of ours, the queue kept by pg-boss. Each
 * step changes both in one transaction, so that neither can know of a job the other does not.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import type { Clock, Ids } from "../ports.ts";
import { begun, cancelled, ended, kept, recovered, updated } from "./job_changes.ts";
import { checkAddress, checkScope } from "./job_names.ts";
import { openPostgres, type PostgresOptions, type PostgresPool, type Transaction } from "./postgres_pool.ts";
import { isFinal, type Job, type JobBackend, type JobClaim, type JobQueue, type JobStore } from "./types.ts";

/** What jobs in Postgres stand on. */
export interface PostgresJobsOptions extends PostgresOptions {
  /** Time of records; leases are kept by the database's clock. */
  readonly clock: Pick<Clock, "now">;
  /** Makes ids. */
  readonly ids: Ids;
}

interface Row {
  readonly job: Job;
  readonly attempts: number;
  /** The entry of pg-boss, and which fetch of it is meant. */
  readonly entry: { readonly id: string; readonly retryCount: number };
}

/** Opens jobs in Postgres. Throws `jobs.library_missing` or `jobs.store_unavailable`. */
export async function postgresJobs(options: PostgresJobsOptions): Promise<JobBackend> {
  const { clock, ids, schema = "kaged_jobs" } = options;
  const pool = await openPostgres(options);
  const { boss, query, transaction, queueOf } = pool;
  const LOCK = "hashtextextended($1, 0)";
  const jobs = `"${schema}".kaged_job`;
  const COLUMNS = "job, attempts, entry_id, entry_retry";
  await makeTables(pool, schema);
  let agentTurn = 0;

  const save = async ({ query }: Pick<Transaction, "query">, job: Job): Promise<Job> => {
    const sql = `UPDATE ${jobs} SET status = $2, job = $3, worker = NULL, lease_until = NULL WHERE id = $1`;
    await query(sql, [job.id, job.status, JSON.stringify(job)]);
    return job;
  };
  /** Ends or repeats the entry of pg-boss, then writes the record: always in this order, or two could wait in a ring. */
  const settle = async (tx: Transaction, { job, entry }: Row, next: Job, delayMs: number): Promise<Job> => {
    const queue = await queueOf(job.agentName);
    if (next.status !== "queued") {
      await boss.complete(queue, entry, { status: next.status }, tx.within);
      return await save(tx, next);
    }
    const { affected } = await boss.fail(queue, entry, null, tx.within) as { affected?: number };
    const startAfter = delayMs / 1000;
    if (affected === 0) await enqueue(tx, next, startAfter);
    else if (delayMs > 0) await boss.update(queue, undefined, { id: entry.id, startAfter, ...tx.within });
    return await save(tx, next);
  };
  const enqueue = async (tx: Transaction, job: Job, startAfter = 0): Promise<void> => {
    const entry = await boss.send(await queueOf(job.agentName), { jobId: job.id }, { startAfter, ...tx.within });
    await tx.query(`UPDATE ${jobs} SET entry_id = $2, entry_retry = 0 WHERE id = $1`, [job.id, entry]);
  };
  const held = async (tx: Transaction, { job, worker, attempt }: JobClaim): Promise<Row | null> =>
    rowOf(
      await tx.query(`SELECT ${COLUMNS} FROM ${jobs} WHERE id = $1 AND worker = $2 AND attempts = $3`, [
        job.id,
        worker,
        attempt,
      ]),
    );

  const store: JobStore = {
    create: async (fields) => {
      const job = kept(fields, ids, clock);
      if (job.status === "queued") await queueOf(job.agentName);
      return await transaction(async (tx) => {
        const sql = `INSERT INTO ${jobs} (id, scope, status, job) VALUES ($1, $2, $3, $4)`;
        await tx.query(sql, [job.id, job.scopeId ?? null, job.status, JSON.stringify(job)]);
        if (job.status === "queued") await enqueue(tx, job);
        return job;
      });
    },
    async get(id, scopeId) {
      checkAddress(id, scopeId);
      const sql = `SELECT ${COLUMNS} FROM ${jobs} WHERE id = $1 AND scope IS NOT DISTINCT FROM $2`;
      return rowOf(await query(sql, [id, scopeId ?? null]))?.job ?? null;
    },
    async list(scopeId) {
      checkScope(scopeId);
      const sql = `SELECT job FROM ${jobs} WHERE scope IS NOT DISTINCT FROM $1 ORDER BY seq`;
      return (await query(sql, [scopeId ?? null])).map(({ job }) => JSON.parse(job as string));
    },
    update: (id, updates) =>
      transaction(async (tx) => {
        checkAddress(id);
        await lock(tx, id);
        const found = rowOf(await tx.query(`SELECT ${COLUMNS} FROM ${jobs} WHERE id = $1`, [id]));
        if (!found) throw new HostError("jobs.unknown", `There is no job "${id}"`, { data: { id } });
        const job = updated(found.job, updates);
        await tx.query(`UPDATE ${jobs} SET status = $2, job = $3 WHERE id = $1`, [id, job.status, JSON.stringify(job)]);
        return job;
      }),
    async delete(id, scopeId) {
      checkAddress(id, scopeId);
      const sql = `DELETE FROM ${jobs} WHERE id = $1 AND scope IS NOT DISTINCT FROM $2 RETURNING id`;
      return (await query(sql, [id, scopeId ?? null])).length === 1;
    },
  };

  const queue: JobQueue = {
    async claim({ worker, agents, leaseMs }) {
      const first = agentTurn++;
      for (let at = 0; at < agents.length; at++) {
        const queue = await queueOf(agents[(first + at) % agents.length]!); // Each agent is the first in its turn.
        const claim = await transaction((tx) => claimFrom(queue, tx, worker, leaseMs)).catch(unlessTaken);
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
    release: (claim, outcome) =>
      settled(claim.job.id, async (tx) => {
        const found = await held(tx, claim);
        const delayMs = outcome.status === "queued" ? outcome.delayMs : 0;
        return found && { found, next: ended(found.job, outcome, clock), delayMs };
      }),
    cancel: (id, scopeId) => {
      checkAddress(id, scopeId);
      return settled(id, async (tx) => {
        const sql = `SELECT ${COLUMNS} FROM ${jobs} WHERE id = $1 AND scope IS NOT DISTINCT FROM $2`;
        const found = rowOf(await tx.query(sql, [id, scopeId ?? null]));
        return found && !isFinal(found.job.status) ? { found, next: cancelled(found.job, clock), delayMs: 0 } : null;
      });
    },
    async recover(policy) {
      const lost = await query(`SELECT id FROM ${jobs} WHERE lease_until <= now() ORDER BY seq`);
      const found = await Promise.all(lost.map(({ id }) =>
        settled(id as string, async (tx) => {
          const found = rowOf(
            await tx.query(`SELECT ${COLUMNS} FROM ${jobs} WHERE id = $1 AND lease_until <= now()`, [id]),
          );
          return found && { found, next: recovered(found.job, found.attempts, policy, clock), delayMs: 0 };
        })
      ));
      return found.filter((job) => job !== null);
    },
    async takeTurn(cronId, dueMs) {
      const sql = `INSERT INTO "${schema}".kaged_turn AS turn (cron, due) VALUES ($1, $2)
        ON CONFLICT (cron) DO UPDATE SET due = excluded.due WHERE turn.due < excluded.due RETURNING cron`;
      return (await query(sql, [cronId, dueMs])).length === 1;
    },
  };

  /** Keeps everyone else from changing a job, until the transaction ends. */
  async function lock(tx: Transaction, id: string): Promise<void> {
    await tx.query(`SELECT pg_advisory_xact_lock(${LOCK})`, [`${schema}.${id}`]);
  }

  /** Changes one job while nobody else can: `decide` sees it as it is and says what becomes of it. */
  function settled(
    id: string,
    decide: (tx: Transaction) => Promise<{ found: Row; next: Job; delayMs: number } | null>,
  ): Promise<Job | null> {
    return transaction(async (tx) => {
      await lock(tx, id);
      const decided = await decide(tx);
      return decided && await settle(tx, decided.found, decided.next, decided.delayMs);
    });
  }

  async function claimFrom(queue: string, tx: Transaction, worker: string, leaseMs: number): Promise<JobClaim | null> {
    for (;;) {
      const [entry] = await boss.fetch<{ jobId: string }>(queue, tx.within);
      if (!entry) return null;
      const { id: entryId, retryCount, data: { jobId } } = entry;
      // Others lock the job first and wait for the entry, which is ours by now: waiting for them would never end.
      const [free] = await tx.query(`SELECT pg_try_advisory_xact_lock(${LOCK}) AS free`, [`${schema}.${jobId}`]);
      if (!free!["free"]) throw new Taken();
      const found = rowOf(
        await tx.query(`SELECT ${COLUMNS} FROM ${jobs} WHERE id = $1 AND status = 'queued'`, [jobId]),
      );
      if (!found) { // Cancelled or deleted; or its worker is gone, and recover() puts it into the queue anew.
        await boss.complete(queue, { id: entryId, retryCount }, null, tx.within);
        continue;
      }
      const job = begun(found.job, clock);
      const attempt = found.attempts + 1;
      await tx.query(
        `UPDATE ${jobs} SET status = 'running', job = $2, attempts = $3, worker = $4, begun = now(),
          lease_until = now() + $5 * interval '1 ms', entry_id = $6, entry_retry = $7 WHERE id = $1`,
        [jobId, JSON.stringify(job), attempt, worker, leaseMs, entryId, retryCount],
      );
      return { job, attempt, worker };
    }
  }

  return { store, queue, close: pool.close };
}

async function makeTables({ transaction }: PostgresPool, schema: string): Promise<void> {
  await transaction(async ({ query }) => {
    await query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${schema}.kaged_job`]); // One at a time.
    await query(`CREATE TABLE IF NOT EXISTS "${schema}".kaged_job (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id text NOT NULL UNIQUE,
      scope text,
      status text NOT NULL,
      attempts integer NOT NULL DEFAULT 0,
      worker text,
      begun timestamptz,
      lease_until timestamptz,
      entry_id uuid,
      entry_retry integer NOT NULL DEFAULT 0,
      job text NOT NULL
    )`);
    await query(`CREATE INDEX IF NOT EXISTS kaged_job_scope ON "${schema}".kaged_job (scope, seq)`);
    await query(`CREATE INDEX IF NOT EXISTS kaged_job_lease ON "${schema}".kaged_job (lease_until)
      WHERE lease_until IS NOT NULL`);
    await query(`CREATE TABLE IF NOT EXISTS "${schema}".kaged_turn (cron text PRIMARY KEY, due bigint NOT NULL)`);
  });
}

function rowOf([row]: Record<string, unknown>[]): Row | null {
  if (!row) return null;
  return {
    job: JSON.parse(row["job"] as string),
    attempts: row["attempts"] as number,
    entry: { id: row["entry_id"] as string, retryCount: row["entry_retry"] as number },
  };
}

/** Someone changes the job that was about to be claimed: the claim is undone, and tried again in its time. */
class Taken extends Error {}

function unlessTaken(error: unknown): null {
  if (error instanceof HostError && error.cause instanceof Taken) return null;
  throw error;
}
