/**
 * Results and pages of jobs in files. A long result lies in `.results/`, beside the records; of a killed process a file
 * may be left there whose record does not know of it, which the next run of the job replaces, or its end removes.
 *
 * @module
 */
import type { Files } from "../core/ports/ports.ts";
import { creationOf, pageWithin } from "./job_pages.ts";
import { setAside, withoutResult } from "./results_aside.ts";
import type { Job, JobList, JobPageQuery } from "./types.ts";

const PIECE_BYTES = 256 * 1024;

/** Files of results, by the ids of their jobs. */
export interface FileResults {
  /** Writes the result of a job where it is too long for the record; returns the record to write. */
  keep(job: Job): Promise<Job>;
  /** Returns a piece, counted from 0, or null behind the last one. */
  piece(id: string, part: number): Promise<Uint8Array | null>;
  remove(id: string): Promise<void>;
  /** Ids of the jobs whose result is here. */
  ids(): Promise<string[]>;
}

/** Returns the results in a folder, which is there. */
export function fileResults(dir: string, files: Files): FileResults {
  return {
    async keep(job) {
      const { record, aside } = setAside(job);
      if (aside === null) return record;
      await files.write(`${dir}/.${job.id}.txt`, aside);
      await files.rename(`${dir}/.${job.id}.txt`, `${dir}/${job.id}.txt`);
      return record;
    },
    async piece(id, part) {
      try {
        const piece = await files.readRange(`${dir}/${id}.txt`, part * PIECE_BYTES, PIECE_BYTES);
        return piece.length === 0 ? null : piece;
      } catch (error) {
        if ((error as { code?: string }).code === "ENOENT") return null;
        throw error;
      }
    },
    remove: (id) => files.remove(`${dir}/${id}.txt`),
    ids: async () => (await files.list(dir)).flatMap((name) => /^([^.].*)\.txt$/.exec(name)?.[1] ?? []),
  };
}

/** The records of a folder, as a page needs them. */
interface Records {
  scopes(): Promise<(string | undefined)[]>;
  each(scopeId: string | undefined): AsyncIterable<Job>;
  job(id: string, scopeId: string | undefined): Promise<Job | null>;
}

/** Returns a page. Every record is read, because files are in no order; only those of the page are held in memory. */
export async function filePage(records: Records, query: JobPageQuery): Promise<JobList> {
  const { scopeId, status, agentName, limit, maxBytes, after } = query;
  const place = after === undefined ? null : creationOf(after);
  const keys: Pick<Job, "id" | "scopeId" | "createdAt">[] = [];
  for (const scope of scopeId === undefined ? await records.scopes() : [scopeId ?? undefined]) {
    for await (const job of records.each(scope)) {
      const isWanted = (status === undefined || job.status === status) &&
        (agentName === undefined || job.agentName === agentName) && (place === null || byCreation(job, place) < 0);
      const { id, createdAt } = job;
      if (isWanted) keys.push({ id, createdAt, ...(scope !== undefined && { scopeId: scope }) });
    }
  }
  keys.sort((a, b) => byCreation(b, a));
  const found = [];
  let bytes = 0;
  for (const [at, { id, scopeId, createdAt }] of keys.slice(0, limit).entries()) {
    if (bytes >= maxBytes) break;
    const job = await records.job(id, scopeId);
    if (!job) continue; // It was removed meanwhile.
    bytes += JSON.stringify(job).length;
    found.push({ job: withoutResult(job), place: `${createdAt} ${id}`, count: keys.length - at + found.length });
  }
  return pageWithin(found, limit);
}

type Created = Pick<Job, "createdAt" | "id">;

/** Orders records by their creation: ids of one process count up, so of one millisecond the shorter or smaller is older. */
export function byCreation(a: Created, b: Created): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1;
  return a.id.length - b.id.length || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
