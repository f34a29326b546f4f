import assert from "node:assert/strict";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { JobFilter } from "../../src/jobs/jobs.ts";
import { memoryJobs } from "../../src/jobs/sqlite_jobs.ts";
import type { JobBackend } from "../../src/jobs/types.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { heldAgent, jobsStage, turn, until } from "./jobs_stage.ts";

const { ids } = await detectRuntime();
const AT = "2026-01-01T00:00:00.000Z";
const ask = { agentName: "primary", input: "Hello", conversationId: "ses_1" };
const usage = { promptTokens: 3, completionTokens: 4, totalTokens: 7 };
const isCode = (code: string) => (error: { code?: string }): boolean => error.code === code;

test("T-006 T-008 a job is queued, announced, run in the background, and ends with job:end and agent:end", async () => {
  const { jobs, clock, heard } = await jobsStage();
  const agent = heldAgent(jobs);
  const queued = await jobs.start(ask);
  assert.deepEqual(queued, { ...ask, id: queued.id, status: "queued", createdAt: AT });
  const { id: jobId } = queued;
  const run = await agent.next();
  assert.equal((await jobs.get(jobId)).status, "running");
  const { signal: _signal, emit: _emit, ...context } = run.context;
  assert.deepEqual(context, { ...ask, jobId, attempt: 1 });
  clock.advance(40);
  run.answer("Hi");
  const done = await jobs.finished(jobId);
  const none = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  const end = "2026-01-01T00:00:00.040Z";
  const result = { result: "Hi", usage: none, toolsUsed: [] };
  assert.deepEqual(done, { ...queued, status: "completed", startedAt: AT, completedAt: end, ...result });
  await turn();
  const run1 = { agentName: "primary", input: "Hello", conversationId: "ses_1", jobId };
  assert.deepEqual(heard, [
    { type: "job:start", ...run1, timestamp: AT },
    { type: "agent:start", ...run1, timestamp: AT },
    { type: "job:end", jobId, agentName: "primary", output: "Hi", duration: 40, usage: none, timestamp: end },
    { type: "agent:end", ...run1, output: "Hi", toolsUsed: [], usage: none, duration: 40, timestamp: end },
  ]);
});

test("T-005 an answer may carry its usage; the record and the events have it", async () => {
  const { jobs, heard } = await jobsStage();
  jobs.agent("primary", () => ({ output: "Hi", usage, toolsUsed: ["memory.recall"] }));
  const { id } = await jobs.start({ ...ask, scopeId: "acme" });
  const job = await jobs.finished(id, "acme");
  assert.deepEqual([job.usage, job.toolsUsed, job.scopeId], [usage, ["memory.recall"], "acme"]);
  await turn();
  const end = heard.find(({ type }) => type === "agent:end")!;
  assert.deepEqual([(end as { scopeId?: string }).scopeId, (end as { usage?: unknown }).usage], ["acme", usage]);
});

test("X-20 a run that throws fails its job: agent:error with the job's id, then job:error", async () => {
  const { jobs, heard } = await jobsStage();
  jobs.agent("primary", () => {
    throw new Error("rate limit");
  });
  const { id } = await jobs.start(ask);
  const job = await jobs.finished(id);
  assert.deepEqual([job.status, job.error, job.completedAt], ["failed", "rate limit", AT]);
  await turn();
  assert.deepEqual(heard.map(({ type }) => type), ["job:start", "agent:start", "agent:error", "job:error"]);
  const [, , agentError, jobError] = heard as { jobId?: string; error?: string }[];
  assert.deepEqual([agentError!.jobId, agentError!.error], [id, "rate limit"]);
  assert.deepEqual([jobError!.jobId, jobError!.error], [id, "rate limit"]);
});

test("T-008 an answer of the wrong type fails the job with the reason", async () => {
  const { jobs } = await jobsStage();
  jobs.agent("primary", () => 42 as unknown as string);
  const { id } = await jobs.start(ask);
  assert.match((await jobs.finished(id)).error!, /neither a text nor/);
});

