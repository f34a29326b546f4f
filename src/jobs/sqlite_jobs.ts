/**
 * Jobs in one SQLite file: the default of a host. Several processes of one machine may share it.
 *
 * @module
 */
import { clock as systemClock } from "../adapters/shared/clock.ts";
import { databases as systemDatabases } from "../adapters/shared/databases.ts";
import { ids as systemIds } from "../adapters/shared/ids.ts";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Clock, Database, DatabaseOpener, Ids, SqlValue, Statement } from "../core/ports/ports.ts";
import type { ApprovalStore } from "../core/approvals/types.ts";
import { checkLayout } from "../core/files/database_layout.ts";
import { groupCommit } from "./group_commit.ts";
import { CLAIM_SETUP, sqliteTurns } from "./sqlite_claim.ts";
import { type JobRow, jobsOver, type JobTable, type RowPlace } from "./job_table.ts";
import { type SqliteAccess, sqliteApprovals } from "./sqlite_approvals.ts";
import { type SqliteResults, sqliteResults } from "./sqlite_results.ts";
import type { JobBackend } from "./types.ts";

/** The place of jobs in SQLite; the ports are the system's unless a test hands in its own. */
export interface SqliteJobsOptions {
  /** The file, made when missing. Default `:memory:`, which lasts as long as the backend. */
  readonly path?: string;
  /** Opens the file. Default: the runtime's SQLite. */
  readonly databases?: DatabaseOpener;
  /** Time of records and leases. Default: the system's. */
  readonly clock?: Pick<Clock, "now">;
  /** Makes ids of jobs. Default: ids that no other process makes. */
  readonly ids?: Ids;
}

/**
 * Opens jobs in a SQLite file. Throws `jobs.store_unavailable`, `jobs.layout_newer` for a file that a newer version
 * wrote, or `storage.unavailable` without SQLite.
 */
export function sqliteJobs(options: SqliteJobsOptions = {}): JobBackend {
  const { path = ":memory:", databases = systemDatabases, clock = systemClock, ids = systemIds } = options;
  const { table, access } = sqliteTable(path, databases);
  return { ...jobsOver(table, { clock, ids }), approvals: sqliteApprovals(access) };
}

/** Returns jobs that live as long as the process: for tests, and for programs that need none to survive them. */
export function memoryJobs(options: Pick<SqliteJobsOptions, "clock" | "ids"> = {}): JobBackend {
  return sqliteJobs({ ...options, path: ":memory:" });
}

/** Opens the requests for a person's yes alone, in a file of their own; `close` lets go of it. */
export function openSqliteApprovals(
  path: string,
  databases: DatabaseOpener,
): { readonly approvals: ApprovalStore; close(): Promise<void> } {
  const { table, access } = sqliteTable(path, databases);
  return { approvals: sqliteApprovals(access), close: () => table.close() };
}

