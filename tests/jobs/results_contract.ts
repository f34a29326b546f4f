/**
 * What every place for jobs promises of long results and of pages, as cases that each run on a fresh one.
 *
 * @module
 */
import assert from "node:assert/strict";
import { cursorOf } from "../../src/core/values/cursor.ts";
import { joined } from "../../src/jobs/results_aside.ts";
import type { Job, JobBackend, JobClaim, JobList, JobOutcome, JobPageQuery, NewJob } from "../../src/jobs/types.ts";
import type { Case } from "./backend_contract.ts";

const ask: NewJob = { agentName: "primary", input: "Hello", conversationId: "ses_1", status: "queued" };
const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
/** Its pieces end within a character of two units, and within one of three bytes. */
const LONG = `${"x".repeat(256 * 1024 - 1)}🎈${"€".repeat(200_000)}\0end`;
const LONG_BYTES = new TextEncoder().encode(LONG).length;
const page = { limit: 100, maxBytes: 1e9 } as const;

async function completed(backend: JobBackend, result: string, fields: Partial<NewJob> = {}): Promise<Job> {
  const { id } = await backend.store.create({ ...ask, ...fields });
  const claim = await backend.queue.claim({ worker: "w1", agents: ["primary"], leaseMs: 60_000 }) as JobClaim;
  assert.equal(claim.job.id, id);
  return (await backend.queue.release(claim, { status: "completed", result, usage, toolsUsed: [] }))!;
}

async function resultOf({ store }: JobBackend, id: string): Promise<string | null> {
  const pieces = await store.result!(id);
  return pieces && await joined(pieces);
}

/** Ids of every page, each as its own list; `between` runs after each. */
async function walked(
  { store }: JobBackend,
  query: Partial<JobPageQuery>,
  between: (page: JobList, at: number) => Promise<unknown> = () => Promise.resolve(),
): Promise<string[][]> {
  const pages: string[][] = [];
  for (let next: string | null = ""; next !== null;) {
    const found: JobList = await store.page!({ ...page, ...query, ...(next !== "" && { after: next }) });
    pages.push(found.jobs.map(({ id }) => id));
    await between(found, pages.length);
    next = found.next;
    assert.ok(pages.length < 50, "The cursors lead in a circle");
  }
  return pages;
}

