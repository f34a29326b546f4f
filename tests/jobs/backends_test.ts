import assert from "node:assert/strict";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createJobs } from "../../src/jobs/create_jobs.ts";
import { fileJobs } from "../../src/jobs/file_jobs.ts";
import { memoryJobs, sqliteJobs } from "../../src/jobs/sqlite_jobs.ts";
import type { DatabaseOpener } from "../../src/core/ports/ports.ts";
import type { JobBackend, NewJob } from "../../src/jobs/types.ts";
import { createFakeClock, type FakeClock } from "../support/fake_clock.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { approvalsContract } from "./approvals_contract.ts";
import { contract } from "./backend_contract.ts";
import { fairContract } from "./fair_contract.ts";

const runtime = await detectRuntime();
const { files, databases, ids } = runtime;
const ask: NewJob = { agentName: "primary", input: "Hello", conversationId: "ses_1", status: "queued" };

const kinds: Record<string, (t: TestContext, clock: FakeClock) => JobBackend | Promise<JobBackend>> = {
  memory: (_t, clock) => memoryJobs({ clock, ids }),
  files: async (t, clock) => await fileJobs({ dataDir: await scratchDir(t), files, clock, ids }),
  sqlite: async (t, clock) => sqliteJobs({ path: join(await scratchDir(t), "jobs.db"), databases, clock, ids }),
};

for (const [kind, open] of Object.entries(kinds)) {
  for (const { name, run } of [...contract, ...fairContract]) {
    const [, requirement, promise] = /^((?:[TN]-\S+ )+)(.*)$/.exec(name)!;
    test(`${requirement}${kind}: ${promise}`, async (t) => {
      const clock = createFakeClock();
      const backend = await open(t, clock);
      t.after(() => backend.close());
      await run({ backend, pass: (ms) => Promise.resolve(clock.advance(ms)) });
    });
  }
}

for (const [kind, open] of Object.entries(kinds)) {
  for (const { name, run } of approvalsContract) {
    test(`${name.slice(0, 6)}${kind}: ${name.slice(6)}`, async (t) => {
      const backend = await open(t, createFakeClock());
      t.after(() => backend.close());
      await run(backend.approvals!);
    });
  }
}

test("T-007 files: a record is {dataDir}/jobs/{id}.json, that of a scope in the scope's folder", async (t) => {
  const dataDir = await scratchDir(t);
  const { store } = await fileJobs({ dataDir, files, clock: createFakeClock(), ids });
  const free = await store.create(ask);
  const mine = await store.create({ ...ask, scopeId: "acme" });
  assert.deepEqual(JSON.parse(await readFile(join(dataDir, "jobs", `${free.id}.json`), "utf8")), free);
  assert.deepEqual(JSON.parse(await readFile(join(dataDir, "jobs/@acme", `${mine.id}.json`), "utf8")), mine);
});

test("T-007 files: writes of two openers do not mix", async (t) => {
  const dataDir = await scratchDir(t);
  const open = () => fileJobs({ dataDir, files, clock: runtime.clock, ids });
  const both = [await open(), await open()] as const;
  await Promise.all(Array.from({ length: 20 }, (_, at) => both[at % 2]!.store.create(ask)));
  const claim = { agents: ["primary"], leaseMs: 60_000 };
  const claims = await Promise.all(
    Array.from({ length: 20 }, (_, at) => both[at % 2]!.queue.claim({ worker: `w${at}`, ...claim })),
  );
  assert.equal(new Set(claims.map((each) => each?.job.id)).size, 20);
  assert.deepEqual((await readdir(join(dataDir, "jobs"))).filter((name) => name.startsWith(".lock")), [".lock"]);
});

test("T-007 files: the lock that another process holds is waited for; it ends with its process", async (t) => {
  const dataDir = await scratchDir(t);
  const { store } = await fileJobs({ dataDir, files, clock: runtime.clock, ids });
  const other = databases.open(join(dataDir, "jobs/.lock"));
  other.run("BEGIN EXCLUSIVE");
  const waiting = store.create(ask);
  await new Promise(setImmediate);
  assert.deepEqual(await store.list(), []);
  other.close(); // As the kernel does with the files of a killed process.
  await waiting;
  assert.equal((await store.list()).length, 1);
});

test("T-007 files: a lock that stays held is an error with the way out", async (t) => {
  const dataDir = await scratchDir(t);
  const clock = createFakeClock();
  const { store } = await fileJobs({ dataDir, files, clock, ids });
  const other = databases.open(join(dataDir, "jobs/.lock"));
  t.after(() => other.close());
  other.run("BEGIN EXCLUSIVE");
  const waiting = store.create(ask);
  await new Promise(setImmediate); // The wait has begun.
  clock.advance(30_000);
  await assert.rejects(waiting, { code: "jobs.folder_busy", hint: "End the process that holds it" });
});

test("T-007 files: a record that is no JSON is named, with the way out", async (t) => {
  const dataDir = await scratchDir(t);
  const { store } = await fileJobs({ dataDir, files, clock: createFakeClock(), ids });
  await writeFile(join(dataDir, "jobs/job_1.json"), "{");
  await assert.rejects(store.get("job_1"), (error: { code: string; message: string; hint: string }) => {
    assert.equal(error.code, "jobs.record_broken");
    assert.match(error.message, /job_1\.json/);
    assert.match(error.hint, /Repair/);
    return true;
  });
});

