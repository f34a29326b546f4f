/**
 * A pg-boss instance and its database, started: the one place that loads the library.
 *
 * @module
 */
import type { Db, PgBoss } from "pg-boss";
import { HostError, messageOf } from "../core/errors/host_error.ts";
import { permits } from "../core/values/permits.ts";

/** Address and limits of the database. */
export interface PostgresOptions {
  /** Address, such as `postgres://user:password@host:5432/database`. */
  readonly connectionString: string;
  /** Schema for the tables, made when missing: one for each set of jobs. Default `kaged_jobs`. */
  readonly schema?: string;
  /** Most connections of this process, at least 2. Default 10. */
  readonly maxConnections?: number;
  /** Called for errors in the background, such as a lost connection that is made again. */
  readonly onProblem?: (error: unknown) => void;
}

/** Runs one statement and returns its rows. */
type Query = (sql: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

/** Statements and calls of pg-boss that happen whole or not at all. */
export interface Transaction {
  /** Runs one statement in it. */
  readonly query: Query;
  /** Options for a call of pg-boss that takes part in the transaction. */
  readonly within: { readonly db: Db };
}

/** An open database with its queues. */
export interface PostgresPool {
  readonly boss: PgBoss;
  /** Runs one statement. Throws `jobs.store_unavailable`. */
  readonly query: Query;
  /** Runs `work` in a transaction; an error rolls it back. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Makes the queue of an agent, when this process has not seen it yet. */
  queueOf(agentName: string): Promise<string>;
  close(): Promise<void>;
}

// A waiting entry must never expire, and the number of attempts is decided by `recover()`. A run may not outlive
// pg-boss's longest expiration: `postgres_jobs.ts` ends it before. Ended entries are not needed, as our own table holds
// the record.
const QUEUE = {
  retentionSeconds: 10 * 365 * 86_400,
  retryLimit: 1_000_000,
  expireInSeconds: 86_400,
  deleteAfterSeconds: 3_600,
} as const;

/** Connects and makes what is missing. Throws `jobs.library_missing` or `jobs.store_unavailable`. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresPool> {
  const { connectionString, schema = "kaged_jobs", maxConnections = 10, onProblem = () => {} } = options;
  const boss = new (await pgBoss())({ connectionString, schema, max: maxConnections, schedule: false });
  boss.on("error", onProblem);
  await reached(() => boss.start());
  const db = boss.getDb();
  const made = new Map<string, Promise<void>>();
  // Within a transaction pg-boss may look something up over a second connection: one is always left for that, or
  // transactions that hold all of them would wait for each other.
  const inTurn = permits(Math.max(1, maxConnections - 1));

  const queryOn = (on: Db): Query => async (sql, values) => {
    return (await reached(() => on.executeSql(sql, values && [...values]))).rows;
  };
  return {
    boss,
    query: queryOn(db),
    transaction: (work) =>
      inTurn(async () => {
        const transaction = await reached(() => db.beginTransaction!());
        try {
          const result = await work({ query: queryOn(transaction.db), within: { db: transaction.db } });
          await transaction.commit();
          return result;
        } catch (error) {
          await transaction.rollback();
          throw asUnavailable(error);
        }
      }),
    async queueOf(agentName) {
      let making = made.get(agentName);
      if (!making) made.set(agentName, making = reached(() => boss.createQueue(agentName, QUEUE)));
      try {
        await making;
      } catch (error) {
        made.delete(agentName);
        throw error;
      }
      return agentName;
    },
    close: () => boss.stop({ graceful: false, close: true }),
  };
}

async function pgBoss(): Promise<typeof PgBoss> {
  try {
    return (await import("pg-boss")).PgBoss;
  } catch (cause) {
    throw new HostError("jobs.library_missing", 'Jobs in Postgres need the package "pg-boss"', {
      hint: "Install it beside this package: npm install pg-boss",
      cause,
    });
  }
}

async function reached<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw asUnavailable(error);
  }
}

function asUnavailable(error: unknown): HostError {
  if (error instanceof HostError) return error;
  return new HostError("jobs.store_unavailable", `The jobs database cannot be used: ${messageOf(error)}`, {
    hint: "Check that it runs, its address, and what the user may do",
    cause: error,
  });
}
