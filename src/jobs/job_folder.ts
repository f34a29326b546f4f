/**
 * Files of jobs in one folder: a record for each job, a marker for each that waits, a lease for each that runs.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Files } from "../core/ports/ports.ts";
import type { Job } from "./types.ts";

/** A marker in `.queue/`: the job waits. Files of that folder sort by the time their jobs were created. */
export interface Waiting {
  readonly id: string;
  readonly scopeId?: string;
  readonly agentName: string;
  readonly attempts: number;
  readonly notBeforeMs: number;
}

/** A file in `.leases/`: a worker runs the job. */
export interface Lease {
  readonly id: string;
  readonly scopeId?: string;
  readonly worker: string;
  readonly attempt: number;
  readonly untilMs: number;
}

/** The folders beside the records; no id of a job starts with a dot. */
type Part = ".queue" | ".leases" | ".turns";

/** Reads and writes the files; each is replaced in one step. Whoever writes holds the folder's lock. */
export class JobFolder {
  readonly dir: string;
  readonly #files: Files;
  #markers = 0;

  /** Nothing is made before {@link open}. */
  constructor(dir: string, files: Files) {
    this.dir = dir;
    this.#files = files;
  }

  /** Makes the folders that are missing. */
  async open(): Promise<void> {
    for (const part of ["", "/.queue", "/.leases", "/.turns"]) {
      await this.#files.makeDir(`${this.dir}${part}`, { recursive: true, mode: 0o700 });
    }
  }

  /** Reads the record of a job, or null. */
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

  /** Writes a record, and the folder of its scope when that is missing. */
  async writeJob(job: Job): Promise<void> {
    const dir = this.#scopeDir(job.scopeId);
    if (job.scopeId !== undefined) await this.#files.makeDir(dir, { recursive: true, mode: 0o700 });
    await this.#write(dir, `${job.id}.json`, job);
  }

  /** Removes a record; a missing one is fine. */
  removeJob(id: string, scopeId?: string): Promise<void> {
    return this.#files.remove(`${this.#scopeDir(scopeId)}/${id}.json`);
  }

  /** Puts a job into the queue, behind those created before it. */
  enqueue({ id, scopeId, agentName, createdAt }: Job, attempts: number, notBeforeMs: number): Promise<void> {
    const createdMs = String(Date.parse(createdAt)).padStart(15, "0");
    const name = `${createdMs}-${String(this.#markers++).padStart(9, "0")}-${id}.json`;
    const waiting: Waiting = { id, ...(scopeId !== undefined && { scopeId }), agentName, attempts, notBeforeMs };
    return this.write(".queue", name, waiting);
  }

  /** Goes through the markers in order until `pick` returns something. */
  async firstWaiting<T>(pick: (waiting: Waiting, marker: string) => Promise<T | null>): Promise<T | null> {
    for (const name of await this.#files.list(`${this.dir}/.queue`)) {
      const waiting = isTemporary(name) ? null : await this.read<Waiting>(".queue", name);
      const picked = waiting && await pick(waiting, name);
      if (picked) return picked;
    }
    return null;
  }

  /** Reads every lease, also those that have ended. */
  leases(): Promise<Lease[]> {
    return this.#all<Lease>(`${this.dir}/.leases`, (name) => !isTemporary(name));
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

/** Orders records by their creation: ids of one process count up, so of one millisecond the shorter or smaller is older. */
export function byCreation(a: Job, b: Job): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.id.length - b.id.length || (a.id < b.id ? -1 : 1);
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
