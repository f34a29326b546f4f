/**
 * Tables in Postgres, and the rule by which hosts of two versions share them.
 *
 * A step only adds: tables, indexes, functions under a new name, columns with a default. `kaged_layout` has one row:
 * `layout` is the last step that was made, `needs` the layout that a host must know at least. A newer host makes its
 * steps, and hosts that know `needs` go on; only a change that they would trip over raises it. Such a host is refused
 * with `jobs.layout_newer`, when it opens the tables and at its next claim.
 *
 * @module
 */
import { makeApprovalTables } from "./postgres_approvals.ts";
import { claimSetup } from "./postgres_claim.ts";
import { makeResultTable } from "./postgres_results.ts";
import { layoutNewer, type PostgresPool, type Transaction } from "./postgres_pool.ts";

/** The newest layout that this version knows. */
const LAYOUT = 2;
/** Hosts of this layout and newer ones can use the tables as this version leaves them. */
const NEEDS = 1;

/** The statements that lead from the layout before to this one; a step that was published is never changed. */
const STEPS: readonly ((schema: string) => readonly string[])[] = [first, second];

/** Makes the steps that are missing. Throws `jobs.layout_newer`. */
export async function openLayout({ query, transaction }: PostgresPool, schema: string): Promise<void> {
  if (await layoutIn({ query }, schema) >= LAYOUT) return; // No lock, and no wait for those who use the tables.
  await transaction(async (tx) => {
    // One host makes them, and the others wait for it; those of layout 1 take the same lock.
    await tx.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${schema}.kaged_job`]);
    const from = await layoutIn(tx, schema);
    if (from >= LAYOUT) return;
    await tx.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
    for (const step of STEPS.slice(from)) for (const sql of step(schema)) await tx.query(sql);
    await makeResultTable(tx, schema);
    await makeApprovalTables(tx, schema);
    await tx.query(
      `INSERT INTO "${schema}".kaged_layout AS here (layout, needs) VALUES ($1, $2)
      ON CONFLICT (one) DO UPDATE SET layout = excluded.layout, needs = greatest(here.needs, excluded.needs)`,
      [LAYOUT, NEEDS],
    );
  });
}

/** Returns the last step that was made; 0 for none, or for those of a version that kept no count. */
async function layoutIn({ query }: Transaction, schema: string): Promise<number> {
  const [there] = await query("SELECT to_regclass($1) AS name", [`"${schema}".kaged_layout`]);
  if (there!["name"] === null) return 0;
  const [row] = await query(`SELECT layout, needs FROM "${schema}".kaged_layout`);
  const { layout = 0, needs = 0 } = (row ?? {}) as { layout?: number; needs?: number };
  if (needs <= LAYOUT) return layout;
  throw layoutNewer(
    `The jobs in the schema "${schema}" need layout ${needs}: this version knows layouts up to ${LAYOUT}`,
  );
}

/**
 * Records and leases. The record is text: JSON escapes the zero byte, which Postgres stores in no other way. The fields
 * that change in a job's life stand beside it in `step`, so that a change of them is one statement.
 */
function first(schema: string): readonly string[] {
  const jobs = `"${schema}".kaged_job`;
  return [
    `CREATE TABLE IF NOT EXISTS ${jobs} (
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
      step text NOT NULL DEFAULT '{}',
      waiting text
    )`,
    `ALTER TABLE ${jobs} ADD COLUMN IF NOT EXISTS waiting text`,
    `CREATE INDEX IF NOT EXISTS kaged_job_scope ON ${jobs} (scope, seq)`,
    `CREATE INDEX IF NOT EXISTS kaged_job_ended ON ${jobs} (ended) WHERE ended IS NOT NULL`,
    `CREATE TABLE IF NOT EXISTS "${schema}".kaged_turn (cron text PRIMARY KEY, due bigint NOT NULL)`,
  ];
}

/**
 * The queue: hosts of layout 1 have theirs in tables of pg-boss, and claim jobs by the same `status`. Leases have no index
 * here, and pages have room, so that a heartbeat rewrites one row in its page and no index. Vacuum comes after a number of
 * changes, not after a share of a table that may be large.
 */
function second(schema: string): readonly string[] {
  const jobs = `"${schema}".kaged_job`;
  return [
    `CREATE TABLE IF NOT EXISTS "${schema}".kaged_layout (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      layout integer NOT NULL,
      needs integer NOT NULL
    )`,
    `ALTER TABLE ${jobs} ADD COLUMN IF NOT EXISTS not_before timestamptz`,
    `ALTER TABLE ${jobs} SET (fillfactor = 80, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)`,
    ...claimSetup(schema),
  ];
}
