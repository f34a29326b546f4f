/**
 * Claims in Postgres: one call of a function in the database, whatever the number of jobs that are taken by it.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";
import { openTurns } from "./fair_turns.ts";
import { begun } from "./job_changes.ts";
import { type PostgresPool, TOO_OLD } from "./postgres_pool.ts";
import type { ClaimRequest, Job, JobClaim, JobQueue } from "./types.ts";

/** The lane of a row, letter for letter as in the index. */
const LANE = `('@' || coalesce(scope, '')) COLLATE "C"`;

/**
 * Index and function of the claim, for layout 2 and those after it that hosts of layout 2 can live with.
 *
 * The function goes from lane to lane. The lane of a scope with a bound is locked until the end of the transaction, and its
 * running jobs are counted after that, in a snapshot of their own: no other process begins one meanwhile. A lane that
 * another process has locked is passed over, because two that wait for each other's lanes would wait for ever; when
 * nothing else was found, the caller asks again and waits for that lane before it holds any.
 *
 * The settings keep the planner to the indexes, also while the statistics know nothing of a queue that grows fast.
 */
export function claimSetup(schema: string): readonly string[] {
  const jobs = `"${schema}".kaged_job`;
  return [
    `CREATE INDEX IF NOT EXISTS kaged_job_lane ON ${jobs} (agent, (${LANE}), seq) WHERE status = 'queued'`,
    `CREATE INDEX IF NOT EXISTS kaged_job_running ON ${jobs} (scope) WHERE status = 'running'`,
    `CREATE OR REPLACE FUNCTION "${schema}".kaged_claim_2(
      agents text[], by_worker text, lease_ms bigint, said text, max_each integer, limits jsonb,
      INOUT last text, INOUT turns_left integer, wanted integer, awaited text,
      OUT job text, OUT attempts integer, OUT is_busy boolean
    ) RETURNS SETOF record LANGUAGE plpgsql VOLATILE
      SET enable_seqscan = off SET enable_bitmapscan = off SET enable_sort = off SET jit = off
      SET plan_cache_mode = force_generic_plan AS $claim$
    DECLARE
      here text := last;
      turns integer := turns_left;
      keep integer;
      lane_now text;
      scope_now text;
      bound integer;
      busy text;
      got integer := 0;
      was_wrapped boolean := false;
      was_served boolean := false;
    BEGIN
      IF (SELECT needs FROM "${schema}".kaged_layout) > 2 THEN
        RAISE EXCEPTION 'The jobs in the schema "${schema}" need a newer version of @kaged/plugin-host'
          USING ERRCODE = '${TOO_OLD}';
      END IF;
      IF awaited IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(hashtextextended('${schema}.' || awaited, 0));
      END IF;
      WHILE got < wanted LOOP
        IF turns > 0 THEN
          lane_now := here;
          keep := turns - 1;
        ELSE
          ${nextLane(jobs)}
          IF lane_now IS NULL THEN
            EXIT WHEN was_wrapped AND NOT was_served;
            was_wrapped := true;
            was_served := false;
            here := '';
            CONTINUE;
          END IF;
          here := lane_now;
          keep := coalesce((limits -> substr(lane_now, 2) ->> 'weight')::integer, 1) - 1;
        END IF;
        turns := 0;
        scope_now := nullif(substr(lane_now, 2), '');
        bound := CASE WHEN scope_now IS NOT NULL THEN
          coalesce((limits -> scope_now ->> 'max')::integer, max_each) END;
        IF bound IS NOT NULL THEN
          CONTINUE WHEN bound <= (SELECT count(*) FROM ${jobs} AS r WHERE r.status = 'running' AND r.scope = scope_now);
          IF NOT pg_try_advisory_xact_lock(hashtextextended('${schema}.' || lane_now, 0)) THEN
            busy := lane_now;
            CONTINUE;
          END IF;
          CONTINUE WHEN bound <= (SELECT count(*) FROM ${jobs} AS r WHERE r.status = 'running' AND r.scope = scope_now);
        END IF;
        ${takeOldest(jobs)}
        CONTINUE WHEN NOT FOUND;
        got := got + 1;
        was_served := true;
        turns := keep;
        last := here;
        turns_left := turns;
        is_busy := false;
        RETURN NEXT;
      END LOOP;
      IF got = 0 AND busy IS NOT NULL THEN
        last := busy;
        is_busy := true;
        RETURN NEXT;
      END IF;
    END $claim$`,
  ];
}

