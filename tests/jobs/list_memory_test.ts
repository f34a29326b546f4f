/**
 * Thousands of jobs with a megabyte each, listed by a process of each runtime. Needs as many gigabytes of disk: 2, or 10
 * with KAGED_LIST_JOBS=10000.
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { detectRuntime } from "../../src/adapters/default.ts";
import { sqliteJobs } from "../../src/jobs/sqlite_jobs.ts";
import { RUNTIME_PROGRAMS } from "../support/runtime_programs.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const COUNT = Number(process.env["KAGED_LIST_JOBS"] ?? 2000);
const [BYTES, MAX_EXTRA] = [1_000_000, 50_000_000];
const LIST = fileURLToPath(new URL("fixtures/list_host.ts", import.meta.url));
const CONFIG = fileURLToPath(new URL("../../deno.json", import.meta.url));
const ARGS: Readonly<Record<string, readonly string[]>> = {
  node: ["--disable-warning=ExperimentalWarning"],
  bun: ["--config=/dev/null", "--no-env-file", "--no-install"],
  deno: ["run", "-A", "--quiet", "--no-lock", "--no-check", "--config", CONFIG],
};

test("N-042 T-010 the list of thousands of jobs with 1 MB each takes less than 50 MB of memory on each runtime", async (t) => {
  const { databases, clock, ids } = await detectRuntime();
  const path = join(await scratchDir(t), "jobs.db");
  const backend = sqliteJobs({ path, databases, clock, ids });
  const fields = { agentName: "primary", input: "Hello", conversationId: "ses_1", status: "completed" } as const;
  const { id } = await backend.store.create({ ...fields, result: "x".repeat(BYTES) });
  await backend.close();
  // The other jobs are copies of the first, made by SQLite itself: through the API they would take minutes.
  const database = databases.open(path);
  for (const pragma of ["journal_mode = OFF", "synchronous = OFF"]) database.prepare(`PRAGMA ${pragma}`).all([]);
  // A table that is read and written at once would be copied as a whole first.
  database.run(`CREATE TEMP TABLE one AS SELECT * FROM jobs WHERE id = '${id}'`);
  database.run(`CREATE TEMP TABLE parts AS SELECT * FROM results WHERE id = '${id}'`);
  const numbers = `WITH RECURSIVE n (at) AS (SELECT 1 UNION ALL SELECT at + 1 FROM n WHERE at < ${COUNT - 1})`;
  database.run(`INSERT INTO jobs (id, scope, agent, status, job) ${numbers}
    SELECT id || at, scope, agent, status, json_set(job, '$.id', id || at) FROM n, one`);
  database.run(`INSERT INTO results (id, part, data) ${numbers} SELECT id || at, part, data FROM n, parts`);
  database.close();
  for (const [runtime, program] of Object.entries(RUNTIME_PROGRAMS)) {
    const { stdout } = await promisify(execFile)(program, [...ARGS[runtime]!, LIST, path]);
    const { count, bytes } = JSON.parse(stdout);
    t.diagnostic(`${runtime}: ${(bytes / 1_000_000).toFixed(1)} MB`);
    assert.equal(count, COUNT);
    assert.ok(bytes < MAX_EXTRA, `${runtime}: ${bytes} bytes`);
  }
});
