import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { fileJobs } from "../../src/jobs/file_jobs.ts";
import { memoryJobs, sqliteJobs } from "../../src/jobs/sqlite_jobs.ts";
import type { Job, JobBackend, JobOutcome, JobQueue, NewJob } from "../../src/jobs/types.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { heldAgent, jobsStage, until } from "./jobs_stage.ts";

const { files, databases, ids } = await detectRuntime();
const MIB = 1024 * 1024;
const request = { agentName: "primary", input: "x" };
const textOf = (stream: ReadableStream<Uint8Array>) => new Response(stream as BodyInit).text();

test("T-006 a record carries a result up to 1 MiB, and resultAside for a longer one; both are fetched whole", async () => {
  const { jobs, heard } = await jobsStage();
  jobs.agent("primary", ({ input }) => "x".repeat(Number(input)));
  for (const [size, isWhole] of [[5000, true], [MIB, true], [MIB + 1, false]] as const) {
    const { id } = await jobs.start({ ...request, input: `${size}` });
    const ended = await jobs.finished(id);
    const expected = isWhole
      ? { result: "x".repeat(size), resultAside: undefined }
      : { result: undefined, resultAside: { truncated: true, bytes: size } };
    for (const { result, resultAside } of [ended, await jobs.get(id), await jobs.find(id)]) {
      assert.deepEqual({ result, resultAside }, expected);
    }
    assert.equal((await textOf(await jobs.result(id))).length, size);
    for (const listed of [(await jobs.list()).at(-1)!, (await jobs.page()).jobs.at(-1)!]) {
      assert.deepEqual([listed.result, listed.resultAside], [undefined, { truncated: true, bytes: size }]);
    }
    const [asked] = (await jobs.page({ results: true, limit: 1 })).jobs;
    assert.deepEqual([asked!.result?.length, asked!.resultAside], [isWhole ? size : undefined, expected.resultAside]);
  }
  assert.equal((await jobs.list({ results: true })).filter(({ result }) => result !== undefined).length, 2);
  const ends = heard.flatMap((event) => event.type === "job:end" || event.type === "agent:end" ? [event.output] : []);
  assert.deepEqual(ends.map(({ length }) => length), [5000, 5000, MIB, MIB, MIB, MIB], "events carry 1 MiB at most");
  await jobs.stop();
});

test("T-006 results that are asked for in a list fill the page to 4 MiB, and the rest stay aside", async () => {
  const { jobs } = await jobsStage();
  jobs.agent("primary", () => "x".repeat(MIB));
  for (let at = 0; at < 6; at++) await jobs.finished((await jobs.start(request)).id);
  const { jobs: page, next } = await jobs.page({ results: true });
  assert.deepEqual([page.length, page.filter(({ result }) => result).length, next], [6, 3, null]);
  await jobs.stop();
});

test("T-006 inlineResultBytes and maxResultBytes are settings; bytes are counted, not characters", async () => {
  const { jobs } = await jobsStage({ inlineResultBytes: 10_000, maxResultBytes: 30_000 });
  jobs.agent("primary", ({ input }) => "€".repeat(Number(input)));
  const ended = async (count: number) => await jobs.finished((await jobs.start({ ...request, input: `${count}` })).id);
  assert.equal((await ended(3333)).result?.length, 3333);
  assert.deepEqual((await ended(3334)).resultAside, { truncated: true, bytes: 10_002 });
  assert.equal((await ended(10_000)).status, "completed");
  const { status, error, errorCode } = await ended(10_001);
  assert.deepEqual([status, errorCode], ["failed", "jobs.result_too_large"]);
  assert.match(error!, /has 30003 bytes, and a result may have 30000\. Let the agent write it to a file/);
  await jobs.stop();
  await assert.rejects(jobsStage({ maxResultBytes: 0 }), RangeError);
});

test("T-008 an answer of 300 MB fails its job and no other, with and without a job", async () => {
  const { jobs, problems, heard } = await jobsStage();
  jobs.agent("primary", ({ input }) => input === "big" ? "x".repeat(300_000_000) : "Hi");
  const [big, small] = await Promise.all(["big", "small"].map((input) => jobs.start({ ...request, input })));
  const { status, error, errorCode } = await jobs.finished(big!.id);
  assert.deepEqual([status, errorCode], ["failed", "jobs.result_too_large"]);
  assert.match(error!, /at least 300000000 bytes, and a result may have 67108864/);
  assert.equal((await jobs.finished(small!.id)).result, "Hi");
  await assert.rejects(jobs.run({ ...request, input: "big" }), { code: "jobs.result_too_large" });
  await assert.rejects(jobs.result(big!.id), { code: "jobs.result_missing", hint: "Read its error" });
  assert.deepEqual(problems, []);
  assert.deepEqual(
    heard.filter(({ type }) => type === "job:error" || type === "job:end").map(({ type }) => type).sort(),
    [
      "job:end",
      "job:error",
    ],
  );
  await jobs.stop();
});

