/**
 * Jobs in one SQLite file: the default of a host. Several processes of one machine may share it.
 *
 * @module
 */
import { HostError } from "../errors.ts";
import type { Clock, Database, DatabaseOpener, Ids, SqlValue, Statement } from "../ports.ts";
import { begun, cancelled, ended, kept, recovered, updated } from "./job_changes.ts";
import { checkAddress, checkScope } from "./job_names.ts";
import { isFinal, type Job, type JobBackend, type JobClaim, type JobQueue, type JobStore } from "./types.ts";

/** What jobs in SQLite stand on. */
export interface SqliteJobsOptions {
  /** The file, made when missing; `:memory:` keeps it in memory. */
  readonly path: string;
  /** Opens it. */
  readonly databases: DatabaseOpener;
  /** Time of records and leases. */
  readonly clock: Pick<Clock, "now">;
  /** Makes ids. */
  readonly ids: Ids;
}

// The record is JSON; what is looked for stands beside it. FULL: a job that was accepted outlives a power cut too.
const SETUP: readonly string[] = [
  "PRAGMA journal_mode = WAL",
  "PRAGMA synchronous = FULL",
  `CREATE TABLE IF NOT EXISTS jobs (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    scope TEXT,
    agent TEXT NOT NULL,
    status TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    lease_until INTEGER,
    job TEXT NOT NULL
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS jobs_waiting ON jobs (agent, seq) WHERE status = 'queued'",
  "CREATE INDEX IF NOT EXISTS jobs_leased ON jobs (lease_until) WHERE lease_until IS NOT NULL",
  "CREATE INDEX IF NOT EXISTS jobs_scope ON jobs (scope, seq)",
  "CREATE TABLE IF NOT EXISTS turns (cron TEXT PRIMARY KEY, due INTEGER NOT NULL) STRICT",
];

interface Row {
  readonly job: Job;
  readonly attempts: number;
}

/** Opens jobs in a SQLite file. Throws `storage.unavailable` on a runtime without SQLite. */
export function sqliteJobs({ path, databases, clock, ids }: SqliteJobsOptions): JobBackend {
  const database = databases.open(path);
  for (const sql of SETUP) database.prepare(sql).all([]);
  const sql = statements(database);

  /** Runs `work` alone among all processes: it sees what it changes. */
  function alone<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => {
      sql.begin.run([]);
      try {
        const result = work();
        sql.commit.run([]);
        resolve(result);
      } catch (error) {
        if (database.inTransaction) sql.rollback.run([]);
        throw error;
      }
    });
  }
  const one = (statement: Statement, params: readonly SqlValue[]): Row | null => {
    const [row] = statement.allNumbers(params);
    return row ? { job: JSON.parse(row[0] as string), attempts: row[1] as number } : null;
  };
  const byId = (id: string, scopeId?: string): Row | null => {
    checkAddress(id, scopeId);
    return one(sql.get, [id, scopeId ?? null]);
  };
  const held = ({ job, worker, attempt }: JobClaim): Row | null => one(sql.held, [job.id, worker, attempt]);
  const write = (job: Job, notBeforeMs = 0): Job => {
    sql.write.run([job.status, JSON.stringify(job), notBeforeMs, job.id]);
    return job;
  };

  const store: JobStore = {
    create: (fields) =>
      alone(() => {
        const job = kept(fields, ids, clock);
        sql.create.run([job.id, job.scopeId ?? null, job.agentName, job.status, JSON.stringify(job)]);
        return job;
      }),
    get: (id, scopeId) => new Promise((resolve) => resolve(byId(id, scopeId)?.job ?? null)),
    list: (scopeId) =>
      new Promise((resolve) => {
        checkScope(scopeId);
        resolve(sql.list.allNumbers([scopeId ?? null]).map(([job]) => JSON.parse(job as string)));
      }),
    update: (id, updates) =>
      alone(() => {
        checkAddress(id);
        const found = one(sql.find, [id]);
        if (!found) throw new HostError("jobs.unknown", `There is no job "${id}"`, { data: { id } });
        const job = updated(found.job, updates);
        sql.update.run([job.agentName, job.status, JSON.stringify(job), id]);
        return job;
      }),
    delete: (id, scopeId) => alone(() => byId(id, scopeId) !== null && sql.remove.run([id]) === 1),
  };

  const queue: JobQueue = {
    claim: ({ worker, agents, leaseMs }) =>
      alone(() => {
        const nowMs = clock.now();
        const found = one(sql.waiting, [JSON.stringify(agents), nowMs]);
        if (!found) return null;
        const job = begun(found.job, clock);
        sql.claim.run([JSON.stringify(job), worker, nowMs + leaseMs, job.id]);
        return { job, attempt: found.attempts + 1, worker };
      }),
    heartbeat: ({ job, worker, attempt }, leaseMs) =>
      alone(() => sql.renew.run([clock.now() + leaseMs, job.id, worker, attempt]) === 1),
    release: (claim, outcome) =>
      alone(() => {
        const found = held(claim);
        const notBeforeMs = outcome.status === "queued" ? clock.now() + outcome.delayMs : 0;
        return found && write(ended(found.job, outcome, clock), notBeforeMs);
      }),
    cancel: (id, scopeId) =>
      alone(() => {
        const found = byId(id, scopeId);
        return found && !isFinal(found.job.status) ? write(cancelled(found.job, clock)) : null;
      }),
    recover: (policy) =>
      alone(() =>
        sql.lost.allNumbers([clock.now()]).map(([job, attempts]) =>
          write(recovered(JSON.parse(job as string), attempts as number, policy, clock))
        )
      ),
    takeTurn: (cronId, dueMs) => alone(() => sql.turn.run([cronId, dueMs]) === 1),
  };
  return { store, queue, close: () => Promise.resolve(database.close()) };
}

/** Every statement, compiled once. */
function statements(database: Database): Record<keyof typeof SQL, Statement> {
  const compiled = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql)]);
  return Object.fromEntries(compiled) as Record<keyof typeof SQL, Statement>;
}

const SQL = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  rollback: "ROLLBACK",
  create: "INSERT INTO jobs (id, scope, agent, status, job) VALUES (?, ?, ?, ?, ?)",
  find: "SELECT job, attempts FROM jobs WHERE id = ?",
  get: "SELECT job, attempts FROM jobs WHERE id = ? AND scope IS ?",
  list: "SELECT job FROM jobs WHERE scope IS ? ORDER BY seq",
  update: "UPDATE jobs SET agent = ?, status = ?, job = ? WHERE id = ?",
  remove: "DELETE FROM jobs WHERE id = ?",
  waiting: `SELECT job, attempts FROM jobs WHERE status = 'queued' AND agent IN (SELECT value FROM json_each(?))
    AND not_before <= ? ORDER BY seq LIMIT 1`,
  claim: `UPDATE jobs SET status = 'running', attempts = attempts + 1, job = ?, worker = ?, lease_until = ?
    WHERE id = ?`,
  held: "SELECT job, attempts FROM jobs WHERE id = ? AND worker = ? AND attempts = ?",
  renew: "UPDATE jobs SET lease_until = ? WHERE id = ? AND worker = ? AND attempts = ?",
  write: "UPDATE jobs SET status = ?, job = ?, not_before = ?, worker = NULL, lease_until = NULL WHERE id = ?",
  lost: "SELECT job, attempts FROM jobs WHERE lease_until <= ? ORDER BY seq",
  turn: `INSERT INTO turns (cron, due) VALUES (?, ?)
    ON CONFLICT (cron) DO UPDATE SET due = excluded.due WHERE turns.due < excluded.due`,
} as const;
