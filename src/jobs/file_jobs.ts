/**
 * Jobs as files, one JSON record each: `{dataDir}/jobs/{id}.json`, those of a scope in `{dataDir}/jobs/@{scope}/`.
 * Several processes of one machine may share the folder.
 *
 * @module
 */
import { clock as systemClock } from "../adapters/shared/clock.ts";
import { databases as systemDatabases } from "../adapters/shared/databases.ts";
import { files as systemFiles } from "../adapters/shared/files.ts";
import { ids as systemIds } from "../adapters/shared/ids.ts";
import { HostError } from "../core/errors/host_error.ts";
import { type FileLock, openFileLock } from "../core/files/file_lock.ts";
import type { Clock, DatabaseOpener, Files, Ids } from "../core/ports/ports.ts";
import { firstInTurn, type MarkerFiles, markerName } from "./file_claim.ts";
import { byCreation, filePage, type FileResults, fileResults } from "./file_results.ts";
import { forgettable, type JobRow, jobsOver, type JobTable, pageOf, type RowPlace, type RowStep } from "./job_table.ts";
import { openSqliteApprovals } from "./sqlite_jobs.ts";
import type { Job, JobBackend } from "./types.ts";

/** The place of jobs in files; the ports are the system's unless a test hands in its own. */
export interface FileJobsOptions {
  /** Absolute path of the folder that holds, or gets, the folder `jobs`. */
  readonly dataDir: string;
  /** Reads and writes the records. Default: the system's files. */
  readonly files?: Files;
  /** Opens the lock of the folder, a file of SQLite's. Default: the runtime's SQLite. */
  readonly databases?: DatabaseOpener;
  /** Time of records and leases. Default: the system's. */
  readonly clock?: Clock;
  /** Makes ids of jobs. Default: ids that no other process makes. */
  readonly ids?: Ids;
}

/** Opens jobs in a folder, which is made when it is missing. */
export async function fileJobs(options: FileJobsOptions): Promise<JobBackend> {
  const { dataDir, files = systemFiles, databases = systemDatabases, clock = systemClock, ids = systemIds } = options;
  const folder = new JobFolder(`${dataDir}/jobs`, files);
  await folder.open();
  const path = `${folder.dir}/.lock`;
  const busy = (): HostError =>
    new HostError("jobs.folder_busy", `"${path}" has been held for ${WAIT_MS / 1000} s`, {
      data: { path },
      hint: "End the process that holds it",
    });
  const lock = openFileLock(path, { files, databases, clock }, { waitMs: WAIT_MS, busy });
  const { approvals, close } = openSqliteApprovals(`${folder.dir}/.approvals.db`, databases);
  const table = fileTable(folder, lock);
  const closeAll = (): Promise<unknown> => Promise.all([table.close(), close()]);
  return { ...jobsOver({ ...table, close: async () => void await closeAll() }, { clock, ids }), approvals };
}

/** Work under the lock takes milliseconds. */
const WAIT_MS = 30_000;

/** A row, and its marker in the queue where it was found by that. */
interface Found {
  readonly row: JobRow;
  readonly marker?: string;
}

function fileTable(folder: JobFolder, { hold: alone, close }: FileLock): JobTable {
  const changed = async (found: Found | null, step: RowStep): Promise<JobRow | null> => {
    const next = found && step(found.row);
    return next && await writeRow(folder, found, next);
  };

  return {
    insert: ({ job, attempts, notBeforeMs }) =>
      alone(async () => {
        if (job.status === "queued") await folder.enqueue(job, attempts, notBeforeMs);
        await folder.writeJob(await folder.results.keep(job));
      }),
    get: (id, scopeId) => folder.job(id, scopeId),
    list: async (scopeId, page) => pageOf(await folder.jobs(scopeId), page),
    page: (query) => filePage(folder, query),
    find: (id) => folder.anywhere(id),
    piece: (id, part) => folder.results.piece(id, part),
    change: (place, step) => alone(async () => await changed(await findRow(folder, place), step)),
    changeLost: (nowMs, step) =>
      alone(async () => {
        const rows: JobRow[] = [];
        for (const lease of (await folder.leases()).filter(({ untilMs }) => untilMs <= nowMs)) {
          const job = await folder.job(lease.id, lease.scopeId);
          if (job) rows.push(rowOf(job, lease));
          else await folder.remove(".leases", `${lease.id}.json`);
        }
        for (const row of rows.sort((a, b) => byCreation(a.job, b.job))) await changed({ row }, step);
      }),
    remove: (id, scopeId) =>
      alone(async () => {
        if (await folder.job(id, scopeId) === null) return false;
        await folder.removeJob(id, scopeId);
        await folder.remove(".leases", `${id}.json`);
        return true;
      }),
    takeTurn: (cronId, dueMs) =>
      alone(async () => {
        if ((await folder.read<number>(".turns", `${cronId}.json`) ?? -Infinity) >= dueMs) return false;
        await folder.write(".turns", `${cronId}.json`, dueMs);
        return true;
      }),
    async forget(request, nowMs) {
      // Reading every record takes long, so the folder is not locked: a finished job stays finished, and removing its
      // file is one step.
      const kept = await folder.results.ids(); // Before the records: each of these has had one.
      const all = await folder.everyJob();
      const old = forgettable(all, request, nowMs);
      for (const { id, scopeId } of old) await folder.removeJob(id, scopeId);
      const known = new Set(all.map(({ id }) => id));
      for (const id of kept) if (!known.has(id)) await folder.results.remove(id);
      return old.length;
    },
    close,
  };
}