test("T-008 a long error is cut, and an event that is too long costs its reader that event alone", async () => {
  const { jobs } = await jobsStage();
  jobs.agent("primary", ({ emit }) => {
    emit("text", "x".repeat(20_000_000));
    emit("text", "y");
    throw new Error("z".repeat(50_000_000));
  });
  const { id } = await jobs.start(request);
  const { error } = await jobs.finished(id);
  assert.equal(error, "z".repeat(16 * 1024));
  const events: string[] = [];
  for await (const { type, json } of await jobs.stream(id)) events.push(`${type} ${json.length}`);
  assert.deepEqual(events.slice(0, 2).map((event) => event.split(" ")[0]), ["lost", "text"]);
  await assert.rejects(jobs.start({ ...request, input: "x".repeat(17_000_000) }), { code: "jobs.input_invalid" });
  await jobs.stop();
});

/** A backend whose store takes everything but an answer. */
function refusing(backend: JobBackend, refuses: (outcome: JobOutcome) => boolean): JobBackend {
  const release: JobQueue["release"] = (claim, outcome) => {
    return refuses(outcome)
      ? Promise.reject(new Error("string or blob too big"))
      : backend.queue.release(claim, outcome);
  };
  return { ...backend, queue: { ...backend.queue, release } };
}

test("T-008 an answer that the store refuses fails its job, once heartbeats show that the store is there", async () => {
  const clock = createFakeClock();
  const backend = refusing(memoryJobs({ clock, ids }), ({ status }) => status === "completed");
  const { jobs, problems } = await jobsStage({ clock, backend, leaseMs: 15_000, pollMs: 1000 });
  const agent = heldAgent(jobs);
  const { id } = await jobs.start(request);
  (await agent.next()).answer("Hi");
  for (let refusals = 1; refusals <= 5; refusals++) {
    await until(() => problems.length === refusals);
    assert.equal((await jobs.get(id)).status, "running", "a store that is away may come back");
    clock.advance(1000);
  }
  await until(async () => {
    clock.advance(1000);
    return (await jobs.get(id)).status === "failed";
  });
  const { error, errorCode } = await jobs.finished(id);
  assert.deepEqual([error, errorCode], [
    "The answer could not be kept: string or blob too big",
    "jobs.result_not_kept",
  ]);
  await jobs.stop();
});

test("T-007 sqlite: a record with a long result of an earlier version is listed without it, and is read whole", async (t) => {
  const path = join(await scratchDir(t), "jobs.db");
  const open = () => sqliteJobs({ path, databases, clock: createFakeClock(), ids });
  const first = open();
  const made = await first.store.create({ agentName: "primary", input: "x", conversationId: "s", status: "completed" });
  await first.close();
  const earlier = databases.open(path);
  const old: Job = { ...made, result: "x".repeat(2 * MIB) };
  earlier.run("UPDATE jobs SET job = ?", [JSON.stringify(old)]);
  earlier.close();
  const { jobs } = await jobsStage({ backend: open() });
  const { jobs: [listed] } = await jobs.page();
  assert.deepEqual([listed!.result, listed!.resultAside?.bytes], [undefined, 2 * MIB]);
  assert.equal((await textOf(await jobs.result(made.id))).length, 2 * MIB);
  await jobs.delete(made.id);
  await jobs.stop();
});

test("T-007 sqlite: an earlier version that deletes a job removes its long result too", async (t) => {
  const path = join(await scratchDir(t), "jobs.db");
  const backend = sqliteJobs({ path, databases, clock: createFakeClock(), ids });
  const fields: NewJob = { agentName: "primary", input: "x", conversationId: "s", status: "completed" };
  await backend.store.create({ ...fields, result: "x".repeat(10_000) });
  const earlier = databases.open(path);
  assert.deepEqual(earlier.prepare("SELECT count(*) FROM results").allNumbers([]), [[1]]);
  assert.equal(earlier.run("DELETE FROM jobs"), 1);
  assert.deepEqual(earlier.prepare("SELECT count(*) FROM results").allNumbers([]), [[0]]);
  earlier.close();
  await backend.close();
});

test("T-007 files: results without a record are removed with the next jobs that are forgotten", async (t) => {
  const dataDir = await scratchDir(t);
  const { store, queue } = await fileJobs({ dataDir, files, clock: createFakeClock(), ids });
  const fields: NewJob = { agentName: "primary", input: "x", conversationId: "s", status: "completed" };
  const [gone, kept] = [
    await store.create({ ...fields, result: "x".repeat(10_000) }),
    await store.create({ ...fields, result: "x".repeat(10_000) }),
  ];
  await files.remove(join(dataDir, "jobs", `${gone.id}.json`)); // Killed before the result was removed.
  await queue.forget({ maxAgeMs: Infinity, maxFinished: Infinity, batch: 10 });
  assert.deepEqual(await readdir(join(dataDir, "jobs/.results")), [`${kept.id}.txt`]);
});
