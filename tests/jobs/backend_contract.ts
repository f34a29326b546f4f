/**
 * What every place for jobs promises, as cases that each run on a fresh one.
 *
 * @module
 */
import assert from "node:assert/strict";
import { resultsContract } from "./results_contract.ts";
import type { Job, JobBackend, JobClaim, JobOutcome, JobPage, NewJob } from "../../src/jobs/types.ts";

/** A fresh backend under test. */
export interface Stage {
  readonly backend: JobBackend;
  /** Lets time go by for what waits in the queue. */
  pass(ms: number): Promise<void>;
}

/** One promise. */
export interface Case {
  readonly name: string;
  run(stage: Stage): Promise<void>;
}

const ask: NewJob = { agentName: "primary", input: "Hello", conversationId: "ses_1", status: "queued" };
const usage = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };
const LEASE_MS = 60_000;
const policy = { maxAttempts: 2, error: "The worker is gone" };
const done: JobOutcome = { status: "completed", result: "Hi", usage, toolsUsed: ["memory.recall"] };
const isCode = (code: string) => (error: { code?: string }): boolean => error.code === code;

const take = (backend: JobBackend, worker = "w1", leaseMs = LEASE_MS): Promise<JobClaim | null> =>
  backend.queue.claim({ worker, agents: ["primary"], leaseMs });
const must = async <T>(asked: Promise<T | null>): Promise<T> => {
  const value = await asked;
  assert.ok(value !== null);
  return value;
};