async function findRow(folder: JobFolder, place: RowPlace): Promise<Found | null> {
  switch (place.by) {
    case "address":
      return await rowWithLease(folder, await folder.job(place.id, place.scopeId));
    case "id":
      return await rowWithLease(folder, await folder.anywhere(place.id));
    case "claim": {
      const { job: { id, scopeId }, worker, attempt } = place.claim;
      const held = await rowWithLease(folder, await folder.job(id, scopeId));
      return held?.row.lease?.worker === worker && held.row.attempts === attempt ? held : null;
    }
    case "turn":
      return await firstInTurn(folder, place, async (marker) => {
        const waiting = await folder.read<Waiting>(".queue", marker);
        if (!waiting || !place.agents.includes(waiting.agentName) || waiting.notBeforeMs > place.nowMs) return null;
        const { id, scopeId, attempts, notBeforeMs } = waiting;
        const job = await folder.job(id, scopeId);
        if (job?.status === "queued") return { row: { job, attempts, notBeforeMs, lease: null }, marker };
        await folder.remove(".queue", marker); // Its job was cancelled or deleted.
        return null;
      });
  }
}

async function rowWithLease(folder: JobFolder, job: Job | null): Promise<Found | null> {
  return job && { row: rowOf(job, await folder.read<Lease>(".leases", `${job.id}.json`)) };
}

/** The marker comes before the record and the lease goes after it: recover() finds whatever a killed process leaves. */
async function writeRow(folder: JobFolder, { row: before, marker }: Found, next: JobRow): Promise<JobRow> {
  const { attempts, notBeforeMs, lease } = next;
  const job = next.job === before.job ? next.job : await folder.results.keep(next.job);
  const { id, scopeId } = job;
  if (job.status === "queued" && before.job.status !== "queued") await folder.enqueue(job, attempts, notBeforeMs);
  if (lease) {
    const scope = scopeId === undefined ? {} : { scopeId };
    await folder.write(".leases", `${id}.json`, { id, ...scope, ...lease, attempt: attempts } satisfies Lease);
  }
  if (job !== before.job) await folder.writeJob(job);
  if (marker !== undefined) await folder.remove(".queue", marker);
  if (!lease && before.lease) await folder.remove(".leases", `${id}.json`);
  return { ...next, job };
}

function rowOf(job: Job, lease: Lease | null): JobRow {
  if (!lease) return { job, attempts: 0, notBeforeMs: 0, lease: null };
  const { worker, attempt, untilMs } = lease;
  return { job, attempts: attempt, notBeforeMs: 0, lease: { worker, untilMs } };
}

/** A marker in `.queue/`: the job waits. Files of that folder sort by the time their jobs were created. */
interface Waiting extends Pick<Job, "id" | "scopeId" | "agentName"> {
  readonly attempts: number;
  readonly notBeforeMs: number;
}

/** A file in `.leases/`: a worker runs the job. */
interface Lease extends Pick<Job, "id" | "scopeId"> {
  readonly worker: string;
  readonly attempt: number;
  readonly untilMs: number;
}

/** The folders beside the records; no id of a job starts with a dot. */
type Part = ".queue" | ".leases" | ".turns";

/** Reads and writes the files; each is replaced in one step. Whoever writes holds the folder's lock. */
class JobFolder implements MarkerFiles {
  readonly dir: string;
  readonly results: FileResults;
  readonly #files: Files;
  #markers = 0;

  /** Nothing is made before {@link open}. */
  constructor(dir: string, files: Files) {
    this.dir = dir;
    this.results = fileResults(`${dir}/.results`, files);
    this.#files = files;
  }

  /** Makes the folders that are missing. */
  async open(): Promise<void> {
    for (const part of ["", "/.queue", "/.leases", "/.turns", "/.results"]) {
      await this.#files.makeDir(`${this.dir}${part}`, { recursive: true, mode: 0o700 });
    }
  }

  /** Reads the record of a job, or null. */
  job(id: string, scopeId?: string): Promise<Job | null> {
    return this.#read<Job>(this.#scopeDir(scopeId), `${id}.json`);
  }

