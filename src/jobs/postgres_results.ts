/**
 * Results and pages of jobs in Postgres. Results lie in a table of their own, a row for each piece, and go with the row
 * of their job, whichever version of this package deletes that.
 *
 * @module
 */
import { checkScope } from "./job_names.ts";
import { pageWithin, seqOf } from "./job_pages.ts";
import type { PostgresPool, Transaction } from "./postgres_pool.ts";
import { piecesFrom, piecesOf, withoutResult } from "./results_aside.ts";
import type { Job, JobBackend } from "./types.ts";

/** Makes the table where it is missing. */
export async function makeResultTable({ query }: Transaction, schema: string): Promise<void> {
  await query(`CREATE TABLE IF NOT EXISTS "${schema}".kaged_result (
    id text NOT NULL REFERENCES "${schema}".kaged_job (id) ON DELETE CASCADE,
    part integer NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (id, part)
  )`);
}

/** Writes a result in place of an earlier one; null only removes that. */
export async function keepResult(
  { query }: Transaction,
  schema: string,
  { id, result }: { readonly id: string; readonly result: string | null },
): Promise<void> {
  await query(`DELETE FROM "${schema}".kaged_result WHERE id = $1`, [id]);
  let part = 0;
  for (const piece of piecesOf(result ?? "")) {
    await query(`INSERT INTO "${schema}".kaged_result (id, part, data) VALUES ($1, $2, $3)`, [id, part++, piece]);
  }
}

/** Reads pages and results; `jobOf` reads the record in a row of `columns`. */
export function postgresResults(
  { query }: Pick<PostgresPool, "query">,
  schema: string,
  { columns, jobOf }: { readonly columns: string; jobOf(row: Record<string, unknown>): Job },
): Required<Pick<JobBackend["store"], "page" | "result">> {
  const jobs = `"${schema}".kaged_job`;
  return {
    async page({ scopeId, status = null, agentName = null, limit, maxBytes, after }) {
      checkScope(scopeId ?? undefined);
      const values = [status, agentName, after === undefined ? null : seqOf(after), limit + 1, maxBytes];
      const scope = scopeId === undefined ? "" : "scope IS NOT DISTINCT FROM $6 AND";
      // The length of a long value stands beside it: Postgres reads no record beyond the page.
      const sql = `WITH sized AS (
          SELECT seq, octet_length(job) + octet_length(step) AS size FROM ${jobs}
          WHERE ${scope} ($1::text IS NULL OR status = $1) AND ($2::text IS NULL OR agent = $2)
            AND ($3::bigint IS NULL OR seq < $3) ORDER BY seq DESC LIMIT $4),
        summed AS (SELECT seq, sum(size) OVER (ORDER BY seq DESC) - size AS before, count(*) OVER () AS total FROM sized)
        SELECT seq, total, ${columns} FROM summed JOIN ${jobs} USING (seq) WHERE before < $5 ORDER BY seq DESC`;
      const rows = await query(sql, scopeId === undefined ? values : [...values, scopeId]);
      const found = rows.map((row) => {
        return { place: `${row["seq"]}`, count: Number(row["total"]), job: withoutResult(jobOf(row)) };
      });
      return pageWithin(found, limit);
    },
    result: (id) =>
      piecesFrom(async (part) => {
        const sql = `SELECT data FROM "${schema}".kaged_result WHERE id = $1 AND part = $2`;
        const [row] = await query(sql, [id, part]);
        return row ? row["data"] as Uint8Array : null;
      }),
  };
}
