import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test } from "node:test";
import pg from "pg";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createJobs } from "../../src/jobs/create_jobs.ts";
import { postgresJobs } from "../../src/jobs/postgres_jobs.ts";
import { findPostgres, POSTGRES_NEEDED, startPostgres } from "../support/postgres.ts";
import { createDice } from "../support/chance.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { runScript } from "../support/run_script.ts";
import { until } from "../support/until.ts";

const WORKER = new URL("fixtures/postgres_worker.ts", import.meta.url);
// The whole crowd takes half a minute: CI has it come, everyday runs have a smaller one.
const isWhole = process.env["KAGED_CROWD"] === "1";
const [JOBS, WORKERS, KILLS] = isWhole ? [2000, 4, 6] : [200, 2, 2];
const schema = "crowd";

test("T-008 postgres: workers that are killed at random lose no job: each ends once, none runs twice at a time", async (t) => {
  const [what, how] = POSTGRES_NEEDED;
  if (!await requireOrSkip(t, what, findPostgres() !== null, how)) return;
  const server = await startPostgres();
  const workers = new Set<ChildProcess>();
  const dice = createDice();
  const runtime = await detectRuntime();
  const backend = await postgresJobs({ connectionString: server.url, schema, ...runtime });
  const watch = new pg.Client({ connectionString: server.url });
  await watch.connect();
  const jobs = createJobs({ runtime, backend, remoteAgents: ["primary"] });
  const sql = async (text: string): Promise<Record<string, unknown>[]> => (await watch.query(text)).rows;
  try {
    await sql("CREATE TABLE clashes (job text)");
    await sql("CREATE TABLE ends (job text, status text)");
    await sql(`CREATE FUNCTION note_end() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN INSERT INTO ends VALUES (NEW.id, NEW.status); PERFORM pg_notify('ended', NEW.id); RETURN NEW; END $$`);
    await sql(`CREATE TRIGGER note_end AFTER UPDATE ON ${schema}.kaged_job FOR EACH ROW
      WHEN (NEW.status IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION note_end()`);
    let ended = 0;
    watch.on("notification", () => ended++);
    await sql("LISTEN ended");
    const started: string[] = [];
    for (let at = 0; at < JOBS; at += 20) {
      const some = Array.from({ length: 20 }, (_, n) => jobs.start({ agentName: "primary", input: `${at + n}` }));
      started.push(...(await Promise.all(some)).map(({ id }) => id));
    }

    const spawnWorker = (): void => {
      const worker = runScript(WORKER, [server.url, schema]);
      workers.add(worker);
      worker.stdout!.resume();
    };
    for (let n = 0; n < WORKERS; n++) spawnWorker();
    const kills: number[] = [];
    while (kills.length < KILLS) {
      const due = (kills.length + 1) * JOBS / (KILLS + 1);
      await until(() => ended >= due, () => `the end of job ${due}; ${ended} have ended`);
      const victim = dice.pick([...workers]);
      const gone = once(victim, "close");
      process.kill(victim.pid!, "SIGKILL");
      await gone;
      workers.delete(victim);
      kills.push(victim.pid!);
      spawnWorker();
    }
    await until(() => ended >= JOBS, () => `the end of every job; ${ended} have ended`);

    const all = await jobs.list();
    assert.deepEqual(all.map(({ id }) => id).sort(), started.sort(), "none is lost");
    assert.deepEqual(all.filter(({ status }) => status !== "completed"), []);
    assert.deepEqual(await sql("SELECT job FROM ends GROUP BY job HAVING count(*) <> 1"), [], "none ends twice");
    assert.deepEqual(await sql("SELECT job FROM clashes"), [], "none runs twice at the same time");
    const [again] = await sql(`SELECT count(*)::int AS n FROM ${schema}.kaged_job WHERE attempts > 1`);
    assert.ok(Number(again!["n"]) > 0, "the kills hit something");
  } finally {
    for (const worker of workers) {
      const gone = once(worker, "close");
      process.kill(worker.pid!, "SIGKILL");
      await gone;
    }
    await watch.end();
    await jobs.stop();
    await server.stop();
  }
});
