/**
 * Runs the job cases on the runtime that runs it, and prints jobs/s as JSON: `host.ts <rounds> <jobs>`.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { PgBoss } from "pg-boss";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createJobs } from "../../src/jobs/create_jobs.ts";
import { fileJobs } from "../../src/jobs/file_jobs.ts";
import { postgresJobs } from "../../src/jobs/postgres_jobs.ts";
import { memoryJobs, sqliteJobs } from "../../src/jobs/sqlite_jobs.ts";
import type { JobBackend } from "../../src/jobs/types.ts";
import { findPostgres, startPostgres } from "../../tests/support/postgres.ts";

/** Jobs in a second; the best of the rounds. */
export type Figures = Record<string, number>;

type Run = (jobs: number) => Promise<void>;

const AT_A_TIME = 10;
const runtime = await detectRuntime();
const [rounds = 1, size = 100] = process.argv.slice(2).map(Number);
const dir = mkdtempSync(join(tmpdir(), "kaged-bench-"));
const record = JSON.stringify({ id: "job_1", agentName: "primary", input: "Hello", status: "queued" });
let folders = 0;

/** From nothing to the end of the last job, with ten runs at a time that do nothing. */
const ours = (open: () => JobBackend | Promise<JobBackend>): Run => async (count) => {
  let ended = 0;
  let finish = (): void => {};
  const done = new Promise<void>((resolve) => finish = resolve);
  const events = { emit: (event: string): void => void (event === "job:end" && ++ended === count && finish()) };
  const jobs = createJobs({ runtime, backend: await open(), concurrency: AT_A_TIME, events });
  jobs.agent("primary", () => "Hi");
  await jobs.work();
  await each(count, () => jobs.start({ agentName: "primary", input: "Hello" }));
  await done;
  await jobs.stop();
};

/** Does something `count` times, ten at a time. */
async function each(count: number, act: () => Promise<unknown>): Promise<void> {
  let left = count;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await act();
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
}

/** Three records replaced for each job, without looking for any. */
const bareFiles: Run = async (count) => {
  const folder = join(dir, `files-${folders++}`);
  mkdirSync(folder);
  for (let n = 0; n < count; n++) {
    for (let step = 0; step < 3; step++) {
      writeFileSync(join(folder, `.${n}`), record);
      renameSync(join(folder, `.${n}`), join(folder, `${n}`));
    }
  }
  await Promise.resolve();
};

/** Three commits for each job. */
const bareSqlite: Run = async (count) => {
  const database = runtime.databases.open(join(dir, `bare-${folders++}.db`));
  for (const sql of ["PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL"]) database.prepare(sql).all([]);
  database.run("CREATE TABLE jobs (id INTEGER PRIMARY KEY, status TEXT, job TEXT)");
  const insert = database.prepare("INSERT INTO jobs (status, job) VALUES ('queued', ?)");
  const update = database.prepare("UPDATE jobs SET status = ?, job = ? WHERE id = ?");
  for (let n = 1; n <= count; n++) {
    insert.run([record]);
    update.run(["running", record, n]);
    update.run(["completed", record, n]);
  }
  database.close();
  await Promise.resolve();
};

/** The queue alone: send, fetch, complete. */
const barePgBoss = (connectionString: string): Run => async (count) => {
  const boss = new PgBoss({ connectionString, schema: `bare_${folders++}`, schedule: false });
  boss.on("error", () => {}); // Of connections that the server cuts when it ends.
  await boss.start();
  await boss.createQueue("primary");
  await each(count, () => boss.send("primary", { record }));
  await each(count, async () => {
    const [job] = await boss.fetch("primary");
    await boss.complete("primary", job!);
  });
  await boss.stop({ graceful: false });
};

async function measure(cases: Record<string, Run>, count: number): Promise<Figures> {
  const best: Figures = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries(cases)) {
      const started = performance.now();
      await run(count);
      best[name] = Math.max(best[name] ?? 0, count / (performance.now() - started) * 1000);
    }
  }
  return best;
}

const report: Record<string, Figures> = {};
try {
  report["memory"] = await measure({ ours: ours(() => memoryJobs(runtime)) }, size * 10);
  const files = ours(() => fileJobs({ ...runtime, dataDir: join(dir, `ours-${folders++}`) }));
  report["files"] = await measure({ ours: files, "bare files": bareFiles, "bare files again": bareFiles }, size);
  const sqlite = ours(() => sqliteJobs({ ...runtime, path: join(dir, `ours-${folders++}.db`) }));
  report["sqlite"] = await measure({ ours: sqlite, "bare sqlite": bareSqlite, "bare sqlite again": bareSqlite }, size);
  if (findPostgres()) {
    const server = await startPostgres();
    const schema = (): string => `ours_${folders++}`;
    const postgres = ours(() => postgresJobs({ ...runtime, connectionString: server.url, schema: schema() }));
    const bare = barePgBoss(server.url);
    report["postgres"] = await measure({ ours: postgres, "pg-boss": bare, "pg-boss again": bare }, size);
    await server.stop();
  }
  console.log(JSON.stringify(report));
} finally {
  rmSync(dir, { recursive: true });
}
process.exit(0); // Timers of closed pools would keep the program waiting.
