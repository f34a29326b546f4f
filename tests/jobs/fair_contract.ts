/**
 * What every place for jobs promises to several scopes, as cases that each run on a fresh one.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { ScopeRules } from "../../src/jobs/fair_turns.ts";
import type { JobBackend, JobClaim, JobOutcome } from "../../src/jobs/types.ts";
import type { Case } from "./backend_contract.ts";

const LEASE_MS = 60_000;
const again: JobOutcome = { status: "queued", delayMs: 60_000 };
const done: JobOutcome = { status: "failed", error: "x" };

/** Queues jobs by the names of their scopes, `-` for none; the input says which of its scope it is. */
async function queue({ store }: JobBackend, ...scopes: string[]): Promise<void> {
  const counts = new Map<string, number>();
  for (const scope of scopes) {
    const count = (counts.get(scope) ?? 0) + 1;
    counts.set(scope, count);
    const ask = { agentName: "primary", input: `${scope}${count}`, conversationId: "ses_1", status: "queued" } as const;
    await store.create(scope === "-" ? ask : { ...ask, scopeId: scope });
  }
}

const claim = (backend: JobBackend, scopes?: ScopeRules, worker = "w1"): Promise<JobClaim | null> =>
  backend.queue.claim({ worker, agents: ["other", "primary"], leaseMs: LEASE_MS, ...(scopes && { scopes }) });

/** Claims so many one after another; returns their inputs. */
async function claimed(backend: JobBackend, count: number, scopes?: ScopeRules): Promise<(string | null)[]> {
  const inputs: (string | null)[] = [];
  for (let n = 0; n < count; n++) inputs.push((await claim(backend, scopes))?.job.input ?? null);
  return inputs;
}

export const fairContract: readonly Case[] = [
  {
    name: "T-008 N-043 scopes take turns, and within a scope the oldest job is the first",
    async run({ backend }) {
      await queue(backend, "noisy", "noisy", "noisy", "noisy", "-", "small", "small");
      const order = ["-1", "noisy1", "small1", "noisy2", "small2", "noisy3", "noisy4", null];
      assert.deepEqual(await claimed(backend, 8), order);
    },
  },
  {
    name: "T-008 N-043 claims of one moment take turns too",
    async run({ backend }) {
      await queue(backend, "a", "a", "a", "a", "b", "b");
      const claims = await Promise.all(Array.from({ length: 4 }, () => claim(backend)));
      assert.deepEqual(claims.map((each) => each?.job.input).sort(), ["a1", "a2", "b1", "b2"]);
    },
  },
  {
    name:
      "T-008 N-043 a scope runs no more jobs at a time than it may, whoever asks; jobs without a scope are not counted",
    async run({ backend }) {
      const rules = { maxPerScope: 2 };
      await queue(backend, "a", "a", "a", "a", "-", "-", "-", "b");
      const claims = await Promise.all(Array.from({ length: 12 }, (_, at) => claim(backend, rules, `w${at}`)));
      const begun = claims.flatMap((each) => each ? [each] : []);
      assert.deepEqual(begun.map(({ job }) => job.input).sort(), ["-1", "-2", "-3", "a1", "a2", "b1"]);
      assert.deepEqual(await claimed(backend, 1, rules), [null]);
      await backend.queue.release(begun.find(({ job }) => job.input === "a1")!, done);
      assert.deepEqual(await claimed(backend, 2, rules), ["a3", null]);
      assert.deepEqual(await claimed(backend, 2), ["a4", null], "without rules there is no bound");
    },
  },
  {
    name: "T-008 N-043 a scope may have a bound and a weight of its own",
    async run({ backend }) {
      const limits = { big: { max: 5, weight: 2 }, idle: { max: 0 }, open: { max: Infinity } };
      const rules = { maxPerScope: 3, limits };
      await queue(backend, "big", "big", "big", "big", "big", "big", "idle", "small", "small", "small", "small");
      const order = ["big1", "big2", "small1", "big3", "big4", "small2", "big5", "small3", null];
      assert.deepEqual(await claimed(backend, 9, rules), order);
      await queue(backend, "open", "open", "open", "open");
      assert.deepEqual(await claimed(backend, 5, rules), ["open1", "open2", "open3", "open4", null]);
    },
  },
  {
    name: "T-008 N-043 a scope whose jobs all wait for their delay holds nobody up",
    async run({ backend, pass }) {
      await queue(backend, "a");
      await backend.queue.release((await claim(backend))!, again);
      await queue(backend, "a", "b");
      assert.deepEqual(await claimed(backend, 3), ["b1", "a1", null]);
      await pass(60_000);
      assert.deepEqual(await claimed(backend, 2), ["a1", null]);
    },
  },
];
