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
import { byCreation, JobFolder, type Lease } from "./job_folder.ts";
import { forgettable, type JobRow, jobsOver, type JobTable, pageOf, type RowPlace, type RowStep } from "./job_table.ts";
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
  return jobsOver(fileTable(folder, lock), { clock, ids });
}

/** Work under the lock takes milliseconds. */
const WAIT_MS = 30_000;

/** A row, and its marker in the queue where it was found by that. */
interface Found {
  readonly row: JobRow;
  readonly marker?: string;
}

function fileTable(folder: JobFolder, { hold: alone, close }: FileLock): JobTable {
  const found = async (job: Job | null): Promise<Found | null> => {
    return job && { row: rowOf(job, await folder.read<Lease>(".leases", `${job.id}.json`)) };
  };
  const find = async (place: RowPlace): Promise<Found | null> => {
    switch (place.by) {
      case "address":
        return await found(await folder.job(place.id, place.scopeId));
      case "id":
        return await found(await folder.anywhere(place.id));
      case "claim": {
        const { job: { id, scopeId }, worker, attempt } = place.claim;
        const held = await found(await folder.job(id, scopeId));
        return held?.row.lease?.worker === worker && held.row.attempts === attempt ? held : null;
      }
      case "turn":
        return await folder.firstWaiting(async ({ id, scopeId, agentName, attempts, notBeforeMs }, marker) => {
          if (!place.agents.includes(agentName) || notBeforeMs > place.nowMs) return null;
          const job = await folder.job(id, scopeId);
          if (job?.status === "queued") return { row: { job, attempts, notBeforeMs, lease: null }, marker };
          await folder.remove(".queue", marker); // Its job was cancelled or deleted.
          return null;
        });
    }
  };

  /** The marker comes before the record and the lease goes after it: recover() finds whatever a killed process leaves. */
  const write = async ({ row: before, marker }: Found, next: JobRow): Promise<JobRow> => {
    const { job, attempts, notBeforeMs, lease } = next;
    const { id, scopeId } = job;
    if (job.status === "queued" && before.job.status !== "queued") await folder.enqueue(job, attempts, notBeforeMs);
    if (lease) {
      const scope = scopeId === undefined ? {} : { scopeId };
      await folder.write(".leases", `${id}.json`, { id, ...scope, ...lease, attempt: attempts } satisfies Lease);
    }
    if (job !== before.job) await folder.writeJob(job);
    if (marker !== undefined) await folder.remove(".queue", marker);
    if (!lease && before.lease) await folder.remove(".leases", `${id}.json`);
    return next;
  };
  const changed = async (found: Found | null, step: RowStep): Promise<JobRow | null> => {
    const next = found && step(found.row);
    return next && await write(found, next);
  };

  return {
    insert: ({ job, attempts, notBeforeMs }) =>
      alone(async () => {
        if (job.status === "queued") await folder.enqueue(job, attempts, notBeforeMs);
        await folder.writeJob(job);
      }),
    get: (id, scopeId) => folder.job(id, scopeId),
    list: async (scopeId, page) => pageOf(await folder.jobs(scopeId), page),
    change: (place, step) => alone(async () => await changed(await find(place), step)),
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
      const old = forgettable(await folder.everyJob(), request, nowMs);
      for (const { id, scopeId } of old) await folder.removeJob(id, scopeId);
      return old.length;
    },
    close,
  };
}

function rowOf(job: Job, lease: Lease | null): JobRow {
  if (!lease) return { job, attempts: 0, notBeforeMs: 0, lease: null };
  const { worker, attempt, untilMs } = lease;
  return { job, attempts: attempt, notBeforeMs: 0, lease: { worker, untilMs } };
}
