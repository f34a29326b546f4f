/**
 * Requests for a person's yes in Postgres, beside the jobs: hosts of several machines share one desk.
 *
 * @module
 */
import type { Approval, ApprovalEnd, ApprovalStore, StandingAnswer } from "../core/approvals/types.ts";
import { listedText } from "../core/approvals/shown_arguments.ts";
import type { PostgresPool, Transaction } from "./postgres_pool.ts";
import { addressOf } from "./sqlite_approvals.ts";

/** Returns the store over tables that {@link makeApprovalTables} has made. */
export function postgresApprovals({ query, transaction }: PostgresPool, schema: string): ApprovalStore {
  const [approvals, answers] = [`"${schema}".kaged_approval`, `"${schema}".kaged_answer`];

  const write = async ({ query }: Transaction, approval: Approval): Promise<Approval> => {
    const { id, state, expiresAt, end } = approval;
    const sql = `UPDATE ${approvals} SET state = $2, expires = $3, ended = $4, record = $5, listed = $6 WHERE id = $1`;
    await query(sql, [id, state, expiresAt, end?.at ?? null, JSON.stringify(approval), listedText(approval)]);
    return approval;
  };
  const endAll = (where: string, values: unknown[], end: ApprovalEnd): Promise<Approval[]> =>
    transaction(async (tx) => {
      const found = await tx.query(
        `SELECT record FROM ${approvals} WHERE state = 'waiting' AND ${where} ORDER BY seq FOR UPDATE`,
        values,
      );
      const ended: Approval[] = [];
      for (const approval of read<Approval>(found)) ended.push(await write(tx, { ...approval, state: end.state, end }));
      return ended;
    });

  return {
    open: (request, call) =>
      transaction(async (tx) => {
        // Two processes may run one job for a moment, when a lease has just run out: one of them makes the request.
        if (call !== null) {
          await tx.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${schema}.${call}`]);
        }
        const ofCall = `SELECT record FROM ${approvals} WHERE call = $1 AND state <> 'withdrawn'
          ORDER BY seq DESC LIMIT 1 FOR UPDATE`;
        const [before] = call === null ? [] : read<Approval>(await tx.query(ofCall, [call]));
        if (before?.state === "waiting") return await write(tx, { ...before, expiresAt: request.expiresAt });
        if (before) return before;
        const { id, projectId, jobId, state, expiresAt } = request;
        const sql = `INSERT INTO ${approvals} (id, project, job, call, state, expires, record, listed)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`;
        const texts = [JSON.stringify(request), listedText(request)];
        await tx.query(sql, [id, projectId, jobId, call, state, expiresAt, ...texts]);
        return request;
      }),
    get: async (id) => read<Approval>(await query(`SELECT record FROM ${approvals} WHERE id = $1`, [id]))[0] ?? null,
    ended: async (ids) =>
      read(await query(`SELECT record FROM ${approvals} WHERE id = ANY($1) AND state <> 'waiting'`, [[...ids]])),
    end: async (id, end) => (await endAll("id = $1", [id], end))[0] ?? null,
    async list({ projectId, state = null, before = null, limit }) {
      const sql = `SELECT coalesce(listed, record) AS record FROM ${approvals} WHERE project = $1
        AND ($2::text IS NULL OR ($2 = 'waiting') = (state = 'waiting'))
        AND ($3::text IS NULL OR seq < (SELECT seq FROM ${approvals} WHERE id = $3)) ORDER BY seq DESC LIMIT $4`;
      return read(await query(sql, [projectId, state, before, limit]));
    },
    async endJob(jobId, end) {
      // Most jobs have none: a look costs no transaction.
      const sql = `SELECT 1 FROM ${approvals} WHERE job = $1 AND state = 'waiting' LIMIT 1`;
      return (await query(sql, [jobId])).length > 0 ? await endAll("job = $1", [jobId], end) : [];
    },
    endLost: (projectId, before, end) =>
      endAll("project = $1 AND job IS NULL AND expires <= $2", [projectId, before], end),
    async keep(answer) {
      const { id, projectId, sessionId } = answer;
      const sql = `INSERT INTO ${answers} (id, project, session, address, record) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (address) DO UPDATE SET seq = DEFAULT, id = excluded.id, record = excluded.record`;
      await query(sql, [id, projectId, sessionId, addressOf(answer), JSON.stringify(answer)]);
    },
    standing: async (projectId) =>
      read<StandingAnswer>(await query(`SELECT record FROM ${answers} WHERE project = $1 ORDER BY seq`, [projectId])),
    revoke: async (id) => (await query(`DELETE FROM ${answers} WHERE id = $1 RETURNING id`, [id])).length === 1,
    async endSession(projectId, sessionId) {
      await query(`DELETE FROM ${answers} WHERE project = $1 AND session = $2`, [projectId, sessionId]);
    },
    forget: async (before) => (await query(`DELETE FROM ${approvals} WHERE ended < $1 RETURNING id`, [before])).length,
  };
}

/** Makes the tables where they are missing. Records and times are text, as in `kaged_job`: ISO 8601 sorts. */
export async function makeApprovalTables({ query }: Transaction, schema: string): Promise<void> {
  const table = `"${schema}".kaged_approval`;
  await query(`CREATE TABLE IF NOT EXISTS ${table} (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    project text NOT NULL,
    job text,
    call text,
    state text NOT NULL,
    expires text NOT NULL,
    ended text,
    record text NOT NULL,
    listed text
  )`);
  await query(`CREATE INDEX IF NOT EXISTS kaged_approval_project ON ${table} (project, seq)`);
  await query(`CREATE INDEX IF NOT EXISTS kaged_approval_call ON ${table} (call) WHERE call IS NOT NULL`);
  await query(`CREATE INDEX IF NOT EXISTS kaged_approval_job ON ${table} (job) WHERE state = 'waiting'`);
  await query(`CREATE INDEX IF NOT EXISTS kaged_approval_ended ON ${table} (ended) WHERE ended IS NOT NULL`);
  await query(`CREATE TABLE IF NOT EXISTS "${schema}".kaged_answer (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL UNIQUE,
    project text NOT NULL,
    session text,
    address text NOT NULL UNIQUE,
    record text NOT NULL
  )`);
}

function read<T>(rows: Record<string, unknown>[]): T[] {
  return rows.map(({ record }) => JSON.parse(record as string));
}