export const contract: readonly Case[] = [
  ...resultsContract,
  {
    name: "T-006 T-007 a created job has an id and a time, and is found as it was given",
    async run({ backend: { store } }) {
      const job = await store.create(ask);
      assert.deepEqual(job, { ...ask, id: job.id, createdAt: job.createdAt });
      assert.match(job.id, /^job_/);
      assert.equal(new Date(job.createdAt).toISOString(), job.createdAt);
      assert.deepEqual(await store.get(job.id), job);
    },
  },
  {
    name: "T-007 a job of a scope is found in that scope alone",
    async run({ backend: { store, queue } }) {
      const [mine, yours, free] = [
        await store.create({ ...ask, scopeId: "acme.com" }),
        await store.create({ ...ask, scopeId: "user|7" }),
        await store.create(ask),
      ];
      assert.equal(mine.scopeId, "acme.com");
      assert.deepEqual(await store.get(mine.id, "acme.com"), mine);
      assert.equal(await store.get(mine.id, "user|7"), null);
      assert.equal(await store.get(mine.id), null);
      assert.equal(await store.get(free.id, "acme.com"), null);
      assert.deepEqual(await store.list("acme.com"), [mine]);
      assert.deepEqual(await store.list("user|7"), [yours]);
      assert.deepEqual(await store.list(), [free]);
      assert.deepEqual(await store.list("nobody"), []);
      assert.equal(await queue.cancel(mine.id, "user|7"), null);
      assert.equal(await store.delete(mine.id), false);
      assert.equal(await store.delete(mine.id, "acme.com"), true);
    },
  },
  {
    name: "T-007 list() gives the oldest first",
    async run({ backend: { store } }) {
      const ids: string[] = [];
      for (let at = 0; at < 45; at++) ids.push((await store.create({ ...ask, input: `${at}` })).id);
      assert.deepEqual((await store.list()).map(({ id }) => id), ids);
    },
  },
  {
    name: "T-010 list() gives pages: the newest so many, those before a job, by status and agent",
    async run({ backend: { store } }) {
      const ids: string[] = [];
      for (let at = 0; at < 6; at++) {
        const status = at % 2 === 0 ? "completed" : "cancelled";
        const agentName = at < 4 ? "primary" : "other";
        ids.push((await store.create({ ...ask, status, agentName, scopeId: "acme" })).id);
      }
      await store.create({ ...ask, scopeId: "user|7" });
      const listed = async (page: JobPage) => (await store.list("acme", page)).map(({ id }) => ids.indexOf(id));
      assert.deepEqual(await listed({ limit: 2 }), [4, 5]);
      assert.deepEqual(await listed({ limit: 2, before: ids[4]! }), [2, 3]);
      assert.deepEqual(await listed({ limit: 9, before: ids[2]! }), [0, 1]);
      assert.deepEqual(await listed({ before: ids[0]! }), []);
      assert.deepEqual(await listed({ status: "completed" }), [0, 2, 4]);
      assert.deepEqual(await listed({ agentName: "primary", status: "cancelled", limit: 1 }), [3]);
    },
  },
  {
    name: "T-010 forget() removes finished jobs by age and by number, so many at once, and no other",
    async run({ backend }) {
      const ended: string[] = [];
      for (let at = 0; at < 4; at++) {
        const { id } = await backend.store.create({ ...ask, ...(at % 2 === 0 && { scopeId: "acme" }) });
        await backend.queue.release(await must(take(backend)), done);
        ended.push(id);
      }
      const running = (await backend.store.create(ask)).id;
      await take(backend);
      const waiting = (await backend.store.create(ask)).id;
      const left = async () =>
        [...await backend.store.list("acme"), ...await backend.store.list()].map(({ id }) => id).sort();
      const { forget } = backend.queue;
      assert.equal(await forget({ maxAgeMs: Infinity, maxFinished: Infinity, batch: 100 }), 0);
      assert.equal(await forget({ maxAgeMs: 86_400_000, maxFinished: 4, batch: 100 }), 0);
      assert.equal(await forget({ maxAgeMs: 86_400_000, maxFinished: 3, batch: 100 }), 1);
      assert.equal((await left()).length, 5);
      assert.equal(await forget({ maxAgeMs: 0, maxFinished: 100, batch: 2 }), 2, "a batch");
      assert.equal(await forget({ maxAgeMs: 0, maxFinished: 100, batch: 2 }), 1, "the rest");
      assert.deepEqual(await left(), [running, waiting].sort());
    },
  },
  {
    name: "T-007 update() changes fields in any scope; address and creation stay",
    async run({ backend: { store } }) {
      const job = await store.create({ ...ask, scopeId: "acme" });
      const changes: Partial<Job> = {
        status: "failed",
        error: "no",
        id: "job_x",
        scopeId: "other",
        createdAt: "never",
      };
      const after = { ...job, status: "failed", error: "no" };
      assert.deepEqual(await store.update(job.id, changes), after);
      assert.deepEqual(await store.get(job.id, "acme"), after);
      await assert.rejects(store.update("job_none", { error: "x" }), isCode("jobs.unknown"));
    },
  },
  {
    name: "T-007 delete() returns whether there was a job",
    async run({ backend: { store } }) {
      const { id } = await store.create(ask);
      assert.equal(await store.delete(id), true);
      assert.equal(await store.delete(id), false);
      assert.equal(await store.get(id), null);
    },
  },
  {
    name: "T-007 ids and scopes that lead elsewhere are refused",
    async run({ backend: { store, queue } }) {
      for (const id of ["../secret", "a/b", "", ".", "..", "a\0", "@acme", "x".repeat(129), "a\n"]) {
        await assert.rejects(async () => await store.get(id), isCode("jobs.id_invalid"), JSON.stringify(id));
        await assert.rejects(async () => await store.update(id, {}), isCode("jobs.id_invalid"));
        await assert.rejects(async () => await store.delete(id), isCode("jobs.id_invalid"));
        await assert.rejects(async () => await queue.cancel(id), isCode("jobs.id_invalid"));
      }
      for (const scopeId of ["..", "../x", "a/b", "", "\\", ".queue", "-", " "]) {
        await assert.rejects(async () => await store.list(scopeId), isCode("jobs.id_invalid"), scopeId);
        await assert.rejects(async () => await store.create({ ...ask, scopeId }), isCode("jobs.id_invalid"));
      }
      await assert.rejects(async () => await store.create({ ...ask, agentName: "../x" }), isCode("jobs.id_invalid"));
    },
  },
  {
    name: "T-007 any text comes back as it was",
    async run({ backend: { store } }) {
      const input = 'line\nbreak, quote ", NUL \0, emoji 🙂, \u2028, {json}';
      const { id } = await store.create({ ...ask, input });
      assert.equal((await must(store.get(id))).input, input);
    },
  },
  {
    name: "T-008 claim() hands out waiting jobs in order, each to one worker, and only of the agents asked for",
    async run({ backend }) {
      const first = await backend.store.create(ask);
      const second = await backend.store.create({ ...ask, scopeId: "acme" });
      await backend.store.create({ ...ask, agentName: "other" });
      const claims = await Promise.all([take(backend, "w1"), take(backend, "w2")]);
      const byId = new Map(claims.map((claim) => [claim!.job.id, claim!]));
      assert.deepEqual([...byId.keys()].sort(), [first.id, second.id].sort());
      const { job, attempt } = byId.get(first.id)!;
      assert.deepEqual({ ...job, startedAt: undefined }, { ...first, status: "running", startedAt: undefined });
      assert.ok(job.startedAt);
      assert.equal(attempt, 1);
      assert.deepEqual(await backend.store.get(first.id), job);
      assert.equal(await take(backend), null);
    },
  },
  {
    name: "T-008 release() ends a job with its result",
    async run({ backend }) {
      const { id } = await backend.store.create(ask);
      const claim = await must(take(backend));
      const job = await must(backend.queue.release(claim, done));
      const { completedAt, ...rest } = job;
      assert.deepEqual(rest, { ...claim.job, ...done });
      assert.ok(completedAt);
      assert.deepEqual(await backend.store.get(id), job);
      assert.equal(await backend.queue.release(claim, done), null);
      assert.equal(await take(backend), null);
    },
  },
  {
    name: "T-008 a job released into the queue waits for its delay, and counts its attempts",
    async run({ backend, pass }) {
      const { id } = await backend.store.create(ask);
      const first = await must(take(backend));
      const job = await must(backend.queue.release(first, { status: "queued", delayMs: 60_000 }));
      assert.equal(job.status, "queued");
      assert.equal(await take(backend), null);
      await pass(60_000);
      const second = await must(take(backend, "w2"));
      assert.equal(second.job.id, id);
      assert.equal(second.attempt, 2);
      assert.equal(await backend.queue.release(first, done), null);
      assert.equal((await must(backend.queue.release(second, done))).status, "completed");
    },
  },
  {
    name: "T-008 a heartbeat keeps a lease; without one the job is queued again until its attempts are used up",
    async run({ backend }) {
      const { id } = await backend.store.create(ask);
      const first = await must(take(backend, "w1", 0));
      assert.equal(await backend.queue.heartbeat(first, LEASE_MS), true);
      assert.deepEqual(await backend.queue.recover(policy), []);
      assert.equal(await backend.queue.heartbeat(first, 0), true);
      assert.deepEqual((await backend.queue.recover(policy)).map(({ id, status }) => [id, status]), [[id, "queued"]]);
      assert.deepEqual(await backend.queue.recover(policy), []);
      assert.equal(await backend.queue.heartbeat(first, LEASE_MS), false);
      assert.equal(await backend.queue.release(first, done), null);

      const second = await must(take(backend, "w1", 0));
      assert.equal(second.attempt, 2);
      assert.equal(
        await backend.queue.heartbeat(first, LEASE_MS),
        false,
        "the same worker's earlier claim is not this",
      );
      assert.equal(await backend.queue.release(first, done), null, "nor can it be ended by it");
      const [failed] = await backend.queue.recover(policy);
      assert.deepEqual([failed?.status, failed?.error], ["failed", policy.error]);
      assert.ok(failed?.completedAt);
      assert.deepEqual(await backend.store.get(id), failed);
      assert.equal(await take(backend), null);
    },
  },
  {
    name: "T-008 reclaim() ends a claim that recovery took, as long as no other worker has begun the job",
    async run({ backend, pass }) {
      const { queue, store } = backend;
      const lost = async () => {
        const { id } = await store.create(ask);
        const claim = await must(take(backend, "w1", 0));
        assert.equal(claim.job.id, id);
        return claim;
      };
      const reclaim = (claim: JobClaim) => queue.reclaim!(claim, done, policy.error);

      const failed = await lost();
      assert.equal((await queue.recover({ ...policy, maxAttempts: 1 }))[0]?.status, "failed");
      const kept = await must(reclaim(failed));
      assert.deepEqual([kept.status, kept.result, kept.error], ["completed", "Hi", undefined]);
      assert.deepEqual(await store.get(kept.id), kept);
      assert.equal(await reclaim(failed), null, "once");

      const queued = await lost();
      assert.equal((await queue.recover(policy))[0]?.status, "queued");
      assert.equal((await must(reclaim(queued))).status, "completed");
      assert.equal(await take(backend), null, "nobody gets it any more");

      const taken = await lost();
      await queue.recover(policy);
      await pass(5);
      const second = await must(take(backend, "w2"));
      assert.equal(await reclaim(taken), null);
      assert.equal((await must(queue.release(second, { status: "failed", error: "own" }))).status, "failed");
      assert.equal(await reclaim(taken), null);

      const cancelledOne = await lost();
      await queue.cancel(cancelledOne.job.id);
      assert.equal(await reclaim(cancelledOne), null);
    },
  },
  {
    name: "T-010 cancel() ends a waiting or running job, once",
    async run({ backend }) {
      const running = await backend.store.create(ask);
      const claim = await must(take(backend));
      const waiting = await backend.store.create(ask);
      for (const { id } of [running, waiting]) {
        const job = await must(backend.queue.cancel(id));
        assert.equal(job.status, "cancelled");
        assert.ok(job.completedAt);
        assert.deepEqual(await backend.store.get(id), job);
        assert.equal(await backend.queue.cancel(id), null);
      }
      assert.equal(await backend.queue.heartbeat(claim, LEASE_MS), false);
      assert.equal(await backend.queue.release(claim, done), null);
      assert.equal(await take(backend), null);
      assert.deepEqual(await backend.queue.recover(policy), []);
      assert.equal(await backend.queue.cancel("job_none"), null);
    },
  },
  {
    name: "T-008 a deleted job is not handed out",
    async run({ backend }) {
      const { id } = await backend.store.create(ask);
      const kept = await backend.store.create(ask);
      await backend.store.delete(id);
      assert.equal((await must(take(backend))).job.id, kept.id);
    },
  },
  {
    name: "T-001a one turn of a schedule is given once",
    async run({ backend: { queue } }) {
      assert.deepEqual(
        await Promise.all([queue.takeTurn("daily", 1000), queue.takeTurn("daily", 1000)]).then((all) =>
          all.filter(Boolean).length
        ),
        1,
      );
      assert.equal(await queue.takeTurn("other", 1000), true);
      assert.equal(await queue.takeTurn("daily", 999), false);
      assert.equal(await queue.takeTurn("daily", 1001), true);
    },
  },
];
