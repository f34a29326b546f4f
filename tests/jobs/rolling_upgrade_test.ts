import assert from "node:assert/strict";
import { readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import pg from "pg";
import { detectRuntime } from "../../src/adapters/default.ts";
import { fileJobs } from "../../src/jobs/file_jobs.ts";
import { postgresJobs } from "../../src/jobs/postgres_jobs.ts";
import { sqliteJobs } from "../../src/jobs/sqlite_jobs.ts";
import type { JobBackend } from "../../src/jobs/types.ts";
import { findPostgres, POSTGRES_NEEDED, startPostgres } from "../support/postgres.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { OLD_SQL, OLD_SQLITE, POSTGRES_1, SQLITE_1 } from "./fixtures/layout_1.ts";

const runtime = await detectRuntime();
const { clock, ids, databases, files } = runtime;
const done = { status: "failed", error: "x" } as const;

const record = (id: string, scopeId = "acme") => ({
  ...{ id, scopeId, agentName: "primary", input: id, conversationId: "ses_1", status: "queued" },
  createdAt: "2026-11-17T12:00:00.000Z",
});
const claim = async ({ queue }: JobBackend, maxPerScope = 9) =>
  await queue.claim({ worker: "new", agents: ["primary"], leaseMs: 60_000, scopes: { maxPerScope } });
const isTooOld = (error: { code: string; hint: string }): boolean => {
  assert.equal(error.code, "jobs.layout_newer");
  assert.match(error.hint, /version/);
  return true;
};

test("N-044 postgres: hosts of two versions share one database: each job is begun once, the bound counts both, and a host that is too old is refused", async (t) => {
  const [what, how] = POSTGRES_NEEDED;
  if (!await requireOrSkip(t, what, findPostgres() !== null, how)) return;
  const server = await startPostgres();
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const sql = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows;
  const old = {
    create: (id: string) => sql(OLD_SQL.create, [id, "queued", "primary", "acme", JSON.stringify(record(id))]),
    claim: async (id: string) => (await sql(OLD_SQL.claim, [id, "{}", "old", 60_000, crypto.randomUUID(), 0])).length,
    release: async (id: string) => (await sql(OLD_SQL.release, [id, "completed", "{}", "old", 1])).length,
  };
  const open = () => postgresJobs({ connectionString: server.url, schema: "roll", clock, ids });
  try {
    for (const each of POSTGRES_1) await sql(each);
    await old.create("job_1");
    await old.create("job_2");
    assert.equal(await old.claim("job_1"), 1);
    const hosts = await Promise.all([open(), open(), open()]); // One of them makes the steps.
    assert.deepEqual(await sql("SELECT layout, needs FROM roll.kaged_layout"), [{ layout: 2, needs: 1 }]);

    assert.equal(await claim(hosts[0]!, 1), null, "the job of the old host counts");
    const second = await claim(hosts[0]!);
    assert.equal(second?.job.id, "job_2", "a job that the old host has queued before");
    assert.equal(await old.claim("job_2"), 0, "once");
    assert.equal(await old.release("job_1"), 1);
    for (const each of POSTGRES_1.slice(1)) await sql(each); // An old host starts beside the new ones.
    await old.create("job_3");
    const third = await hosts[1]!.store.create({ ...record("x"), scopeId: "acme", status: "queued" });
    assert.equal(await old.claim(third.id), 1, "the old statements take the rows of new hosts");
    assert.equal(await claim(hosts[2]!).then((each) => each?.job.id), "job_3");
    assert.equal((await hosts[0]!.queue.release(second, done))?.status, "failed");
    const [lost] = await sql("UPDATE roll.kaged_job SET lease_until = now() WHERE id = 'job_3' RETURNING entry_id");
    assert.match(lost!["entry_id"], /^[0-9a-f-]{36}$/, "the old host looks for the entry of a job that it recovers");
    assert.deepEqual((await sql(OLD_SQL.lost)).map(({ job }) => JSON.parse(job).id), ["job_3"]);

    await sql("UPDATE roll.kaged_layout SET layout = 3");
    await (await open()).close();
    assert.deepEqual(await sql("SELECT layout, needs FROM roll.kaged_layout"), [{ layout: 3, needs: 1 }]);
    await sql("UPDATE roll.kaged_layout SET needs = 3");
    await assert.rejects(open(), isTooOld);
    await assert.rejects(claim(hosts[0]!), isTooOld);
    assert.equal((await hosts[0]!.store.get("job_2", "acme"))?.status, "failed", "records can be read");
    for (const host of hosts) await host.close();
  } finally {
    await client.end();
    await server.stop();
  }
});

test("N-044 sqlite: processes of two versions share one file; one that is too old is refused, also while it works", async (t) => {
  const path = join(await scratchDir(t), "jobs.db");
  const old = databases.open(path);
  t.after(() => old.close());
  for (const sql of SQLITE_1) old.run(sql);
  const create = (id: string) =>
    old.run(OLD_SQLITE.create, [id, "acme", "primary", "queued", JSON.stringify(record(id))]);
  create("job_1");
  const options = { path, databases, clock, ids };
  const both = [sqliteJobs(options), sqliteJobs(options)] as const;
  t.after(() => both.map((each) => each.close()));
  create("job_2");
  const first = await claim(both[0]);
  assert.equal(first?.job.id, "job_1");
  const [found] = old.prepare(OLD_SQLITE.waiting).allNumbers(['["primary"]', 0]);
  assert.equal(JSON.parse(found![0] as string).id, "job_2");
  old.run(OLD_SQLITE.write, ["primary", "running", 1, 0, "old", 9e12, JSON.stringify(record("job_2")), "job_2"]);
  create("job_3");
  assert.equal(await claim(both[1], 2), null, "the job of the old process counts");
  assert.equal((await claim(both[1], 3))?.job.id, "job_3");
  assert.deepEqual(old.prepare("PRAGMA user_version").allNumbers([]), [[1]]);

  create("job_4");
  old.run("PRAGMA user_version = 2");
  await assert.rejects(claim(both[0]), isTooOld);
  assert.throws(() => sqliteJobs(options), isTooOld);
  assert.equal((await both[0].store.list("acme")).length, 4, "records can be read");
});

test("N-044 files: a marker that an earlier version wrote takes its turn like the others", async (t) => {
  const dataDir = await scratchDir(t);
  const backend = await fileJobs({ dataDir, files, clock, ids });
  t.after(() => backend.close());
  for (const scopeId of ["a", "a", "b"]) await backend.store.create({ ...record("x", scopeId), status: "queued" });
  const queue = join(dataDir, "jobs/.queue");
  for (const name of await readdir(queue)) await rename(join(queue, name), join(queue, name.replace(/@.*\./, ".")));
  const claims = [await claim(backend), await claim(backend), await claim(backend, 1)];
  assert.deepEqual(claims.map((each) => each?.job.scopeId), ["a", "b", undefined]);
  assert.equal((await claim(backend))?.job.scopeId, "a");
});
