/**
 * The job whose turn it is, found in SQLite. Runs within the transaction that takes the job, so that the bound of a scope
 * holds among all processes.
 *
 * @module
 */
import type { Database, SqlValue } from "../core/ports/ports.ts";
import { boundOf, laneOf } from "./fair_turns.ts";
import type { TurnPlace } from "./job_table.ts";

/** The lane of a row, letter for letter as in the index: SQLite compares the text of expressions. */
const LANE = "('@' || coalesce(scope, ''))";

/** Indexes of the claim. Each is used from its first row on, so that a claim takes as long in a queue of any length. */
export const CLAIM_SETUP: readonly string[] = [
  `CREATE INDEX IF NOT EXISTS jobs_lane ON jobs (agent, ${LANE}, seq) WHERE status = 'queued'`,
  "CREATE INDEX IF NOT EXISTS jobs_running ON jobs (scope) WHERE status = 'running'",
];

const SQL = {
  next: `SELECT min(lane) FROM (SELECT (SELECT ${LANE} FROM jobs INDEXED BY jobs_lane
    WHERE status = 'queued' AND agent = asked.value AND ${LANE} > ?2 ORDER BY ${LANE} LIMIT 1) AS lane
    FROM json_each(?1) AS asked)`,
  first: `SELECT $row FROM jobs WHERE seq = (SELECT min(found) FROM (SELECT (SELECT seq FROM jobs INDEXED BY jobs_lane
    WHERE status = 'queued' AND agent = asked.value AND ${LANE} = ?2 AND not_before <= ?3 ORDER BY seq LIMIT 1) AS found
    FROM json_each(?1) AS asked))`,
  running: "SELECT count(*) FROM jobs WHERE status = 'running' AND scope = ?",
} as const;

/** Returns the search for the row whose turn it is; `columns` are those of a whole row. */
export function sqliteTurns(database: Database, columns: string): (place: TurnPlace) => SqlValue[] | undefined {
  const prepare = (sql: string) => database.prepare(sql.replace("$row", columns));
  const [next, first, running] = [prepare(SQL.next), prepare(SQL.first), prepare(SQL.running)];

  return ({ agents, nowMs, turns, scopes }) => {
    const asked = JSON.stringify(agents);
    const isFull = (lane: string): boolean => {
      const bound = boundOf(lane, scopes);
      return Number.isFinite(bound) && Number(running.allNumbers([lane.slice(laneOf().length)])[0]![0]) >= bound;
    };
    for (const lane of turns.order((after) => next.allNumbers([asked, after])[0]![0] as string | null)) {
      const row = isFull(lane) ? undefined : first.allNumbers([asked, lane, nowMs])[0];
      if (!row) continue;
      turns.served(lane, scopes);
      return row;
    }
    return undefined;
  };
}
