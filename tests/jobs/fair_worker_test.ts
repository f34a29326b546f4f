import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { memoryJobs } from "../../src/jobs/sqlite_jobs.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { untilSettled } from "../support/until.ts";
import { heldAgent, jobsStage, turn } from "./jobs_stage.ts";

test("N-043 a scope alone leaves one place of a worker free, and the next tenant has it at once", async () => {
  const { jobs, clock } = await jobsStage({ concurrency: 3 });
  const agent = heldAgent(jobs);
  for (let n = 0; n < 5; n++) await jobs.start({ agentName: "primary", input: `${n}`, scopeId: "noisy" });
  const noisy = [await agent.next(), await agent.next()];
  for (let n = 0; n < 20; n++) await turn();
  const list = async (status: "running" | "queued") => (await jobs.list({ scopeId: "noisy", status })).length;
  assert.deepEqual([await list("running"), await list("queued")], [2, 3]);
  await jobs.start({ agentName: "primary", input: "small", scopeId: "small" });
  assert.equal((await agent.next()).context.input, "small");
  noisy[0]!.answer("done");
  assert.equal((await agent.next()).context.input, "2", "the oldest that waits");
  await untilSettled(jobs.stop(), "the stop", { meanwhile: () => clock.advance(5000) });
});

test("N-043 a scope alone uses the other places of every worker of a store", async () => {
  const clock = createFakeClock();
  const { ids } = await detectRuntime();
  const shared = memoryJobs({ clock, ids });
  const given = { clock, backend: { ...shared, close: () => Promise.resolve() }, concurrency: 3 };
  const { jobs } = await jobsStage(given);
  const { jobs: others } = await jobsStage(given);
  const agents = [heldAgent(jobs), heldAgent(others)];
  for (let n = 0; n < 6; n++) await jobs.start({ agentName: "primary", input: `${n}`, scopeId: "only" });
  clock.advance(1000); // The second looks for the jobs of the first.
  for (const agent of agents) for (let n = 0; n < 2; n++) await agent.next();
  for (let n = 0; n < 20; n++) await turn();
  assert.equal((await jobs.list({ scopeId: "only", status: "queued" })).length, 2);
  for (const one of [jobs, others]) {
    await untilSettled(one.stop(), "the stop", { meanwhile: () => clock.advance(5000) });
  }
  await shared.close();
});

test("N-043 scopes take turns for the one place of a worker; maxPerScope and scopeLimits reach the queue", async () => {
  const { jobs } = await jobsStage({ concurrency: 1, work: false, maxPerScope: 1, scopeLimits: { shut: { max: 0 } } });
  const agent = heldAgent(jobs);
  for (const scopeId of ["noisy", "noisy", "noisy", "shut", "small", "small"]) {
    await jobs.start({ agentName: "primary", input: scopeId, scopeId });
  }
  await jobs.work();
  const order: string[] = [];
  for (let n = 0; n < 5; n++) {
    const run = await agent.next();
    order.push(run.context.input);
    run.answer("done");
  }
  assert.deepEqual(order, ["noisy", "small", "noisy", "small", "noisy"]);
  await jobs.stop();
});
