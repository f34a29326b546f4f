import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { memoryJobs } from "../../src/jobs/sqlite_jobs.ts";
import type { Schedule } from "../../src/jobs/schedules.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { heldAgent, jobsStage, turn, until } from "./jobs_stage.ts";

const { ids } = await detectRuntime();
const HOUR_MS = 3_600_000;
const daily: Schedule = {
  cronId: "daily",
  agentName: "primary",
  input: "Report",
  pattern: "0 9 * * *",
  timezone: "UTC",
};
const executed = (heard: readonly { type: string }[]) => heard.filter(({ type }) => type === "cron:executed");

test("T-001a T-005 a schedule starts a job at its time and emits cron:executed with its outcome", async () => {
  const { jobs, clock, heard } = await jobsStage({ maxAttempts: 1 });
  const agent = heldAgent(jobs);
  const schedule = await jobs.schedule(daily);
  assert.equal(schedule.nextAt, "2026-01-01T09:00:00.000Z");
  clock.advance(9 * HOUR_MS - 1);
  await turn();
  assert.deepEqual(await jobs.list(), []);
  clock.advance(1);
  const run = await agent.next();
  assert.equal(schedule.nextAt, "2026-01-02T09:00:00.000Z");
  assert.deepEqual([run.context.input, run.context.jobId !== undefined], ["Report", true]);
  clock.advance(250);
  run.answer("done");
  await until(() => executed(heard).length === 1);
  assert.deepEqual(executed(heard), [{
    type: "cron:executed",
    cronId: "daily",
    agentName: "primary",
    executionId: run.context.jobId,
    status: "completed",
    duration: 250,
    timestamp: "2026-01-01T09:00:00.250Z",
  }]);
  clock.advance(24 * HOUR_MS - 250);
  (await agent.next()).fail("no");
  await until(() => executed(heard).length === 2);
  assert.equal((executed(heard)[1] as unknown as { status: string }).status, "failed");
});

test("T-001a a schedule follows its time zone", async () => {
  const { jobs } = await jobsStage();
  heldAgent(jobs);
  const { nextAt } = await jobs.schedule({ ...daily, timezone: "America/New_York" });
  assert.equal(nextAt, "2026-01-01T14:00:00.000Z");
});

test("T-001a a schedule that is stopped starts nothing more; its id is free again", async () => {
  const { jobs, clock } = await jobsStage();
  heldAgent(jobs);
  const schedule = await jobs.schedule(daily);
  await assert.rejects(jobs.schedule(daily), (error: { code: string }) => error.code === "jobs.schedule_duplicate");
  assert.deepEqual(jobs.schedules().map(({ cronId }) => cronId), ["daily"]);
  schedule.stop();
  assert.deepEqual([schedule.nextAt, jobs.schedules().length], [null, 0]);
  clock.advance(48 * HOUR_MS);
  await turn();
  assert.deepEqual(await jobs.list(), []);
  await jobs.schedule(daily);
});

test("T-001a a turn that comes while the one before runs is skipped, and that is said", async () => {
  const { jobs, clock, problems } = await jobsStage({ leaseMs: 96 * HOUR_MS });
  const agent = heldAgent(jobs);
  await jobs.schedule(daily);
  clock.advance(9 * HOUR_MS);
  const run = await agent.next();
  clock.advance(24 * HOUR_MS);
  await turn();
  assert.equal((await jobs.list()).length, 1);
  assert.match(String(problems[0]), /"daily" skips a turn/);
  run.answer("x");
  await jobs.finished(run.context.jobId!);
  await turn();
  clock.advance(24 * HOUR_MS);
  await agent.next();
});

test("T-001a processes that share a schedule start one job a turn", async () => {
  const clock = createFakeClock();
  const backend = memoryJobs({ clock, ids });
  const stages = [await jobsStage({ backend, clock }), await jobsStage({ backend, clock })];
  for (const { jobs } of stages) {
    jobs.agent("primary", () => "x");
    await jobs.schedule(daily);
  }
  clock.advance(9 * HOUR_MS);
  await until(() => stages.some(({ heard }) => executed(heard).length > 0));
  await turn();
  assert.equal((await stages[0]!.jobs.list()).length, 1);
  assert.equal(stages.reduce((sum, { heard }) => sum + executed(heard).length, 0), 1);
});

test("T-001a schedules that cannot be read are refused with the reason", async () => {
  const { jobs } = await jobsStage();
  heldAgent(jobs);
  const isInvalid = (error: { code: string; hint?: string }) => {
    assert.equal(error.code, "jobs.schedule_invalid");
    assert.match(error.hint!, /minute hour day month weekday/);
    return true;
  };
  for (const pattern of ["", "every day", "99 * * * *", "* * *"]) {
    await assert.rejects(jobs.schedule({ ...daily, pattern }), isInvalid, pattern);
  }
  await assert.rejects(jobs.schedule({ ...daily, timezone: "Mars/Base" }), isInvalid);
  const isCode = (code: string) => (error: { code: string }) => error.code === code;
  await assert.rejects(jobs.schedule({ ...daily, agentName: "nobody" }), isCode("jobs.agent_unknown"));
  await assert.rejects(jobs.schedule({ ...daily, cronId: "../x" }), isCode("jobs.id_invalid"));
  assert.deepEqual(jobs.schedules(), []);
});