test("T-015 the cost of each agent is counted from events alone", async () => {
  const { jobs, heard } = await jobsStage();
  jobs.agent("primary", () => ({ output: "x", usage }));
  jobs.agent("cheap", () => "x");
  for (const agentName of ["primary", "cheap", "primary"]) {
    await jobs.finished((await jobs.start({ ...ask, agentName })).id);
  }
  await turn();
  const tokens: Record<string, number> = {};
  for (const event of heard) {
    if (event.type === "agent:end") tokens[event.agentName] = (tokens[event.agentName] ?? 0) + event.usage.totalTokens;
  }
  assert.deepEqual(tokens, { primary: 14, cheap: 0 });
});

test("T-003 without events everything runs and nothing is emitted", async () => {
  const { jobs, heard } = await jobsStage({ events: null });
  jobs.agent("primary", () => "Hi");
  const { id } = await jobs.start(ask);
  assert.equal((await jobs.finished(id)).result, "Hi");
  await jobs.cancel((await jobs.start(ask)).id).catch(() => {});
  assert.deepEqual(heard, []);
});

test("T-010 cancel aborts the run for real, and its answer no longer counts", async () => {
  const { jobs, clock, heard } = await jobsStage();
  const agent = heldAgent(jobs);
  const { id } = await jobs.start(ask);
  const { context, answer } = await agent.next();
  clock.advance(30);
  assert.equal((await jobs.cancel(id)).status, "cancelled");
  assert.equal(context.signal.aborted, true);
  answer("too late");
  await turn();
  const job = await jobs.get(id);
  assert.deepEqual([job.status, job.result], ["cancelled", undefined]);
  assert.deepEqual(heard.map(({ type }) => type), ["job:start", "agent:start", "job:cancelled"]);
  assert.deepEqual(heard[2], {
    type: "job:cancelled",
    jobId: id,
    agentName: "primary",
    duration: 30,
    timestamp: "2026-01-01T00:00:00.030Z",
  });
});

test("T-010 a queued job can be cancelled; it never runs", async () => {
  const { jobs, clock } = await jobsStage({ concurrency: 1 });
  const agent = heldAgent(jobs);
  await jobs.start(ask);
  const first = await agent.next();
  const { id } = await jobs.start(ask);
  clock.advance(10);
  await jobs.cancel(id);
  first.answer("one");
  const { id: third } = await jobs.start(ask);
  assert.equal((await agent.next()).context.jobId, third);
});

test("T-010 cancel, delete and get reject with the reason", async () => {
  const { jobs } = await jobsStage();
  const agent = heldAgent(jobs);
  const { id } = await jobs.start(ask);
  await assert.rejects(jobs.delete(id), isCode("jobs.not_finished"));
  (await agent.next()).answer("x");
  await jobs.finished(id);
  await assert.rejects(jobs.cancel(id), isCode("jobs.finished"));
  await assert.rejects(jobs.cancel(id, "acme"), isCode("jobs.unknown"));
  await jobs.delete(id);
  for (const call of [jobs.get(id), jobs.delete(id), jobs.cancel(id), jobs.stream(id), jobs.finished(id)]) {
    await assert.rejects(call, isCode("jobs.unknown"));
  }
});

test("T-010 list filters by status and agent, within a scope", async () => {
  const { jobs } = await jobsStage({ work: false, remoteAgents: ["other"] });
  jobs.agent("primary", () => "x");
  const one = await jobs.start(ask);
  const two = await jobs.start({ ...ask, agentName: "other" });
  await jobs.start({ ...ask, scopeId: "acme" });
  await jobs.cancel(two.id);
  const ids = async (filter: object) => (await jobs.list(filter)).map(({ id }) => id);
  assert.deepEqual(await ids({}), [one.id, two.id]);
  assert.deepEqual(await ids({ status: "queued" }), [one.id]);
  assert.deepEqual(await ids({ agentName: "other" }), [two.id]);
  assert.deepEqual(await ids({ agentName: "other", status: "queued" }), []);
  assert.equal((await ids({ scopeId: "acme" })).length, 1);
});

test("T-008 bad requests are refused before anything is kept", async () => {
  const { jobs, heard } = await jobsStage();
  jobs.agent("primary", () => "x");
  await assert.rejects(jobs.start({ ...ask, agentName: "nobody" }), (error: { code: string; hint: string }) => {
    assert.deepEqual([error.code, error.hint], ["jobs.agent_unknown", "There are: primary"]);
    return true;
  });
  await assert.rejects(jobs.start({ ...ask, input: 7 as unknown as string }), isCode("jobs.input_invalid"));
  await assert.rejects(jobs.start({ ...ask, conversationId: "" }), isCode("jobs.input_invalid"));
  await assert.rejects(jobs.start({ ...ask, scopeId: "../x" }), isCode("jobs.id_invalid"));
  assert.throws(() => jobs.agent("primary", () => "y"), isCode("jobs.agent_duplicate"));
  assert.throws(() => jobs.agent("a/b", () => "y"), isCode("jobs.id_invalid"));
  assert.deepEqual(await jobs.list(), []);
  await turn();
  assert.deepEqual(heard, []);
});

