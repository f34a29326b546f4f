/**
 * Results and pages of jobs in SQLite. Results lie in a table of their own, a row for each piece. A trigger removes them
 * with their job, also when a version of this package deletes the job that knows nothing of them.
 *
 * @module
 */
import type { Database } from "../core/ports/ports.ts";
import { piecesOf, setAside, withoutResult } from "./results_aside.ts";
import { pageWithin, seqOf } from "./job_pages.ts";
import type { Job, JobList, JobPageQuery } from "./types.ts";

/** The part of the table of jobs that answers and lists need. Each call is synchronous, within or without a transaction. */
export interface SqliteResults {
  /** Writes the result of a job where it is too long for the record; returns the record to write. */
  keep(job: Job, before?: Job): Job;
  page(query: JobPageQuery): JobList;
  /** Returns a piece, counted from 0, or null behind the last one. */
  piece(id: string, part: number): Uint8Array | null;
}

/** Makes the table where it is missing. */
export function sqliteResults(database: Database): SqliteResults {
  for (const sql of SETUP) database.prepare(sql).all([]);
  const [put, drop, read] = [SQL.put, SQL.drop, SQL.read].map((sql) => database.prepare(sql)) as [Made, Made, Made];
  const [ofScope, ofEvery] = ["scope IS ?1 AND", ""].map((where) => database.prepare(pageSql(where))) as [Made, Made];
  return {
    keep(job, before) {
      const { record, aside } = setAside(job);
      if (aside !== null || before?.resultAside && !record.resultAside) drop.run([job.id]);
      if (aside === null) return record;
      let part = 0;
      for (const piece of piecesOf(aside)) put.run([job.id, part++, piece]);
      return record;
    },
    page(query) {
      const { scopeId, status = null, agentName = null, limit, maxBytes, after } = query;
      const page = scopeId === undefined ? ofEvery : ofScope;
      const before = after === undefined ? Number.MAX_SAFE_INTEGER : seqOf(after);
      const rows = page.allNumbers([scopeId ?? null, status, agentName, before, limit + 1, maxBytes]);
      const found = rows.map(([seq, count, job]) => {
        return { place: `${seq}`, count: count as number, job: withoutResult(JSON.parse(job as string)) };
      });
      return pageWithin(found, limit);
    },
    piece: (id, part) => read.all([id, part])[0]?.[0] as Uint8Array | undefined ?? null,
  };
}

type Made = ReturnType<Database["prepare"]>;

const SETUP: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS results (
    id TEXT NOT NULL,
    part INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (id, part)
  ) STRICT`,
  `CREATE TRIGGER IF NOT EXISTS results_go AFTER DELETE ON jobs
    BEGIN DELETE FROM results WHERE id = OLD.id; END`,
];

const SQL = {
  put: "INSERT INTO results (id, part, data) VALUES (?, ?, ?)",
  drop: "DELETE FROM results WHERE id = ?",
  read: "SELECT data FROM results WHERE id = ? AND part = ?",
} as const;

/** Lengths are read first: SQLite takes them from the head of a row, and so reads no record beyond the page. */
function pageSql(where: string): string {
  return `WITH sized AS (
      SELECT seq, octet_length(job) AS size FROM jobs
      WHERE ${where} seq < ?4 AND (?2 IS NULL OR status = ?2) AND (?3 IS NULL OR agent = ?3)
      ORDER BY seq DESC LIMIT ?5),
    summed AS (SELECT seq, sum(size) OVER (ORDER BY seq DESC) - size AS before, count(*) OVER () AS total FROM sized)
    SELECT seq, total, job FROM summed JOIN jobs USING (seq) WHERE before < ?6 ORDER BY seq DESC`;
}
