/**
 * Requests for a person's yes in the SQLite file of the jobs.
 *
 * @module
 */
import type { Approval, ApprovalEnd, ApprovalStore, StandingAnswer } from "../core/approvals/types.ts";
import { listedText } from "../core/approvals/shown_arguments.ts";
import type { Database, SqlValue, Statement } from "../core/ports/ports.ts";

/** How the file is used: `alone` among all processes, or only read. */
export interface SqliteAccess {
  readonly database: Database;
  readonly alone: <T>(work: () => T) => Promise<T>;
  readonly reading: <T>(work: () => T) => Promise<T>;
}

/** Makes the tables where they are missing, and returns the store over them. */
export function sqliteApprovals({ database, alone, reading }: SqliteAccess): ApprovalStore {
  for (const sql of SETUP) database.prepare(sql).all([]);
  const sql = Object.fromEntries(
    Object.entries(SQL).map(([name, text]) => [name, database.prepare(text)]),
  ) as Readonly<Record<keyof typeof SQL, Statement>>;

  const write = (approval: Approval): Approval => {
    const { id, state, expiresAt } = approval;
    sql.write.run([state, expiresAt, approval.end?.at ?? null, JSON.stringify(approval), listedText(approval), id]);
    return approval;
  };
  const endAll = (rows: SqlValue[][], end: ApprovalEnd): Approval[] => {
    return read<Approval>(rows).map((approval) => write({ ...approval, state: end.state, end }));
  };
  const get = (id: string): Approval | null => read<Approval>(sql.get.allNumbers([id]))[0] ?? null;

  return {
    open: (request, call) =>
      alone(() => {
        const [before] = call === null ? [] : read<Approval>(sql.ofCall.allNumbers([call]));
        if (before?.state === "waiting") return write({ ...before, expiresAt: request.expiresAt });
        if (before) return before;
        const { id, projectId, jobId, state, expiresAt } = request;
        sql.open.run([id, projectId, jobId, call, state, expiresAt, JSON.stringify(request), listedText(request)]);
        return request;
      }),
    get: (id) => reading(() => get(id)),
    ended: (ids) => reading(() => read<Approval>(sql.ended.allNumbers([JSON.stringify(ids)]))),
    end: (id, end) =>
      alone(() => {
        const found = get(id);
        return found?.state === "waiting" ? write({ ...found, state: end.state, end }) : null;
      }),
    list: ({ projectId, state = null, before = null, limit }) =>
      reading(() => read<Approval>(sql.list.allNumbers([projectId, state, state, before, before, limit]))),
    async endJob(jobId, end) {
      // Most jobs have none: a look costs no write.
      const isAsked = await reading(() => sql.ofJob.allNumbers([jobId]).length > 0);
      return isAsked ? await alone(() => endAll(sql.ofJob.allNumbers([jobId]), end)) : [];
    },
    endLost: (projectId, before, end) => alone(() => endAll(sql.lost.allNumbers([projectId, before]), end)),
    keep: (answer) =>
      alone(() => {
        const { id, projectId, sessionId } = answer;
        const address = addressOf(answer);
        sql.replaced.run([address]); // A new row: the newest answer is the last.
        sql.keep.run([id, projectId, sessionId, address, JSON.stringify(answer)]);
      }),
    standing: (projectId) => reading(() => read<StandingAnswer>(sql.standing.allNumbers([projectId]))),
    revoke: (id) => alone(() => sql.revoke.run([id]) === 1),
    async endSession(projectId, sessionId) {
      const has = await reading(() => sql.ofSession.allNumbers([projectId, sessionId]).length > 0);
      if (has) await alone(() => sql.endSession.run([projectId, sessionId]));
    },
    forget: (before) => alone(() => sql.forget.run([before])),
  };
}

/** Two answers with the same address settle the same calls: the newer one replaces the other. */
export function addressOf({ projectId, source, tool, plugin, agentPath, sessionId }: StandingAnswer): string {
  const whose = plugin === undefined ? [] : [plugin];
  return JSON.stringify([projectId, source.kind, source.id, tool, agentPath, sessionId, ...whose]);
}

function read<T>(rows: SqlValue[][]): T[] {
  return rows.map(([record]) => JSON.parse(record as string));
}

// The record is JSON; what is looked for stands beside it. A big one has a short form for lists: to read hundreds of a
// megabyte each would hold up the host for seconds.
const SETUP: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS approvals (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    job TEXT,
    call TEXT,
    state TEXT NOT NULL,
    expires TEXT NOT NULL,
    ended TEXT,
    record TEXT NOT NULL,
    listed TEXT
  ) STRICT`,
  "CREATE INDEX IF NOT EXISTS approvals_project ON approvals (project, seq)",
  "CREATE INDEX IF NOT EXISTS approvals_call ON approvals (call) WHERE call IS NOT NULL",
  "CREATE INDEX IF NOT EXISTS approvals_job ON approvals (job) WHERE state = 'waiting'",
  "CREATE INDEX IF NOT EXISTS approvals_ended ON approvals (ended) WHERE ended IS NOT NULL",
  `CREATE TABLE IF NOT EXISTS standing_answers (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    project TEXT NOT NULL,
    session TEXT,
    address TEXT NOT NULL UNIQUE,
    record TEXT NOT NULL
  ) STRICT`,
];

const SQL = {
  open:
    "INSERT INTO approvals (id, project, job, call, state, expires, record, listed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
  get: "SELECT record FROM approvals WHERE id = ?",
  ofCall: "SELECT record FROM approvals WHERE call = ? AND state <> 'withdrawn' ORDER BY seq DESC LIMIT 1",
  ended: "SELECT record FROM approvals WHERE id IN (SELECT value FROM json_each(?)) AND state <> 'waiting'",
  write: "UPDATE approvals SET state = ?, expires = ?, ended = ?, record = ?, listed = ? WHERE id = ?",
  list: `SELECT coalesce(listed, record) FROM approvals WHERE project = ?
    AND (? IS NULL OR (? = 'waiting') = (state = 'waiting'))
    AND (? IS NULL OR seq < (SELECT seq FROM approvals WHERE id = ?)) ORDER BY seq DESC LIMIT ?`,
  ofJob: "SELECT record FROM approvals WHERE job = ? AND state = 'waiting' ORDER BY seq",
  lost: `SELECT record FROM approvals WHERE project = ? AND job IS NULL AND state = 'waiting' AND expires <= ?
    ORDER BY seq`,
  replaced: "DELETE FROM standing_answers WHERE address = ?",
  keep: "INSERT INTO standing_answers (id, project, session, address, record) VALUES (?, ?, ?, ?, ?)",
  standing: "SELECT record FROM standing_answers WHERE project = ? ORDER BY seq",
  revoke: "DELETE FROM standing_answers WHERE id = ?",
  ofSession: "SELECT 1 FROM standing_answers WHERE project = ? AND session = ? LIMIT 1",
  endSession: "DELETE FROM standing_answers WHERE project = ? AND session = ?",
  forget: "DELETE FROM approvals WHERE ended < ?",
} as const;