test("T-008 so many jobs run at a time, the rest wait in order", async () => {
  const { jobs } = await jobsStage({ concurrency: 2 });
  const agent = heldAgent(jobs);
  const started = await Promise.all([1, 2, 3, 4].map((n) => jobs.start({ ...ask, input: `${n}` })));
  const [one, two] = [await agent.next(), await agent.next()];
  await turn();
  assert.deepEqual((await jobs.list({ status: "queued" })).map(({ input }) => input), ["3", "4"]);
  two.answer("b");
  const three = await agent.next();
  assert.equal(three.context.input, "3");
  one.answer("a");
  three.answer("c");
  (await agent.next()).answer("d");
  assert.deepEqual((await Promise.all(started.map(({ id }) => jobs.finished(id)))).map(({ result }) => result), [
    "a",
    "b",
    "c",
    "d",
  ]);
});

test("T-011 waitUntil gets the work of each job, which settles when the job has ended", async () => {
  const works: Promise<unknown>[] = [];
  const { jobs } = await jobsStage({ waitUntil: (work) => works.push(work) });
  const agent = heldAgent(jobs);
  const { id } = await jobs.start(ask);
  assert.equal(works.length, 1);
  let isDone = false;
  void works[0]!.then(() => isDone = true);
  const run = await agent.next();
  await turn();
  assert.equal(isDone, false);
  run.answer("x");
  await works[0];
  assert.equal((await jobs.get(id)).status, "completed");
});

test("T-008 a process that does not work only queues; one that works takes the jobs that others queued", async () => {
  const clock = createFakeClock();
  const backend = memoryJobs({ clock, ids });
  const front = await jobsStage({ backend, clock, work: false, remoteAgents: ["primary"] });
  const back = await jobsStage({ backend, clock });
  back.jobs.agent("primary", () => "Hi");
  const { id } = await front.jobs.start(ask);
  await turn();
  assert.equal((await front.jobs.get(id)).status, "queued");
  clock.advance(1000); // The worker looks once a second.
  await until(async () => (await back.jobs.get(id)).status === "completed");
  await assert.rejects(front.jobs.run(ask), isCode("jobs.agent_unknown"));
});

test("T-009 T-010 a job that runs in another process can be followed to its end and cancelled", async () => {
  const clock = createFakeClock();
  const backend = memoryJobs({ clock, ids });
  const front = await jobsStage({ backend, clock, work: false, remoteAgents: ["primary"] });
  const back = await jobsStage({ backend, clock });
  const agent = heldAgent(back.jobs);
  const { id } = await front.jobs.start(ask);
  clock.advance(1000);
  const { context } = await agent.next();
  const seen: string[] = [];
  const following = (async () => {
    for await (const { type } of await front.jobs.stream(id)) seen.push(type);
  })();
  await turn();
  await front.jobs.cancel(id);
  await following;
  assert.deepEqual(seen, ["lost", "done"]);
  assert.equal(context.signal.aborted, false);
  clock.advance(5000); // The other process learns of it by its next heartbeat.
  await until(() => context.signal.aborted);
  await turn();
  assert.deepEqual(back.heard.map(({ type }) => type), ["agent:start"]);
  assert.deepEqual(front.heard.map(({ type }) => type), ["job:start", "job:cancelled"]);
});

test("T-008 jobs of a process that died are found at the start and have failed, with their events", async () => {
  const clock = createFakeClock();
  const backend = memoryJobs({ clock, ids });
  await backend.store.create({ ...ask, status: "queued" });
  await backend.queue.claim({ worker: "dead", agents: ["primary"], leaseMs: 1000 });
  clock.advance(1000);
  const { jobs, heard } = await jobsStage({ backend, clock, work: false });
  jobs.agent("primary", () => "again");
  const [found] = await jobs.work();
  assert.equal(found?.status, "failed");
  assert.match(found!.error!, /process that ran the job ended/);
  await turn();
  assert.deepEqual(heard.map(({ type }) => type), ["agent:error", "job:error"]);
});