function sqliteTable(path: string, databases: DatabaseOpener): { table: JobTable; access: SqliteAccess } {
  const { database, sql, results, findTurn, checkStillOurs } = open(path, databases);
  const commit = groupCommit(database);
  const fail = (error: unknown): never => {
    throw asUnavailable(error, path);
  };
  const alone = <T>(work: () => T): Promise<T> => commit(work).catch(fail);
  const reading = <T>(work: () => T): Promise<T> => new Promise<T>((resolve) => resolve(work())).catch(fail);
  const find = (place: RowPlace): SqlValue[] | undefined => {
    switch (place.by) {
      case "address":
        return sql.get.allNumbers([place.id, place.scopeId ?? null])[0];
      case "id":
        return sql.find.allNumbers([place.id])[0];
      case "turn":
        checkStillOurs();
        return findTurn(place);
      case "claim":
        return sql.held.allNumbers([place.claim.job.id, place.claim.worker, place.claim.attempt])[0];
    }
  };
  const write = (next: JobRow, before: JobRow): JobRow => {
    const { attempts, notBeforeMs, lease } = next;
    const job = results.keep(next.job, before.job);
    const { worker = null, untilMs = null } = lease ?? {};
    sql.write.run([job.agentName, job.status, attempts, notBeforeMs, worker, untilMs, JSON.stringify(job), job.id]);
    return { ...next, job };
  };
  const changed = (found: SqlValue[] | undefined, step: (row: JobRow) => JobRow | null): JobRow | null => {
    const row = found ? rowOf(found) : null;
    const next = row && step(row);
    return next && write(next, row);
  };

  const table: JobTable = {
    insert: ({ job }) =>
      alone(() => {
        const { id, scopeId = null, agentName, status } = job;
        sql.create.run([id, scopeId, agentName, status, JSON.stringify(results.keep(job))]);
      }),
    get: (id, scopeId) =>
      reading(() => {
        const found = find({ by: "address", id, scopeId });
        return found ? rowOf(found).job : null;
      }),
    list: (scopeId, { status = null, agentName = null, before = null, limit = Infinity }) =>
      reading(() => {
        const where = [scopeId ?? null, status, status, agentName, agentName, before, before];
        const rows = sql.list.allNumbers([...where, Number.isFinite(limit) ? limit : -1]);
        return rows.map(([job]) => JSON.parse(job as string));
      }),
    page: (query) => reading(() => results.page(query)),
    find: (id) =>
      reading(() => {
        const found = find({ by: "id", id });
        return found ? rowOf(found).job : null;
      }),
    piece: (id, part) => reading(() => results.piece(id, part)),
    change: (place, step) => alone(() => changed(find(place), step)),
    changeLost: (nowMs, step) => alone(() => sql.lost.allNumbers([nowMs]).map((found) => changed(found, step))),
    remove: (id, scopeId) => alone(() => sql.remove.run([id, scopeId ?? null]) === 1),
    takeTurn: (cronId, dueMs) => alone(() => sql.turn.run([cronId, dueMs]) === 1),
    forget: ({ maxAgeMs, maxFinished, batch }, nowMs) =>
      alone(() => {
        const old = sql.old.run([new Date(Math.max(0, nowMs - maxAgeMs)).toISOString(), batch]);
        if (old === batch || !Number.isFinite(maxFinished)) return old;
        return old + sql.surplus.run([batch - old, maxFinished]);
      }),
    // An empty piece is committed after everything that was asked for before.
    close: () => commit(() => {}).catch(() => {}).then(() => database.close()),
  };
  return { table, access: { database, alone, reading } };
}

function rowOf([job, attempts, notBeforeMs, worker, untilMs]: SqlValue[]): JobRow {
  return {
    job: JSON.parse(job as string),
    attempts: attempts as number,
    notBeforeMs: notBeforeMs as number,
    lease: worker === null ? null : { worker: worker as string, untilMs: untilMs as number },
  };
}

/** An open file; a host of a newer version may change its layout at any time. */
interface OpenTable {
  readonly database: Database;
  readonly sql: JobStatements;
  readonly results: SqliteResults;
  readonly findTurn: ReturnType<typeof sqliteTurns>;
  /** Throws `jobs.layout_newer` once a host has changed the file in a way that this version does not know. */
  checkStillOurs(): void;
}

function open(path: string, databases: DatabaseOpener): OpenTable {
  let database: Database | null = null;
  try {
    const opened = database = databases.open(path);
    const layout = { file: path, newest: LAYOUT, writable: true, code: "jobs.layout_newer" } as const;
    checkLayout(opened, layout);
    makeTables(opened);
    const version = opened.prepare("PRAGMA user_version");
    return {
      database,
      sql: jobStatements(opened),
      results: sqliteResults(opened),
      findTurn: sqliteTurns(opened, ROW),
      checkStillOurs: () => Number(version.allNumbers([])[0]![0]) > LAYOUT && checkLayout(opened, layout),
    };
  } catch (error) {
    database?.close();
    throw asUnavailable(error, path);
  }
}

