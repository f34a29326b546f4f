/**
 * Reads jobs from a store, as clients get them: small results within their records, in lists none unless they are asked
 * for, long ones as streams.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import { pageOf as pageOfList } from "../core/values/page_of.ts";
import { pageOf, unknownJob } from "./job_table.ts";
import type { JobFilter, JobPageFilter } from "./jobs.ts";
import { joined, piecesOf, withinBytes, withoutResult, withResult } from "./results_aside.ts";
import type { Job, JobList, JobPageQuery, JobStore } from "./types.ts";

/** Bytes of records, and of results that are asked for, after which a page ends. */
const MAX_PAGE_BYTES = 4 * 1024 * 1024;
const PAGE = 100;

/** Reads the jobs of a store. */
export class JobReader {
  readonly #store: JobStore;
  readonly #inlineBytes: number;

  /** A longer result than `inlineBytes` stays beside its record. */
  constructor(store: JobStore, inlineBytes: number) {
    this.#store = store;
    this.#inlineBytes = inlineBytes;
  }

  /** Returns a record as it is kept. Throws `jobs.unknown`. */
  async record(id: string, scopeId?: string): Promise<Job> {
    const job = await this.#store.get(id, scopeId);
    if (job) return job;
    throw unknownJob(id);
  }

  async get(id: string, scopeId?: string): Promise<Job> {
    return await this.filled(await this.record(id, scopeId));
  }

  async find(id: string): Promise<Job> {
    const job = this.#store.find ? await this.#store.find(id) : await this.#store.get(id);
    if (job) return await this.filled(job);
    throw unknownJob(id);
  }

  async list({ scopeId, results = false, ...page }: JobFilter): Promise<Job[]> {
    const { limit = Infinity, before } = page;
    checkLimit(limit);
    if (before !== undefined) await this.record(before, scopeId);
    const found = pageOf(await this.#store.list(scopeId, page), page);
    if (!results) return found.map(withoutResult);
    const jobs: Job[] = [];
    for (const job of found) jobs.push(await this.filled(job));
    return jobs;
  }

  async page(filter: JobPageFilter): Promise<JobList> {
    const { scopeId = null, everyScope = false, results = false, status, agentName, limit = PAGE, cursor } = filter;
    checkLimit(limit);
    const { jobs, next } = await this.#page({
      limit,
      maxBytes: MAX_PAGE_BYTES,
      ...(!everyScope && { scopeId }),
      ...(status !== undefined && { status }),
      ...(agentName !== undefined && { agentName }),
      ...(cursor !== undefined && { after: cursor }),
    });
    if (!results) return { jobs: jobs.toReversed(), next };
    const shown: Job[] = [];
    let room = MAX_PAGE_BYTES - jobs.reduce((sum, job) => sum + JSON.stringify(job).length, 0);
    for (const job of jobs) {
      const bytes = job.resultAside?.bytes ?? Infinity;
      // Lists leave out short results too, and those stand in the record itself.
      const whole = bytes <= Math.min(room, this.#inlineBytes) ? await this.#store.get(job.id, job.scopeId) : null;
      if (whole) room -= bytes;
      shown.push(whole ? await this.filled(whole) : job);
    }
    return { jobs: shown.reverse(), next };
  }

  async result(id: string, scopeId?: string): Promise<ReadableStream<Uint8Array>> {
    const job = await this.record(id, scopeId);
    const pieces = job.resultAside ? await this.#store.result?.(id) : job.result && piecesOf(job.result);
    if (job.status === "completed" && (pieces || job.result === "")) return streamOf(pieces || []);
    throw new HostError("jobs.result_missing", `The job "${id}" has no result: it is ${job.status}`, {
      data: { id, status: job.status },
      hint: job.status === "failed" ? "Read its error" : "Wait for its end",
    });
  }

  /** Returns a job with its result, where that is short enough. */
  async filled(job: Job): Promise<Job> {
    if (!job.resultAside) return withinBytes(job, this.#inlineBytes);
    if (job.resultAside.bytes > this.#inlineBytes) return job;
    const pieces = await this.#store.result?.(job.id);
    return pieces ? withResult(job, await joined(pieces)) : job;
  }

  async #page(query: JobPageQuery): Promise<JobList> {
    if (this.#store.page) return await this.#store.page(query);
    const { scopeId, limit, maxBytes, after: cursor, ...filter } = query;
    const all = pageOf(await this.#store.list(scopeId ?? undefined, filter), filter).reverse().map(withoutResult);
    let bytes = 0;
    const from = pageOfList("jobs", all, ({ id }) => id, { limit: all.length + 1, ...(cursor && { cursor }) }).items;
    const fitting = from.slice(0, limit).filter((job) => {
      const isWithin = bytes < maxBytes;
      bytes += JSON.stringify(job).length;
      return isWithin;
    });
    const { items, next } = pageOfList("jobs", from, ({ id }) => id, { limit: Math.max(1, fitting.length) });
    return { jobs: items, next };
  }
}

function checkLimit(limit: number): void {
  if (limit >= 1 && !(limit % 1 > 0)) return;
  throw new RangeError(`jobs: limit is ${limit}, not a whole number of 1 or more`);
}

/** Returns pieces as a stream that reads the next one when it is wanted. */
function streamOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): ReadableStream<Uint8Array> {
  const reading = Symbol.asyncIterator in pieces ? pieces[Symbol.asyncIterator]() : pieces[Symbol.iterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reading.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await reading.return?.();
    },
  }, { highWaterMark: 0 });
}