test("T-008 with attempts left, jobs of a process that dies later are run again", async () => {
  const clock = createFakeClock();
  const backend = memoryJobs({ clock, ids });
  const { jobs } = await jobsStage({ backend, clock, maxAttempts: 2 });
  const { id } = await backend.store.create({ ...ask, status: "queued" });
  await backend.queue.claim({ worker: "dead", agents: ["primary"], leaseMs: 1000 });
  const agent = heldAgent(jobs);
  for (let at = 0; at < 3; at++) {
    clock.advance(5000);
    await turn();
  }
  const run = await agent.next();
  assert.deepEqual([run.context.jobId, run.context.attempt], [id, 2]);
  run.answer("x");
  assert.equal((await jobs.finished(id)).status, "completed");
});

test("T-008 a run that fails is begun again when that is wanted, later each time, until its attempts are used up", async () => {
  const { jobs, clock, heard } = await jobsStage({ maxAttempts: 3, retryErrors: true, retryDelayMs: 1000 });
  const agent = heldAgent(jobs);
  const { id } = await jobs.start(ask);
  for (const [attempt, delayMs] of [[1, 1000], [2, 2000]] as const) {
    const run = await agent.next();
    assert.equal(run.context.attempt, attempt);
    run.fail("no");
    await until(async () => (await jobs.get(id)).status === "queued");
    clock.advance(delayMs - 1);
    await turn();
    assert.equal((await jobs.get(id)).status, "queued");
    clock.advance(1000);
  }
  (await agent.next()).fail("never");
  assert.equal((await jobs.finished(id)).error, "never");
  await turn();
  const types = heard.map(({ type }) => type).filter((type) => type !== "agent:start");
  assert.deepEqual(types, ["job:start", "agent:error", "agent:error", "agent:error", "job:error"]);
});

test("T-008 heartbeats keep a long run's lease, three in its span", async () => {
  const { jobs, clock } = await jobsStage({ leaseMs: 15_000 });
  const agent = heldAgent(jobs);
  const { id } = await jobs.start(ask);
  const run = await agent.next();
  for (let at = 0; at < 12; at++) {
    clock.advance(5000);
    await turn();
    await turn();
  }
  assert.equal(run.context.signal.aborted, false);
  run.answer("x");
  assert.equal((await jobs.finished(id)).status, "completed");
});

test("T-008 a store that does not answer a heartbeat costs the lease, not the rule", async () => {
  const clock = createFakeClock();
  const inner = memoryJobs({ clock, ids });
  const backend = { ...inner, queue: { ...inner.queue, heartbeat: () => new Promise<boolean>(() => {}) } };
  const { jobs } = await jobsStage({ backend, clock, leaseMs: 15_000 });
  const agent = heldAgent(jobs);
  await jobs.start(ask);
  const { context } = await agent.next();
  clock.advance(5000);
  clock.advance(5000);
  await until(() => context.signal.aborted);
});

test("T-008 a job that is claimed while the worker stops is given back", async () => {
  const clock = createFakeClock();
  const inner = memoryJobs({ clock, ids });
  let hand = (): void => {};
  const claim: typeof inner.queue.claim = async (request) => {
    await new Promise<void>((resolve) => hand = resolve);
    return await inner.queue.claim(request);
  };
  const backend = { store: inner.store, queue: { ...inner.queue, claim }, close: () => Promise.resolve() };
  const { jobs } = await jobsStage({ backend, clock, maxAttempts: 2 });
  jobs.agent("primary", () => new Promise(() => {}));
  const { id } = await jobs.start(ask);
  const stopping = jobs.stop({ graceMs: 7000 });
  hand();
  await until(() => clock.isDueIn(7000));
  clock.advance(7000);
  await stopping;
  assert.equal((await inner.store.get(id))?.status, "queued");
});

