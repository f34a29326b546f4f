/**
 * The tables of jobs in SQLite, and every statement on them.
 *
 * @module
 */
import type { Database, Statement } from "../core/ports/ports.ts";

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
  waiting: `SELECT $row FROM jobs WHERE status = 'queued' AND agent IN (SELECT value FROM json_each(?))
    AND not_before <= ? ORDER BY seq LIMIT 1`,
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
export type JobStatements = Readonly<Record<keyof typeof SQL, Statement>>;

/** Makes the tables, and compiles each statement once. */
export function jobStatements(database: Database): JobStatements {
  for (const sql of SETUP) database.prepare(sql).all([]);
  const compiled = Object.entries(SQL).map(([name, sql]) => [name, database.prepare(sql.replace("$row", ROW))]);
  return Object.fromEntries(compiled) as JobStatements;
}