export const resultsContract: readonly Case[] = [
  {
    name: "T-007 a long result lies beside its record, whole, and goes with its job",
    async run({ backend }) {
      const { store, queue } = backend;
      const job = await completed(backend, LONG);
      assert.deepEqual([job.result, job.resultAside], [undefined, { truncated: true, bytes: LONG_BYTES }]);
      assert.deepEqual(await store.get(job.id), job);
      assert.deepEqual(await store.list(), [job]);
      assert.equal(await resultOf(backend, job.id), LONG);
      const other = await completed(backend, LONG.slice(1), { scopeId: "acme" });
      assert.equal(await store.delete(job.id), true);
      assert.equal(await resultOf(backend, job.id), null);
      assert.equal(await resultOf(backend, other.id), LONG.slice(1));
      assert.equal(await queue.forget({ maxAgeMs: Infinity, maxFinished: 0, batch: 10 }), 1);
      assert.equal(await resultOf(backend, other.id), null);
    },
  },
  {
    name: "T-007 a short result stays in its record; a new one takes the place of the old one, long or short",
    async run({ backend }) {
      const { store } = backend;
      const job = await completed(backend, "Hi");
      assert.equal((await store.get(job.id))?.result, "Hi");
      assert.equal(await resultOf(backend, job.id), null);
      const long = await store.update(job.id, { result: LONG });
      assert.deepEqual([long.result, long.resultAside?.bytes], [undefined, LONG_BYTES]);
      await store.update(job.id, { result: LONG.slice(5) });
      assert.equal(await resultOf(backend, job.id), LONG.slice(5));
      const { result, resultAside } = await store.update(job.id, { result: "Hi again" });
      assert.deepEqual([result, resultAside], ["Hi again", undefined]);
      assert.deepEqual(await store.get(job.id), await store.update(job.id, {}));
      const made = await store.create({ ...ask, status: "completed", result: LONG });
      assert.equal(made.resultAside?.bytes, LONG_BYTES);
      assert.equal(await resultOf(backend, made.id), LONG);
    },
  },
  {
    name: "T-008 the answer of a worker that has lost its claim leaves nothing behind",
    async run({ backend }) {
      const { store, queue } = backend;
      const { id } = await store.create(ask);
      const claim = await queue.claim({ worker: "w1", agents: ["primary"], leaseMs: 0 }) as JobClaim;
      await queue.recover({ maxAttempts: 1, error: "gone" });
      const outcome: JobOutcome = { status: "completed", result: LONG, usage, toolsUsed: [] };
      assert.equal(await queue.release(claim, outcome), null);
      assert.equal(await resultOf(backend, id), null);
      assert.equal((await queue.reclaim!(claim, outcome, "gone"))?.resultAside?.bytes, LONG_BYTES);
      assert.equal(await resultOf(backend, id), LONG);
    },
  },
  {
    name: "T-010 pages hold every job once, the newest first, while others come and go",
    async run({ backend }) {
      const { store } = backend;
      const ids: string[] = [];
      for (let at = 0; at < 9; at++) ids.unshift((await store.create({ ...ask, status: "cancelled" })).id);
      const pages = await walked(backend, { scopeId: null, limit: 3 }, async ({ jobs }, at) => {
        await store.create(ask); // A newer one.
        if (at === 1) await store.delete(jobs.at(-1)!.id); // The very one that the cursor names.
        if (at === 2) await store.delete(ids[7]!); // One of the page to come.
      });
      assert.deepEqual(pages, [ids.slice(0, 3), ids.slice(3, 6), [ids[6], ids[8]]]);
    },
  },
  {
    name: "T-010 pages reach every scope, one, or the jobs without one, and find() finds in each",
    async run({ backend }) {
      const { store } = backend;
      const scopes = [undefined, "acme", "user|7", "acme", undefined];
      const ids: string[] = [];
      for (const scopeId of scopes) {
        ids.unshift((await store.create({ ...ask, status: "cancelled", ...(scopeId && { scopeId }) })).id);
      }
      const two = { limit: 2 };
      assert.deepEqual(await walked(backend, two), [ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
      assert.deepEqual(await walked(backend, { ...two, scopeId: "acme" }), [[ids[1], ids[3]]]);
      assert.deepEqual(await walked(backend, { ...two, scopeId: null, status: "cancelled" }), [[ids[0], ids[4]]]);
      assert.deepEqual(await walked(backend, { scopeId: "nobody" }), [[]]);
      assert.deepEqual(await walked(backend, { agentName: "other" }), [[]]);
      assert.equal((await store.find!(ids[2]!))?.scopeId, "user|7");
      assert.equal(await store.find!("job_none"), null);
    },
  },
  {
    name: "T-010 a page ends with the record that reaches its bytes, and has at least one",
    async run({ backend }) {
      const { store } = backend;
      for (let at = 0; at < 5; at++) await store.create({ ...ask, status: "cancelled", input: "x".repeat(20_000) });
      const sizes = async (maxBytes: number) => (await walked(backend, { maxBytes })).map(({ length }) => length);
      assert.deepEqual(await sizes(1), [1, 1, 1, 1, 1]);
      assert.deepEqual(await sizes(30_000), [2, 2, 1]);
      assert.deepEqual(await sizes(1e9), [5]);
    },
  },
  {
    name: "T-010 a text that is no cursor of jobs is refused",
    async run({ backend: { store } }) {
      for (
        const after of ["job_1", "00", "-1", cursorOf("plugins", "1"), cursorOf("jobs", "x"), cursorOf("jobs", "")]
      ) {
        const asked = async () => await store.page!({ ...page, after });
        await assert.rejects(asked, { code: "http.cursor_invalid" }, after);
      }
    },
  },
];
