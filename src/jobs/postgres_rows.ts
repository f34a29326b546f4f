/**
 * The tables of jobs in Postgres, and their rows as records.
 *
 * @module
 */
import type { PostgresPool } from "./postgres_pool.ts";
import type { Job } from "./types.ts";

/** One row of the table of jobs. */
export interface Row {
  readonly job: Job;
  readonly attempts: number;
  /** The entry of pg-boss that its last run came from, and which fetch of it that was. */
  readonly entry: { readonly id: string; readonly retryCount: number };
}

/** When a job ended, for a statement whose second value is its status. */
export const ENDED = "CASE WHEN $2 IN ('completed', 'failed', 'cancelled') THEN now() END";

/** The columns that {@link rowOf} reads. */
export const COLUMNS = "job, step, status, attempts, entry_id, entry_retry";

/**
 * Makes the tables. The record is text: JSON escapes the zero byte, which Postgres stores in no other way. The fields that
 * change in a job's life stand beside it in `step`, so that a step is one statement.
 */
export async function makeTables({ transaction }: PostgresPool, schema: string): Promise<void> {
  await transaction(async ({ query }) => {
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
      step text NOT NULL DEFAULT '{}'
    )`);
    await query(`CREATE INDEX IF NOT EXISTS kaged_job_scope ON "${schema}".kaged_job (scope, seq)`);
    await query(`CREATE INDEX IF NOT EXISTS kaged_job_lease ON "${schema}".kaged_job (lease_until)
      WHERE lease_until IS NOT NULL`);
    await query(`CREATE INDEX IF NOT EXISTS kaged_job_ended ON "${schema}".kaged_job (ended)
      WHERE ended IS NOT NULL`);
    await query(`CREATE TABLE IF NOT EXISTS "${schema}".kaged_turn (cron text PRIMARY KEY, due bigint NOT NULL)`);
  });
}

/** Returns the first row as a record, or null. */
export function rowOf([row]: Record<string, unknown>[]): Row | null {
  if (!row) return null;
  const [base, step] = [JSON.parse(row["job"] as string), JSON.parse(row["step"] as string)];
  return {
    job: { ...base, ...step, status: row["status"] },
    attempts: row["attempts"] as number,
    entry: { id: row["entry_id"] as string, retryCount: row["entry_retry"] as number },
  };
}

/** Returns the fields that change in a job's life, as JSON. */
export function stepOf({ startedAt, completedAt, result, error, usage, toolsUsed }: Job): string {
  return JSON.stringify({ startedAt, completedAt, result, error, usage, toolsUsed });
}