test("T-009 stopping the jobs ends every reader, and rejects those who wait for an end", async () => {
  const { jobs, clock } = await jobsStage({ maxAttempts: 2 });
  const agent = heldAgent(jobs);
  const { id } = await jobs.start(ask);
  (await agent.next()).context.emit("text", "a");
  const seen: string[] = [];
  const reading = (async () => {
    for await (const { type } of await jobs.stream(id)) seen.push(type);
  })();
  const waiting = assert.rejects(jobs.finished(id), isCode("jobs.stopped"));
  await turn();
  const stopping = jobs.stop({ graceMs: 1 });
  await until(() => clock.isDueIn(1));
  clock.advance(1);
  await stopping;
  await reading;
  await waiting;
  assert.deepEqual(seen, ["text"], "it has not come to its end");
});

test("T-008 jobs that were stopped take nothing more: no start, run, reader or schedule, and no timer is left", async () => {
  const { jobs, clock } = await jobsStage();
  jobs.agent("primary", () => "x");
  const { id } = await jobs.start(ask);
  await jobs.finished(id);
  await jobs.stop();
  const calls = {
    start: () => jobs.start(ask),
    run: () => jobs.run(ask),
    stream: () => jobs.stream(id),
    finished: () => jobs.finished(id),
    schedule: () => jobs.schedule({ ...ask, cronId: "daily", pattern: "0 9 * * *" }),
    work: () => jobs.work(),
  };
  for (const [name, call] of Object.entries(calls)) await assert.rejects(call(), isCode("jobs.stopped"), name);
  assert.equal(clock.waiting, 0);
});

test("T-008 settings with which nothing would run are refused", async () => {
  const scoped = [{ max: -1 }, { max: 1.5 }, { weight: 0 }, { weight: Infinity }].map((acme) => ({
    scopeLimits: { acme },
  }));
  const scopes = [{ maxPerScope: 0 }, { maxPerScope: 1.5 }, ...scoped];
  const others = [{ leaseMs: -1 }, { pollMs: NaN }, { maxAttempts: 0 }, { maxFinished: -1 }];
  for (const bad of [{ concurrency: 0 }, ...others, ...scopes]) {
    await assert.rejects(jobsStage(bad), RangeError);
  }
});

/** Queues as they are beneath those that fail. */
const beneath = new WeakMap<JobBackend, JobBackend["queue"]>();
const memoryOf = (backend: JobBackend): JobBackend["queue"] => beneath.get(backend)!;

/** A backend whose queue fails while `isAway`. */
function flaky(clock = createFakeClock()): { backend: JobBackend; away: { isAway: boolean }; clock: typeof clock } {
  const inner = memoryJobs({ clock, ids });
  const away = { isAway: false };
  const queue = Object.fromEntries(
    Object.entries(inner.queue).map(([name, call]) => [name, (...args: unknown[]) => {
      return away.isAway ? Promise.reject(new Error("away")) : (call as (...args: unknown[]) => unknown)(...args);
    }]),
  ) as unknown as JobBackend["queue"];
  const backend = { ...inner, queue };
  beneath.set(backend, inner.queue);
  return { backend, away, clock };
}

test("T-008 a store that is away is asked again: the answer is not lost", async () => {
  const { backend, away, clock } = flaky();
  const { jobs, problems } = await jobsStage({ backend, clock });
  const agent = heldAgent(jobs);
  const { id } = await jobs.start(ask);
  const run = await agent.next();
  away.isAway = true;
  run.answer("kept");
  await until(() => problems.length > 0);
  away.isAway = false;
  clock.advance(1000);
  assert.equal((await jobs.finished(id)).result, "kept");
});

test("T-008 a run that ended while the store was away keeps its answer, unless another worker began the job", async () => {
  for (const maxAttempts of [1, 2]) {
    const { backend, away, clock } = flaky();
    const { jobs } = await jobsStage({ backend, clock, leaseMs: 15_000, maxAttempts });
    const agent = heldAgent(jobs);
    const { id } = await jobs.start(ask);
    const run = await agent.next();
    away.isAway = true;
    run.answer("kept");
    await turn();
    clock.advance(16_000);
    // Another process finds the lease that has run out before this one can say that its run has ended.
    const inner = memoryOf(backend);
    const policy = { maxAttempts, error: "The process that ran the job ended, or could not say that it lives" };
    assert.equal((await inner.recover(policy))[0]?.id, id);
    const isTaken = maxAttempts === 2;
    if (isTaken) assert.equal((await inner.claim({ worker: "w", agents: ["primary"], leaseMs: 1000 }))?.job.id, id);
    away.isAway = false;
    clock.advance(isTaken ? 500 : 5000);
    await until(async () => {
      clock.advance(1);
      return isTaken || (await jobs.get(id)).status === "completed";
    });
    const { status, result, error } = await jobs.get(id);
    assert.deepEqual(
      [status, result, error],
      isTaken ? ["running", undefined, undefined] : ["completed", "kept", undefined],
    );
  }
});