test("T-007 files: recover() finds a job whose process was killed between two writes", async (t) => {
  const clock = createFakeClock();
  const dataDir = await scratchDir(t);
  const { store, queue } = await fileJobs({ dataDir, files, clock, ids });
  const policy = { maxAttempts: 9, error: "gone" };
  const claim = { worker: "w1", agents: ["primary"], leaseMs: 1000 };
  const { id } = await store.create(ask);
  const [marker] = await readdir(join(dataDir, "jobs/.queue"));
  const text = await readFile(join(dataDir, "jobs/.queue", marker!), "utf8");
  await queue.claim(claim);
  await writeFile(join(dataDir, "jobs/.queue", marker!), text); // Killed before the marker was removed.
  assert.equal(await queue.claim(claim), null);
  clock.advance(1000);
  assert.deepEqual((await queue.recover(policy)).map((job) => job.id), [id]);
  const again = await queue.claim(claim);
  assert.equal(again?.attempt, 2);
  await store.update(id, { status: "completed" }); // Killed before the lease was removed.
  clock.advance(1000);
  assert.deepEqual(await queue.recover(policy), []);
  assert.deepEqual(await readdir(join(dataDir, "jobs/.leases")), []);
});

test("T-007 sqlite: only its user can read the prompts and answers of jobs", async (t) => {
  const dir = await scratchDir(t);
  const backend = sqliteJobs({ path: join(dir, "jobs.db"), databases, clock: createFakeClock(), ids });
  await backend.store.create(ask);
  const names = await readdir(dir);
  assert.deepEqual(names.sort(), ["jobs.db", "jobs.db-shm", "jobs.db-wal"]);
  for (const name of names) assert.equal((await stat(join(dir, name))).mode & 0o777, 0o600, name);
  await backend.close();
});

test("T-008 sqlite: of two openers each job is claimed by one", async (t) => {
  const path = join(await scratchDir(t), "jobs.db");
  const open = () => sqliteJobs({ path, databases, clock: runtime.clock, ids });
  const both = [open(), open()] as const;
  await Promise.all(Array.from({ length: 20 }, (_, at) => both[at % 2]!.store.create(ask)));
  const claim = { agents: ["primary"], leaseMs: 60_000 };
  const claims = await Promise.all(
    Array.from({ length: 22 }, (_, at) => both[at % 2]!.queue.claim({ worker: `w${at}`, ...claim })),
  );
  const claimed = claims.flatMap((each) => each ? [each.job.id] : []);
  assert.deepEqual([claimed.length, new Set(claimed).size], [20, 20]);
  for (const each of both) await each.close();
});

test("T-007 sqlite: jobs are there when the file is opened again", async (t) => {
  const path = join(await scratchDir(t), "jobs.db");
  const open = () => sqliteJobs({ path, databases, clock: createFakeClock(), ids });
  const first = open();
  const job = await first.store.create(ask);
  const late = first.store.create(ask);
  await first.close();
  await assert.rejects(first.store.create(ask), { code: "jobs.store_unavailable" });
  const second = open();
  assert.deepEqual(await second.store.list(), [job, await late]);
  await second.close();
});

test("T-007 sqlite: a file that is no database, a folder that is not there and a locked file are clear errors", async (t) => {
  const dir = await scratchDir(t);
  const options = { databases, clock: createFakeClock(), ids };
  const isUnavailable = (path: string) => (error: { code: string; message: string; hint: string }) =>
    error.code === "jobs.store_unavailable" && error.message.includes(path) && error.hint.includes("folder");
  await writeFile(join(dir, "text.db"), "This is no database. ".repeat(100));
  for (const path of [join(dir, "text.db"), join(dir, "none/jobs.db")]) {
    assert.throws(() => sqliteJobs({ ...options, path }), isUnavailable(path));
  }
  const path = join(dir, "jobs.db");
  const impatient: DatabaseOpener = { ...databases, open: (path) => databases.open(path, { busyMs: 0 }) };
  const backend = sqliteJobs({ ...options, databases: impatient, path });
  const other = databases.open(path);
  t.after(() => backend.close());
  t.after(() => other.close());
  other.run("BEGIN IMMEDIATE");
  const both = [backend.store.create(ask), backend.store.create(ask)];
  for (const each of both) await assert.rejects(each, isUnavailable(path));
  other.run("ROLLBACK");
  assert.deepEqual(await backend.store.list(), []);
  await backend.store.create(ask);
});

test("T-007 every place for jobs opens without a port: the runtime's own serve", async (t) => {
  for (const backend of [sqliteJobs(), memoryJobs(), await fileJobs({ dataDir: await scratchDir(t) })]) {
    const { id, createdAt } = await backend.store.create(ask);
    assert.ok(Math.abs(Date.parse(createdAt) - runtime.clock.now()) < 60_000);
    assert.equal((await backend.queue.claim({ worker: "w1", agents: ["primary"], leaseMs: 1000 }))?.job.id, id);
    await backend.close();
  }
  await using jobs = createJobs();
  jobs.agent("greeter", ({ input }) => `Hello, ${input}`);
  await jobs.work();
  const { id } = await jobs.start({ agentName: "greeter", input: "Ada" });
  assert.equal((await jobs.finished(id)).result, "Hello, Ada");
});

test("T-008 sqlite, files: the lease of a job that no longer runs is dropped, and its job stays as it is", async (t) => {
  for (const kind of ["memory", "files"]) {
    const clock = createFakeClock();
    const { store, queue } = await kinds[kind]!(t, clock);
    const { id } = await store.create(ask);
    await queue.claim({ worker: "w1", agents: ["primary"], leaseMs: 1000 });
    await store.update(id, { status: "completed" });
    clock.advance(1000);
    assert.deepEqual(await queue.recover({ maxAttempts: 9, error: "gone" }), [], kind);
    assert.equal((await store.get(id))?.status, "completed", kind);
  }
});
