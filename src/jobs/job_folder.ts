/**
 * Files of jobs in one folder: a record for each job, a marker for each that waits, a lease for each that runs.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Files } from "../core/ports/ports.ts";
import type { Job } from "./types.ts";

/** That a job waits. */
export interface Waiting {
  /** The job. */
  readonly id: string;
  /** Its scope. */
  readonly scopeId?: string;
  /** Its agent. */
  readonly agentName: string;
  /** How often it was begun. */
  readonly attempts: number;
  /** Not to be begun before. */
  readonly notBeforeMs: number;
}

/** Who runs a job. */
export interface Lease {
  /** The job. */
  readonly id: string;
  /** Its scope. */
  readonly scopeId?: string;
  /** The worker. */
  readonly worker: string;
  /** How often it was begun. */
  readonly attempt: number;
  /** When the lease ends. */
  readonly untilMs: number;
}

/** A marker. */
export interface Marker {
  /** Name of its file. */
  readonly name: string;
  /** What it says. */
  readonly waiting: Waiting;
}

/** Reads and writes the files; each is replaced in one step. Whoever writes holds the folder's lock. */
export class JobFolder {
  /** The folder. */
  readonly dir: string;
  readonly #files: Files;
  #markers = 0;

  /** Use {@link open}. */
  constructor(dir: string, files: Files) {
    this.dir = dir;
    this.#files = files;
  }

  /** Makes the folders. */
  async open(): Promise<void> {
    for (const part of ["", "/.queue", "/.leases", "/.turns"]) {
      await this.#files.makeDir(`${this.dir}${part}`, { recursive: true, mode: 0o700 });
    }
  }

  /** Reads a record, or null. */
  job(id: string, scopeId?: string): Promise<Job | null> {
    return this.#read<Job>(this.#scopeDir(scopeId), `${id}.json`);
  }

  /** Finds a record in any scope. */
  async anywhere(id: string): Promise<Job | null> {
    for (const scopeId of await this.#scopes()) {
      const job = await this.job(id, scopeId);
      if (job) return job;
    }
    return null;
  }

  /** Reads every record of every scope. */
  async everyJob(): Promise<Job[]> {
    const all: Job[] = [];
    for (const scopeId of await this.#scopes()) all.push(...await this.jobs(scopeId));
    return all;
  }

  /** Reads every record of a scope, the oldest first. */
  async jobs(scopeId?: string): Promise<Job[]> {
    const isRecord = (name: string): boolean => /^[A-Za-z0-9].*\.json$/.test(name);
    return (await this.#all<Job>(this.#scopeDir(scopeId), isRecord)).sort(byCreation);
  }

  /** Writes a record. */
  async writeJob(job: Job): Promise<void> {
    const dir = this.#scopeDir(job.scopeId);
    if (job.scopeId !== undefined) await this.#files.makeDir(dir, { recursive: true, mode: 0o700 });
    await this.#write(dir, `${job.id}.json`, job);
  }

  /** Removes a record. */
  removeJob(id: string, scopeId?: string): Promise<void> {
    return this.#files.remove(`${this.#scopeDir(scopeId)}/${id}.json`);
  }

  /** Says that a job waits, in the order of its creation. */
  writeWaiting(waiting: Waiting, createdMs: number): Promise<void> {
    const order = `${String(createdMs).padStart(15, "0")}-${String(this.#markers++).padStart(9, "0")}`;
    return this.#write(`${this.dir}/.queue`, `${order}-${waiting.id}.json`, waiting);
  }

  /** Goes through the markers in order until `pick` returns something. */
  async firstWaiting<T>(pick: (marker: Marker) => Promise<T | null>): Promise<T | null> {
    for (const name of await this.#files.list(`${this.dir}/.queue`)) {
      const waiting = isTemporary(name) ? null : await this.#read<Waiting>(`${this.dir}/.queue`, name);
      const picked = waiting && await pick({ name, waiting });
      if (picked) return picked;
    }
    return null;
  }

  /** Removes a marker. */
  removeWaiting(name: string): Promise<void> {
    return this.#files.remove(`${this.dir}/.queue/${name}`);
  }

  /** Reads the lease of a job, or null. */
  lease(id: string): Promise<Lease | null> {
    return this.#read<Lease>(`${this.dir}/.leases`, `${id}.json`);
  }

  /** Reads every lease. */
  leases(): Promise<Lease[]> {
    return this.#all<Lease>(`${this.dir}/.leases`, (name) => !isTemporary(name));
  }

  /** Writes a lease. */
  writeLease(lease: Lease): Promise<void> {
    return this.#write(`${this.dir}/.leases`, `${lease.id}.json`, lease);
  }

  /** Removes a lease. */
  removeLease(id: string): Promise<void> {
    return this.#files.remove(`${this.dir}/.leases/${id}.json`);
  }

  /** When a schedule last had its turn, or null. */
  turn(cronId: string): Promise<number | null> {
    return this.#read<number>(`${this.dir}/.turns`, `${cronId}.json`);
  }

  /** Writes when a schedule had its turn. */
  writeTurn(cronId: string, dueMs: number): Promise<void> {
    return this.#write(`${this.dir}/.turns`, `${cronId}.json`, dueMs);
  }

  async #scopes(): Promise<(string | undefined)[]> {
    const names = await this.#files.list(this.dir);
    return [undefined, ...names.filter((name) => name.startsWith("@")).map((name) => name.slice(1))];
  }

  #scopeDir(scopeId?: string): string {
    return scopeId === undefined ? this.dir : `${this.dir}/@${scopeId}`; // No id of a job starts with @.
  }

  async #all<T>(dir: string, isWanted: (name: string) => boolean): Promise<T[]> {
    const all: T[] = [];
    for (const name of (await orNull(this.#files.list(dir)) ?? []).filter(isWanted)) {
      const value = await this.#read<T>(dir, name);
      if (value !== null) all.push(value);
    }
    return all;
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

/** A file that was being written when its process ended. */
function isTemporary(name: string): boolean {
  return name.startsWith(".");
}

/** Ids of one process count up, so that of two in the same millisecond the shorter, then the smaller one is older. */
function byCreation(a: Job, b: Job): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.id.length - b.id.length || (a.id < b.id ? -1 : 1);
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return null;
    throw error;
  }
}
