import assert from "node:assert/strict";
import { once } from "node:events";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { sqliteJobs } from "../../src/jobs/sqlite_jobs.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { createDice } from "../support/chance.ts";
import { runScript } from "../support/run_script.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { jobsStage } from "./jobs_stage.ts";

const HOST = new URL("fixtures/sqlite_host.ts", import.meta.url);
const JOBS = 500;
const { databases, ids } = await detectRuntime();
const dice = createDice();

/** Lets a host work on 500 jobs, kills it in the middle of them, and returns the file and what it had accepted. */
async function killedHost(t: TestContext): Promise<{ path: string; accepted: string[]; ran: Set<string> }> {
  const path = join(await scratchDir(t), "jobs.db");
  const killAt = 50 + dice.below(JOBS - 100);
  const host = runScript(HOST, [path, `${JOBS}`]);
  const gone = once(host, "close");
  const accepted: string[] = [];
  const ran = new Set<string>();
  for await (const line of createInterface(host.stdout!)) {
    const [what, id] = line.split(" ") as [string, string];
    if (what === "accepted") accepted.push(id);
    else ran.add(id);
    if (ran.size === killAt) process.kill(host.pid!, "SIGKILL");
  }
  await gone;
  assert.ok(ran.size >= killAt && ran.size < JOBS);
  return { path, accepted, ran };
}

for (const maxAttempts of [1, 2]) {
  const promise = maxAttempts === 1 ? "completed, failed or still queued" : "completed in the end";
  test(`T-008 sqlite: a host killed during 500 jobs: after a restart each is ${promise}, none is missing`, async (t) => {
    const { path, accepted, ran } = await killedHost(t);
    const clock = createFakeClock(Date.now() + 3_600_000); // The leases of the killed host have run out by now.
    const backend = sqliteJobs({ path, databases, clock, ids });
    const { jobs } = await jobsStage({ backend, clock, maxAttempts, work: false });
    const before = await jobs.list();
    const found = await jobs.work();
    assert.ok(found.length <= 8, "no more than ran at a time");
    const after = await jobs.list();
    assert.deepEqual(after.map(({ id }) => id), before.map(({ id }) => id));
    const all = new Set(after.map(({ id }) => id));
    assert.deepEqual(accepted.filter((id) => !all.has(id)), [], "none that was accepted is missing");
    assert.ok(after.every(({ status }) => status !== "running"));
    const kept = new Map(after.map(({ id, status }) => [id, status]));
    const lost = [...ran].filter((id) => kept.get(id) !== "completed");
    assert.ok(lost.length <= 8, "a run whose end was not yet written is found, not forgotten");

    jobs.agent("primary", () => "again");
    const ends = await Promise.all(after.map(({ id }) => jobs.finished(id)));
    const failed = ends.filter(({ status }) => status !== "completed");
    assert.equal(failed.length, maxAttempts === 1 ? found.length : 0);
    assert.ok(
      failed.every(({ status, error }) => status === "failed" && /process that ran the job ended/.test(error!)),
    );
    await jobs.stop();
  });
}