/** The first lane behind `here` in which a job of the agents waits. */
function nextLane(jobs: string): string {
  return `SELECT min(found.lane) INTO lane_now FROM unnest(agents) AS asked, LATERAL (
            SELECT ${LANE} AS lane FROM ${jobs} AS waiting
            WHERE waiting.status = 'queued' AND waiting.agent = asked AND ${LANE} > here
            ORDER BY ${LANE} LIMIT 1) AS found;`;
}

/** Takes the oldest job of `lane_now` that may begin; one that another process has just locked is passed over. */
function takeOldest(jobs: string): string {
  return `UPDATE ${jobs} AS taken SET status = 'running', step = said, attempts = taken.attempts + 1, worker = by_worker,
          begun = now(), waiting = NULL, lease_until = now() + lease_ms * interval '1 ms', not_before = NULL,
          entry_id = gen_random_uuid()
          WHERE taken.seq = (SELECT min(found.seq) FROM unnest(agents) AS asked, LATERAL (
            SELECT waiting.seq FROM ${jobs} AS waiting
            WHERE waiting.status = 'queued' AND waiting.agent = asked AND ${LANE} = lane_now
              AND (waiting.not_before IS NULL OR waiting.not_before <= now())
            ORDER BY waiting.agent, ${LANE}, waiting.seq LIMIT 1 FOR UPDATE SKIP LOCKED) AS found)
          RETURNING taken.job, taken.attempts INTO job, attempts;`;
}

/** Greatest `integer` of Postgres, for a bound that JSON cannot write. */
const MOST = 2 ** 31 - 1;

/** A claim that waits for the next call of the function. */
interface Waiter {
  resolve(claim: JobClaim | null): void;
  reject(error: unknown): void;
}

/** Returns the claim of a process. Claims of one moment are one call: the free places of a worker ask at once. */
export function claimsIn({ query }: PostgresPool, schema: string, clock: Pick<Clock, "now">): JobQueue["claim"] {
  const turns = openTurns();
  const groups = new Map<string, Waiter[]>();

  async function take({ worker, agents, leaseMs, scopes }: ClaimRequest, wanted: number): Promise<JobClaim[]> {
    const { status, startedAt } = begun({} as Job, clock);
    const most = scopes && Number.isFinite(scopes.maxPerScope) ? scopes.maxPerScope : null;
    const limits = JSON.stringify(scopes?.limits ?? {}, (_, value) => value === Infinity ? MOST : value);
    const claims: JobClaim[] = [];
    for (let awaited: string | null = null;;) {
      const { last, left } = turns;
      const values = [
        agents,
        worker,
        leaseMs,
        JSON.stringify({ startedAt }),
        most,
        limits,
        last,
        left,
        wanted,
        awaited,
      ];
      const rows = await query(CALL(schema), values);
      const [first] = rows;
      if (first?.["is_busy"]) {
        awaited = first["last"] as string;
        continue;
      }
      for (const { job, attempts, last, turns_left } of rows) {
        turns.moveTo({ last: last as string, left: turns_left as number });
        const record: Job = { ...JSON.parse(job as string), startedAt, status };
        claims.push({ job: record, attempt: attempts as number, worker });
      }
      return claims;
    }
  }

  async function takeSoon(key: string, request: ClaimRequest, waiters: Waiter[]): Promise<void> {
    await null;
    groups.delete(key);
    try {
      const claims = await take(request, waiters.length);
      waiters.forEach(({ resolve }, at) => resolve(claims[at] ?? null));
    } catch (error) {
      for (const { reject } of waiters) reject(error);
    }
  }

  return (request) =>
    new Promise((resolve, reject) => {
      if (request.agents.length === 0) return resolve(null);
      const key = JSON.stringify([request.worker, request.leaseMs, request.agents, request.scopes]);
      const waiters = groups.get(key);
      if (waiters) return void waiters.push({ resolve, reject });
      const group = [{ resolve, reject }];
      groups.set(key, group);
      void takeSoon(key, request, group);
    });
}

const CALL = (schema: string): string =>
  `SELECT job, attempts, is_busy, last, turns_left
    FROM "${schema}".kaged_claim_2($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;
