/**
 * Connections to a Postgres database: the one place that loads the library `pg`.
 *
 * @module
 */
import { HostError, messageOf } from "../core/errors/host_error.ts";

/** Address and limits of the database. */
export interface PostgresOptions {
  /** Address, such as `postgres://user:password@host:5432/database`. */
  readonly connectionString: string;
  /** Schema for the tables, made when missing: one for each set of jobs. Default `kaged_jobs`. */
  readonly schema?: string;
  /** Most connections of this process. Default 10. */
  readonly maxConnections?: number;
  /** Called for errors in the background, such as a lost connection that is made again. */
  readonly onProblem?: (error: unknown) => void;
}

/** Runs one statement and returns its rows. */
type Query = (sql: string, values?: readonly unknown[]) => Promise<Record<string, unknown>[]>;

/** Statements that happen whole or not at all. */
export interface Transaction {
  readonly query: Query;
}

/** An open database. */
export interface PostgresPool {
  /** Runs one statement. Throws `jobs.store_unavailable`. */
  readonly query: Query;
  /** Runs `work` in a transaction; an error rolls it back. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** State of the error with which a statement of ours refuses a host that is too old: see `postgres_layout.ts`. */
export const TOO_OLD = "KGD01";

/** Connects. Throws `jobs.library_missing`, `jobs.store_unavailable`, or `jobs.id_invalid` for the name of the schema. */
export async function openPostgres(options: PostgresOptions): Promise<PostgresPool> {
  const { connectionString, schema = "kaged_jobs", maxConnections: max = 10, onProblem = () => {} } = options;
  if (!/^[A-Za-z_]\w{0,49}$/.test(schema)) {
    throw new HostError("jobs.id_invalid", `A schema cannot be ${JSON.stringify(schema).slice(0, 80)}`, {
      data: { value: schema },
      hint: "Use letters, digits and _, starting with a letter, 50 at most",
    });
  }
  const { Pool } = await library();
  const pool = new Pool({ connectionString, max });
  pool.on("error", onProblem);
  const queryOn = (on: Pick<typeof pool, "query">): Query => async (sql, values) => {
    return (await reached(() => on.query(sql, values && [...values]))).rows;
  };
  return {
    query: queryOn(pool),
    async transaction(work) {
      const client = await reached(() => pool.connect());
      let broken: Error | undefined;
      try {
        await reached(() => client.query("BEGIN"));
        const result = await work({ query: queryOn(client) });
        await reached(() => client.query("COMMIT"));
        return result;
      } catch (error) {
        await client.query("ROLLBACK").catch((cause: Error) => broken = cause);
        throw error;
      } finally {
        client.release(broken); // A connection that cannot even roll back is not used again.
      }
    },
    close: () => pool.end(),
  };
}

async function library(): Promise<Pick<typeof import("pg"), "Pool">> {
  try {
    return (await import("pg")).default;
  } catch (cause) {
    throw new HostError("jobs.library_missing", 'Jobs in Postgres need the package "pg"', {
      hint: "Install it beside this package: npm install pg",
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
  if ((error as { code?: unknown }).code === TOO_OLD) return layoutNewer(messageOf(error));
  return new HostError("jobs.store_unavailable", `The jobs database cannot be used: ${messageOf(error)}`, {
    hint: "Check that it runs, its address, and what the user may do",
    cause: error,
  });
}

/** The error of a host that is too old for the tables. */
export function layoutNewer(message: string): HostError {
  return new HostError("jobs.layout_newer", message, {
    hint: "Update @kaged/plugin-host here to the version of the other hosts of this database; its jobs wait until then",
  });
}