  /** Finds a record in any scope. */
  async anywhere(id: string): Promise<Job | null> {
    for (const scopeId of await this.scopes()) {
      const job = await this.job(id, scopeId);
      if (job) return job;
    }
    return null;
  }

  /** Reads every record of every scope. */
  async everyJob(): Promise<Job[]> {
    const all: Job[] = [];
    for (const scopeId of await this.scopes()) all.push(...await this.jobs(scopeId));
    return all;
  }

  /** Reads every record of a scope, the oldest first. */
  async jobs(scopeId?: string): Promise<Job[]> {
    const all: Job[] = [];
    for await (const job of this.each(scopeId)) all.push(job);
    return all.sort(byCreation);
  }

  /** Reads the records of a scope one by one, in no order. */
  each(scopeId?: string): AsyncIterable<Job> {
    return this.#each<Job>(this.#scopeDir(scopeId), (name) => /^[A-Za-z0-9].*\.json$/.test(name));
  }

  /** Writes a record, and the folder of its scope when that is missing. */
  async writeJob(job: Job): Promise<void> {
    const dir = this.#scopeDir(job.scopeId);
    if (job.scopeId !== undefined) await this.#files.makeDir(dir, { recursive: true, mode: 0o700 });
    await this.#write(dir, `${job.id}.json`, job);
  }

  /** Removes a record, then its result; missing ones are fine. */
  async removeJob(id: string, scopeId?: string): Promise<void> {
    await this.#files.remove(`${this.#scopeDir(scopeId)}/${id}.json`);
    await this.results.remove(id);
  }

  /** Puts a job into the queue, behind those created before it. */
  enqueue({ id, scopeId, agentName, createdAt }: Job, attempts: number, notBeforeMs: number): Promise<void> {
    const name = markerName(Date.parse(createdAt), this.#markers++, id, scopeId);
    const waiting: Waiting = { id, ...(scopeId !== undefined && { scopeId }), agentName, attempts, notBeforeMs };
    return this.write(".queue", name, waiting);
  }

  async markers(): Promise<string[]> {
    return (await this.#files.list(`${this.dir}/.queue`)).filter((name) => !isTemporary(name));
  }

  scopeIn(marker: string): Promise<Waiting | null> {
    return this.read<Waiting>(".queue", marker);
  }

  running(): Promise<Lease[]> {
    return this.leases();
  }

  /** Reads every lease, also those that have ended. */
  async leases(): Promise<Lease[]> {
    const all: Lease[] = [];
    for await (const lease of this.#each<Lease>(`${this.dir}/.leases`, (name) => !isTemporary(name))) all.push(lease);
    return all;
  }

  /** Reads a file beside the records, or null. */
  read<T>(part: Part, name: string): Promise<T | null> {
    return this.#read<T>(`${this.dir}/${part}`, name);
  }

  /** Writes a file beside the records. */
  write(part: Part, name: string, value: unknown): Promise<void> {
    return this.#write(`${this.dir}/${part}`, name, value);
  }

  /** Removes a file beside the records; a missing one is fine. */
  remove(part: Part, name: string): Promise<void> {
    return this.#files.remove(`${this.dir}/${part}/${name}`);
  }

  /** Every scope that has had a job, and undefined for the jobs without one. */
  async scopes(): Promise<(string | undefined)[]> {
    const names = await this.#files.list(this.dir);
    return [undefined, ...names.filter((name) => name.startsWith("@")).map((name) => name.slice(1))];
  }

  #scopeDir(scopeId?: string): string {
    return scopeId === undefined ? this.dir : `${this.dir}/@${scopeId}`; // No id of a job starts with @.
  }

  async *#each<T>(dir: string, isWanted: (name: string) => boolean): AsyncGenerator<T, void, void> {
    for (const name of (await orNull(this.#files.list(dir)) ?? []).filter(isWanted)) {
      const value = await this.#read<T>(dir, name);
      if (value !== null) yield value;
    }
  }

  async #read<T>(dir: string, name: string): Promise<T | null> {
    const text = await orNull(this.#files.readText(`${dir}/${name}`));
    if (text === null) return null;
    try {
      return JSON.parse(text) as T;
    } catch (cause) {
      throw new HostError("jobs.record_broken", `"${dir}/${name}" is not the JSON of a job`, {
        data: { path: `${dir}/${name}` },
        hint: "Repair the file, or remove it: the job is then gone",
        cause,
      });
    }
  }

  async #write(dir: string, name: string, value: unknown): Promise<void> {
    await this.#files.write(`${dir}/.${name}`, `${JSON.stringify(value)}\n`);
    await this.#files.rename(`${dir}/.${name}`, `${dir}/${name}`);
  }
}

/** Whether a process ended while it wrote this file. */
function isTemporary(name: string): boolean {
  return name.startsWith(".");
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return null;
    throw error;
  }
}