/** Makes what is missing, all of it or nothing; a file that has everything is only read. */
function makeTables(database: Database): void {
  for (const sql of ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"]) database.prepare(sql).all([]);
  const there = new Set(database.prepare("SELECT name FROM sqlite_schema").all([]).map(([name]) => name));
  const missing = [...SETUP, ...CLAIM_SETUP].filter((sql) => !there.has(/ IF NOT EXISTS (\w+)/.exec(sql)![1]!));
  if (missing.length === 0) return;
  database.run("BEGIN IMMEDIATE");
  try {
    for (const sql of missing) database.run(sql);
    database.run("COMMIT");
  } catch (error) {
    if (database.inTransaction) database.run("ROLLBACK");
    throw error;
  }
}

function asUnavailable(error: unknown, path: string): HostError {
  if (error instanceof HostError) return error;
  return new HostError("jobs.store_unavailable", `The jobs database "${path}" cannot be used: ${messageOf(error)}`, {
    data: { path },
    hint: "Check that its folder is there, that the disk has room, and that no other program holds the file",
    cause: error,
  });
}

/**
 * The layout that a host must know to use the file. Tables, indexes and columns with a default are added without a new
 * number, as hosts of earlier versions go on beside them; a change that they would trip over takes the next one.
 */
const LAYOUT = 1;

// The record is JSON; what is looked for stands beside it. FULL: a job that was accepted outlives a power cut too.
const SETUP: readonly string[] = [
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
  "CREATE INDEX IF NOT EXISTS jobs_leased ON jobs (lease_until) WHERE lease_until IS NOT NULL",
  "CREATE INDEX IF NOT EXISTS jobs_scope ON jobs (scope, seq)",
  `CREATE INDEX IF NOT EXISTS jobs_ended ON jobs (job ->> '$.completedAt')
    WHERE status IN ('completed', 'failed', 'cancelled')`,
  "CREATE TABLE IF NOT EXISTS turns (cron TEXT PRIMARY KEY, due INTEGER NOT NULL) STRICT",
];

/** The columns of a whole row (`$row` below), in the order that `sqlite_jobs.ts` reads them. */
const ROW = "job, attempts, not_before, worker, lease_until";

const SQL = {
  create: "INSERT INTO jobs (id, scope, agent, status, job) VALUES (?, ?, ?, ?, ?)",
  find: `SELECT $row FROM jobs WHERE id = ?`,
  get: `SELECT $row FROM jobs WHERE id = ? AND scope IS ?`,
  list: `SELECT job FROM (
    SELECT seq, job FROM jobs WHERE scope IS ? AND (? IS NULL OR status = ?) AND (? IS NULL OR agent = ?)
      AND (? IS NULL OR seq < (SELECT seq FROM jobs WHERE id = ?)) ORDER BY seq DESC LIMIT ?
    ) ORDER BY seq`,
  write: `UPDATE jobs SET agent = ?, status = ?, attempts = ?, not_before = ?, worker = ?, lease_until = ?, job = ?
    WHERE id = ?`,
  remove: "DELETE FROM jobs WHERE id = ? AND scope IS ?",
  held: `SELECT $row FROM jobs WHERE id = ? AND worker = ? AND attempts = ?`,
  lost: `SELECT $row FROM jobs WHERE lease_until <= ? ORDER BY seq`,
  old: `DELETE FROM jobs WHERE seq IN (
    SELECT seq FROM jobs WHERE status IN ('completed', 'failed', 'cancelled') AND job ->> '$.completedAt' <= ? LIMIT ?)`,
  surplus: `DELETE FROM jobs WHERE seq IN (
    SELECT seq FROM jobs WHERE status IN ('completed', 'failed', 'cancelled')
    ORDER BY job ->> '$.completedAt' DESC LIMIT ? OFFSET ?)`,
  turn: `INSERT INTO turns (cron, due) VALUES (?, ?)
    ON CONFLICT (cron) DO UPDATE SET due = excluded.due WHERE turns.due < excluded.due`,
} as const;

/** Every statement, compiled. */
type JobStatements = Readonly<Record<keyof typeof SQL, Statement>>;

function jobStatements(database: Database): JobStatements {
  const compiled = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql.replace("$row", ROW))]);
  return Object.fromEntries(compiled) as JobStatements;
}
