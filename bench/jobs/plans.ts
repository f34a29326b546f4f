/**
 * Plans of the claim in Postgres, and the size of its tables while a long queue is worked off, printed on stderr.
 *
 * @module
 */
import type pg from "pg";

const LANE = `('@' || coalesce(scope, '')) COLLATE "C"`;
const BATCH = 100;

/** Explains the statements of a claim, then works off a tenth of the queue without a vacuum, and with one. */
export async function printPlans(client: pg.Client, schema: string): Promise<void> {
  const jobs = `${schema}.kaged_job`;
  const lines = async (sql: string): Promise<string> =>
    (await client.query(sql)).rows.map((row) => row["QUERY PLAN"]).join("\n");
  const waiting = `FROM ${jobs} WHERE status = 'queued' AND agent = 'primary'`;
  const plans = {
    "the next lane": `SELECT ${LANE} ${waiting} AND ${LANE} > '@' ORDER BY ${LANE} LIMIT 1`,
    "the oldest of a lane":
      `SELECT seq ${waiting} AND ${LANE} = '@noisy' AND (not_before IS NULL OR not_before <= now())
      ORDER BY agent, ${LANE}, seq LIMIT 1 FOR UPDATE SKIP LOCKED`,
    "the running jobs of a scope": `SELECT count(*) FROM ${jobs} WHERE status = 'running' AND scope = 'noisy'`,
  };
  const show = async (): Promise<void> => {
    for (const [name, sql] of Object.entries(plans)) {
      console.error(`-- ${name}\n${await lines(`EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) ${sql}`)}`);
    }
  };
  const sizes = async (when: string): Promise<void> => {
    const [row] = (await client.query(
      `SELECT pg_size_pretty(pg_table_size($1)) AS rows, pg_size_pretty(pg_indexes_size($1)) AS indexes,
        pg_size_pretty(pg_relation_size($2)) AS lanes, (SELECT count(*) FROM ${jobs} WHERE status = 'queued') AS queued`,
      [jobs, `${schema}.kaged_job_lane`],
    )).rows;
    console.error(`${when}:`, JSON.stringify(row));
  };
  const drain = async (count: number): Promise<void> => {
    const times: number[] = [];
    for (let at = 0; at < count; at += BATCH) {
      const started = performance.now();
      await client.query(
        `SELECT count(*) FROM ${schema}.kaged_claim_2('{primary}', 'w1', 600000, '{}', NULL, '{}', '', 0, ${BATCH}, NULL)`,
      );
      times.push((performance.now() - started) / BATCH);
      await client.query(`UPDATE ${jobs} SET status = 'completed', ended = now(), worker = NULL, lease_until = NULL
        WHERE status = 'running'`);
    }
    const part = Math.max(1, Math.floor(times.length / 10));
    const mean = (some: number[]): string => (some.reduce((sum, each) => sum + each, 0) / some.length).toFixed(3);
    console.error(
      `${count} claims: the first tenth ${mean(times.slice(0, part))} ms each, the last ${mean(times.slice(-part))}`,
    );
  };
  await client.query("SET enable_seqscan = off");
  await sizes("queued");
  await show();
  const { rows: [{ n }] } = await client.query(`SELECT count(*)::int AS n FROM ${jobs} WHERE status = 'queued'`);
  await drain(Math.min(50_000, Math.floor(n / 2)));
  await sizes("worked off in part, no vacuum");
  await show();
  await client.query(`VACUUM ${jobs}`);
  await sizes("after a vacuum");
  await drain(Math.min(20_000, Math.floor(n / 4)));
  await sizes("worked off further");
  await client.query(
    `SELECT count(*) FROM ${schema}.kaged_claim_2('{primary}', 'w1', 600000, '{}', NULL, '{}', '', 0, ${BATCH}, NULL)`,
  );
  const updates = async (when: string): Promise<void> => {
    await client.query("SELECT pg_stat_force_next_flush()");
    const { rows: [row] } = await client.query(
      "SELECT n_tup_upd AS updates, n_tup_hot_upd AS hot FROM pg_stat_user_tables WHERE relid = $1::regclass",
      [jobs],
    );
    console.error(`${when}:`, JSON.stringify(row));
  };
  await updates("updates by claims and ends");
  for (let beat = 0; beat < 100; beat++) {
    await client.query(`UPDATE ${jobs} SET lease_until = now() WHERE status = 'running' AND lease_until IS NOT NULL`);
  }
  await updates(`and by 100 heartbeats of ${BATCH} jobs`);
  await sizes("after the heartbeats");
}
