/**
 * Jobs in one SQLite file: the default of a host. Several processes of one machine may share it.
 *
 * @module
 */
import { HostError, messageOf } from "../core/errors/host_error.ts";
import type { Clock, Database, DatabaseOpener, Ids, SqlValue, Statement } from "../core/ports/ports.ts";
import { groupCommit } from "./group_commit.ts";
import { begun, cancelled, ended, kept, recovered, updated } from "./job_changes.ts";
import { checkAddress, checkScope } from "./job_names.ts";
import { type JobStatements, jobStatements } from "./sqlite_statements.ts";
import { isFinal, type Job, type JobBackend, type JobClaim, type JobQueue, type JobStore } from "./types.ts";

/** What jobs in SQLite stand on. */
export interface SqliteJobsOptions {
  /** The file, made when missing; `:memory:` keeps it in memory. */
  readonly path: string;
  /** Opens it. */
  readonly databases: DatabaseOpener;
  /** Time of records and leases. */
  readonly clock: Pick<Clock, "now">;
  /** Makes ids. */
  readonly ids: Ids;
}

interface Row {
  readonly job: Job;
  readonly attempts: number;
}

/** Opens jobs in a SQLite file. Throws `jobs.store_unavailable`, or `storage.unavailable` without SQLite. */
export function sqliteJobs({ path, databases, clock, ids }: SqliteJobsOptions): JobBackend {
  const { database, sql } = open(path, databases);
  const commit = groupCommit(database);
  const fail = (error: unknown): never => {
    throw asUnavailable(error, path);
  };
  const alone = <T>(work: () => T): Promise<T> => commit(work).catch(fail);
  const reading = <T>(work: () => T): Promise<T> => new Promise<T>((resolve) => resolve(work())).catch(fail);
  const one = (statement: Statement, params: readonly SqlValue[]): Row | null => {
    const [row] = statement.allNumbers(params);
    return row ? { job: JSON.parse(row[0] as string), attempts: row[1] as number } : null;
  };
  const byId = (id: string, scopeId?: string): Row | null => {
    checkAddress(id, scopeId);
    return one(sql.get, [id, scopeId ?? null]);
  };
  const held = ({ job, worker, attempt }: JobClaim): Row | null => one(sql.held, [job.id, worker, attempt]);
  const write = (job: Job, notBeforeMs = 0): Job => {
    sql.write.run([job.status, JSON.stringify(job), notBeforeMs, job.id]);
    return job;
  };

  const store: JobStore = {
    create: (fields) =>
      alone(() => {
        const job = kept(fields, ids, clock);
        sql.create.run([job.id, job.scopeId ?? null, job.agentName, job.status, JSON.stringify(job)]);
        return job;
      }),
    get: (id, scopeId) => reading(() => byId(id, scopeId)?.job ?? null),
    list: (scopeId, { status = null, agentName = null, before = null, limit = Infinity } = {}) =>
      reading(() => {
        checkScope(scopeId);
        const where = [scopeId ?? null, status, status, agentName, agentName, before, before];
        const rows = sql.list.allNumbers([...where, Number.isFinite(limit) ? limit : -1]);
        return rows.map(([job]) => JSON.parse(job as string));
      }),
    update: (id, updates) =>
      alone(() => {
        checkAddress(id);
        const found = one(sql.find, [id]);
        if (!found) throw new HostError("jobs.unknown", `There is no job "${id}"`, { data: { id } });
        const job = updated(found.job, updates);
        sql.update.run([job.agentName, job.status, JSON.stringify(job), id]);
        return job;
      }),
    delete: (id, scopeId) => alone(() => byId(id, scopeId) !== null && sql.remove.run([id]) === 1),
  };

  const queue: JobQueue = {
    claim: ({ worker, agents, leaseMs }) =>
      alone(() => {
        const nowMs = clock.now();
        const found = one(sql.waiting, [JSON.stringify(agents), nowMs]);
        if (!found) return null;
        const job = begun(found.job, clock);
        sql.claim.run([JSON.stringify(job), worker, nowMs + leaseMs, job.id]);
        return { job, attempt: found.attempts + 1, worker };
      }),
    heartbeat: ({ job, worker, attempt }, leaseMs) =>
      alone(() => sql.renew.run([clock.now() + leaseMs, job.id, worker, attempt]) === 1),
    release: (claim, outcome) =>
      alone(() => {
        const found = held(claim);
        const notBeforeMs = outcome.status === "queued" ? clock.now() + outcome.delayMs : 0;
        return found && write(ended(found.job, outcome, clock), notBeforeMs);
      }),
    cancel: (id, scopeId) =>
      alone(() => {
        const found = byId(id, scopeId);
        return found && !isFinal(found.job.status) ? write(cancelled(found.job, clock)) : null;
      }),
    recover: (policy) =>
      alone(() =>
        sql.lost.allNumbers([clock.now()]).map(([job, attempts]) =>
          write(recovered(JSON.parse(job as string), attempts as number, policy, clock))
        )
      ),
    takeTurn: (cronId, dueMs) => alone(() => sql.turn.run([cronId, dueMs]) === 1),
    forget: ({ maxAgeMs, maxFinished, batch }) =>
      alone(() => {
        const oldest = new Date(Math.max(0, clock.now() - maxAgeMs)).toISOString();
        const old = sql.old.run([oldest, batch]);
        if (old === batch || !Number.isFinite(maxFinished)) return old;
        return old + sql.surplus.run([batch - old, maxFinished]);
      }),
  };
  // What was asked for before is done first.
  return { store, queue, close: () => commit(() => {}).catch(() => {}).then(() => database.close()) };
}

function open(path: string, databases: DatabaseOpener): { database: Database; sql: JobStatements } {
  let database: Database | null = null;
  try {
    database = databases.open(path);
    return { database, sql: jobStatements(database) };
  } catch (error) {
    database?.close();
    throw asUnavailable(error, path);
  }
}

function asUnavailable(error: unknown, path: string): HostError {
  if (error instanceof HostError) return error;
  return new HostError("jobs.store_unavailable", `The jobs database "${path}" cannot be used: ${messageOf(error)}`, {
    data: { path },
    hint: "Check that its folder is there, that the disk has room, and that no other program holds the file",
    cause: error,
  });
}