test("T-008 a worker that cannot renew its lease aborts its run before another may have it", async () => {
  const { backend, away, clock } = flaky();
  const { jobs } = await jobsStage({ backend, clock, leaseMs: 15_000 });
  const agent = heldAgent(jobs);
  await jobs.start(ask);
  const { context } = await agent.next();
  away.isAway = true;
  clock.advance(5000);
  await turn();
  assert.equal(context.signal.aborted, false);
  clock.advance(5000);
  await until(() => context.signal.aborted);
  assert.ok(clock.now() < Date.UTC(2026, 0, 1) + 15_000);
});

test("T-008 stop waits for running jobs, then aborts them: failed, or queued again when they may be", async () => {
  for (const [maxAttempts, status] of [[1, "failed"], [2, "queued"]] as const) {
    const clock = createFakeClock();
    const backend = { ...memoryJobs({ clock, ids }), close: () => Promise.resolve() };
    const { jobs } = await jobsStage({ backend, clock, maxAttempts });
    const agent = heldAgent(jobs);
    const [quick, slow] = [await jobs.start(ask), await jobs.start(ask)];
    const [first, second] = [await agent.next(), await agent.next()];
    const stopping = jobs.stop({ graceMs: 5000 });
    first.answer("in time");
    await turn();
    assert.equal(second.context.signal.aborted, false);
    clock.advance(5000);
    await stopping;
    assert.equal(second.context.signal.aborted, true);
    assert.equal((await backend.store.get(quick.id))?.status, "completed");
    assert.equal((await backend.store.get(slow.id))?.status, status);
    await assert.rejects(jobs.start(ask), isCode("jobs.stopped"));
    await assert.rejects(jobs.work(), isCode("jobs.stopped"));
    assert.equal(clock.waiting, 0);
  }
});

test("T-005 a run without a job emits agent:start and agent:end or agent:error, and keeps no record", async () => {
  const { jobs, heard } = await jobsStage();
  jobs.agent("primary", ({ input, emit }) => {
    emit("text", input);
    if (input === "fail") throw new Error("no");
    return `${input}!`;
  });
  const told: unknown[] = [];
  const result = await jobs.run(ask, { emit: (...event) => told.push(event) });
  const none = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  assert.deepEqual(result, { output: "Hello!", usage: none, toolsUsed: [], conversationId: "ses_1" });
  assert.deepEqual(told, [["text", "Hello"]]);
  await assert.rejects(jobs.run({ ...ask, input: "fail" }), (error: { code: string; message: string }) => {
    assert.deepEqual([error.code, error.message], ["jobs.run_failed", "no"]);
    return true;
  });
  await turn();
  assert.deepEqual(heard.map(({ type }) => type), ["agent:start", "agent:end", "agent:start", "agent:error"]);
  assert.ok(heard.every((event) => !("jobId" in event)));
  assert.deepEqual(await jobs.list(), []);
});

test("T-009 the events of a finished job are kept for a grace after its last reader, then they are gone", async () => {
  const { jobs, clock } = await jobsStage({ eventGraceMs: 60_000 });
  jobs.agent("primary", ({ emit }) => {
    emit("text", "a");
    return "x";
  });
  const { id } = await jobs.start(ask);
  const types = async () => {
    const seen: string[] = [];
    for await (const { type } of await jobs.stream(id)) seen.push(type);
    return seen;
  };
  assert.deepEqual(await types(), ["text", "done"]);
  clock.advance(59_999);
  assert.deepEqual(await types(), ["text", "done"]);
  clock.advance(59_999);
  assert.deepEqual(await types(), ["text", "done"]);
  clock.advance(60_000);
  assert.deepEqual(await types(), ["lost", "done"]);
});

test("T-009 finished jobs without readers leave nothing in memory after the grace", async () => {
  const { jobs, clock } = await jobsStage();
  jobs.agent("primary", () => "x");
  const started = await Promise.all(Array.from({ length: 50 }, () => jobs.start(ask)));
  await Promise.all(started.map(({ id }) => jobs.finished(id)));
  assert.ok(clock.waiting >= 50);
  clock.advance(60_000);
  await turn();
  assert.ok(clock.waiting <= 3, `${clock.waiting} timers wait: to poll, to beat, to forget`);
});

