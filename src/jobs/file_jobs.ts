/**
 * Jobs as files, one JSON record each: `{dataDir}/jobs/{id}.json`, those of a scope in `{dataDir}/jobs/@{scope}/`.
 * Several processes of one machine may share the folder.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Clock, Files, Ids } from "../core/ports/ports.ts";
import { folderLock } from "./folder_lock.ts";
import { begun, cancelled, ended, kept, recovered, updated } from "./job_changes.ts";
import { JobFolder, type Lease, type Marker } from "./job_folder.ts";
import { checkAddress, checkName, checkScope } from "./job_names.ts";
import { forgettable, pageOf } from "./job_page.ts";
import { isFinal, type Job, type JobBackend, type JobClaim, type JobQueue, type JobStore } from "./types.ts";

/** What jobs in files stand on. */
export interface FileJobsOptions {
  /** Folder that holds, or gets, the folder `jobs`. */
  readonly dataDir: string;
  /** The file system. */
  readonly files: Files;
  /** Time of records and leases. */
  readonly clock: Clock;
  /** Makes ids. */
  readonly ids: Ids;
}

/** Opens jobs in a folder. */
export async function fileJobs({ dataDir, files, clock, ids }: FileJobsOptions): Promise<JobBackend> {
  const folder = new JobFolder(`${dataDir}/jobs`, files);
  await folder.open();
  const alone = folderLock({ dir: folder.dir, files, clock, ids });

  // The marker comes before the record and the lease goes after it: whatever a killed process leaves is found again.
  const enqueue = async (job: Job, attempts: number, notBeforeMs = 0): Promise<Job> => {
    const { id, agentName, createdAt } = job;
    await folder.writeWaiting({ id, ...scopeOf(job), agentName, attempts, notBeforeMs }, Date.parse(createdAt));
    await folder.writeJob(job);
    return job;
  };
  const settle = async (job: Job, attempts: number, notBeforeMs = 0): Promise<Job> => {
    if (job.status === "queued") await enqueue(job, attempts, notBeforeMs);
    else await folder.writeJob(job);
    await folder.removeLease(job.id);
    return job;
  };
  const held = async ({ job: { id, scopeId }, worker, attempt }: JobClaim): Promise<Job | null> => {
    const lease = await folder.lease(id);
    return lease?.worker === worker && lease.attempt === attempt ? await folder.job(id, scopeId) : null;
  };
  const begin = async (
    { name, waiting: marked }: Marker,
    worker: string,
    untilMs: number,
  ): Promise<JobClaim | null> => {
    const { id, scopeId, attempts } = marked;
    const waiting = await folder.job(id, scopeId);
    if (waiting?.status !== "queued") { // Cancelled, or gone.
      await folder.removeWaiting(name);
      return null;
    }
    const job = begun(waiting, clock);
    const attempt = attempts + 1;
    await folder.writeLease({ id, ...scopeOf(job), worker, attempt, untilMs });
    await folder.writeJob(job);
    await folder.removeWaiting(name);
    return { job, attempt, worker };
  };

  const store: JobStore = {
    create: (fields) => alone(() => enqueueOrKeep(kept(fields, ids, clock))),
    async get(id, scopeId) {
      checkAddress(id, scopeId);
      return await folder.job(id, scopeId);
    },
    async list(scopeId, page = {}) {
      checkScope(scopeId);
      return pageOf(await folder.jobs(scopeId), page);
    },
    update: (id, updates) =>
      alone(async () => {
        checkAddress(id);
        const found = await folder.anywhere(id);
        if (!found) throw new HostError("jobs.unknown", `There is no job "${id}"`, { data: { id } });
        const job = updated(found, updates);
        await folder.writeJob(job);
        return job;
      }),
    delete: (id, scopeId) =>
      alone(async () => {
        checkAddress(id, scopeId);
        if (await folder.job(id, scopeId) === null) return false;
        await folder.removeJob(id, scopeId);
        await folder.removeLease(id);
        return true;
      }),
  };

  async function enqueueOrKeep(job: Job): Promise<Job> {
    if (job.status === "queued") return await enqueue(job, 0);
    await folder.writeJob(job);
    return job;
  }

  const queue: JobQueue = {
    claim: ({ worker, agents, leaseMs }) =>
      alone(() =>
        folder.firstWaiting(async (marker) => {
          const { agentName, notBeforeMs } = marker.waiting;
          const isWanted = agents.includes(agentName) && notBeforeMs <= clock.now();
          return isWanted ? await begin(marker, worker, clock.now() + leaseMs) : null;
        })
      ),
    heartbeat: (claim, leaseMs) =>
      alone(async () => {
        if (await held(claim) === null) return false;
        const { job, worker, attempt } = claim;
        await folder.writeLease({ id: job.id, ...scopeOf(job), worker, attempt, untilMs: clock.now() + leaseMs });
        return true;
      }),
    release: (claim, outcome) =>
      alone(async () => {
        const job = await held(claim);
        const notBeforeMs = outcome.status === "queued" ? clock.now() + outcome.delayMs : 0;
        return job && await settle(ended(job, outcome, clock), claim.attempt, notBeforeMs);
      }),
    cancel: (id, scopeId) =>
      alone(async () => {
        checkAddress(id, scopeId);
        const job = await folder.job(id, scopeId);
        return job && !isFinal(job.status) ? await settle(cancelled(job, clock), 0) : null;
      }),
    recover: (policy) =>
      alone(async () => {
        const lost = (await folder.leases()).filter(({ untilMs }) => untilMs <= clock.now());
        const jobs: Job[] = [];
        for (const lease of lost) {
          const job = await takeBack(lease);
          if (job) jobs.push(await settle(recovered(job, lease.attempt, policy, clock), lease.attempt));
        }
        return jobs.sort((a, b) => a.createdAt < b.createdAt ? -1 : 1);
      }),
    takeTurn: (cronId, dueMs) =>
      alone(async () => {
        checkName("A schedule", cronId);
        if ((await folder.turn(cronId) ?? -Infinity) >= dueMs) return false;
        await folder.writeTurn(cronId, dueMs);
        return true;
      }),
    async forget(request) {
      // Without the lock, as it takes long: what has come to its end stays there, and a file goes in one step.
      const old = forgettable(await folder.everyJob(), request, clock.now());
      for (const { id, scopeId } of old) await folder.removeJob(id, scopeId);
      return old.length;
    },
  };

  /** The running job of a lease; the lease of any other is what a killed process left, and goes. */
  async function takeBack({ id, scopeId }: Lease): Promise<Job | null> {
    const job = await folder.job(id, scopeId);
    if (job?.status === "running") return job;
    await folder.removeLease(id);
    return null;
  }

  return { store, queue, close: () => Promise.resolve() };
}

function scopeOf({ scopeId }: Job): { scopeId?: string } {
  return scopeId === undefined ? {} : { scopeId };
}