test("T-009 a job that waits to be begun again keeps no events without a reader", async () => {
  const { jobs } = await jobsStage({ maxAttempts: 2, retryErrors: true });
  const agent = heldAgent(jobs);
  const { id } = await jobs.start(ask);
  const run = await agent.next();
  run.context.emit("text", "a");
  run.fail("no");
  await until(async () => (await jobs.get(id)).status === "queued");
  await turn();
  const reader = await jobs.stream(id);
  assert.deepEqual(reader.ready(10), []);
  await reader.return();
});

test("T-008 job:start is emitted before agent:start, also where a store hands a job out before create() resolves", async () => {
  const clock = createFakeClock();
  const backend = memoryJobs({ clock, ids });
  let confirm = (): void => {};
  const create: JobBackend["store"]["create"] = async (job) => {
    const created = await backend.store.create(job);
    await new Promise<void>((resolve) => confirm = resolve);
    return created;
  };
  const { jobs, heard } = await jobsStage({ clock, backend: { ...backend, store: { ...backend.store, create } } });
  jobs.agent("primary", () => "x");
  const starting = jobs.start(ask);
  await turn();
  clock.advance(1000); // The worker looks, and finds it.
  await until(async () => (await backend.store.list())[0]?.status === "running");
  await turn();
  assert.deepEqual(heard.map(({ type }) => type), []);
  confirm();
  await jobs.finished((await starting).id);
  await turn();
  assert.deepEqual(heard.map(({ type }) => type), ["job:start", "agent:start", "job:end", "agent:end"]);
});

test("T-010 finished jobs are forgotten after 30 days, looked for at the start and every hour, the oldest beyond a number too", async () => {
  const DAY_MS = 86_400_000;
  const { jobs, clock } = await jobsStage({ maxFinished: 3, leaseMs: 100 * DAY_MS, pollMs: 100 * DAY_MS });
  jobs.agent("primary", ({ input }) => input);
  const run = async (input: string) => await jobs.finished((await jobs.start({ ...ask, input })).id);
  for (const input of ["a", "b", "c", "d", "e"]) {
    await run(input);
    clock.advance(1);
  }
  const kept = async () => (await jobs.list()).map(({ input }) => input);
  assert.deepEqual(await kept(), ["a", "b", "c", "d", "e"]);
  clock.advance(3600_000);
  await turn();
  assert.deepEqual(await kept(), ["c", "d", "e"]);
  const pass = async (ms: number) => {
    clock.advance(ms);
    await turn();
    clock.advance(3600_000);
    await turn();
  };
  await pass(29 * DAY_MS);
  assert.deepEqual(await kept(), ["c", "d", "e"]);
  await run("f");
  await pass(1 * DAY_MS);
  assert.deepEqual(await kept(), ["f"]);
  await jobs.stop();
  assert.equal(clock.isDueIn(3600_000), false);
});

test("T-010 list gives pages; a store that knows none is paged here", async () => {
  const clock = createFakeClock();
  const backend = memoryJobs({ clock, ids });
  const list: JobBackend["store"]["list"] = (scopeId) => backend.store.list(scopeId);
  for (const store of [backend.store, { ...backend.store, list }]) {
    const { jobs } = await jobsStage({ clock, backend: { ...backend, store }, work: false, remoteAgents: ["a", "b"] });
    for (const existing of await jobs.list()) await backend.store.delete(existing.id);
    for (const [at, agentName] of ["a", "a", "b", "a"].entries()) await jobs.start({ agentName, input: `${at}` });
    const listed = async (filter: JobFilter) => (await jobs.list(filter)).map(({ input }) => input);
    const [, second, third] = await jobs.list();
    assert.deepEqual(await listed({ limit: 2 }), ["2", "3"]);
    assert.deepEqual(await listed({ limit: 1, agentName: "a", before: third!.id }), ["1"]);
    assert.deepEqual(await listed({ before: second!.id }), ["0"]);
    await assert.rejects(jobs.list({ before: "job_none" }), { code: "jobs.unknown" });
    for (const limit of [0, -1, 1.5, NaN]) await assert.rejects(jobs.list({ limit }), RangeError);
  }
});
