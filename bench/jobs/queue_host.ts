/**
 * Long queues on the runtime that runs it, as JSON: `queue_host.ts <steps> <noisy> <size,size…>`. Times of a claim, a create
 * and a list in queues of each size, and the wait of a small tenant beside a noisy one. With `--plans` also the plans and
 * the sizes of the tables in Postgres, as text on stderr.
 *
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import pg from "pg";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createJobs } from "../../src/jobs/create_jobs.ts";
import { fileJobs } from "../../src/jobs/file_jobs.ts";
import { postgresJobs } from "../../src/jobs/postgres_jobs.ts";
import { sqliteJobs } from "../../src/jobs/sqlite_jobs.ts";
import type { JobBackend, NewJob } from "../../src/jobs/types.ts";
import { findPostgres, startPostgres } from "../../tests/support/postgres.ts";
import { type Curve, median } from "./growth.ts";
import { printPlans } from "./plans.ts";

/** Milliseconds by number of queued jobs, for each step; the sizes are measured in turn, `again` is the first size once more. */
export interface Growth {
  readonly claim: Curve;
  readonly create: Curve;
  readonly list: Curve;
  /** The claim at the first size, measured last. */
  readonly again: number;
}

/** Milliseconds until the last of ten jobs of a small tenant has ended. */
export interface Fairness {
  readonly beside: number;
  readonly alone: number;
  readonly "alone again": number;
  /** Beside the same number of jobs of its own scope, which is how a queue without turns treats it. */
  readonly behind: number;
}

/** Everything that was measured, by store. */
export interface QueueFigures {
  readonly growth: Record<string, Growth>;
  readonly fairness: Record<string, Fairness>;
}

interface Store {
  open(name: string): Promise<JobBackend>;
  /** Queues so many jobs: nine of ten belong to one tenant. */
  fill(name: string, count: number): Promise<void>;
}

const [steps = 100, noisy = 1000] = process.argv.slice(2, 4).map(Number);
const sizes = (process.argv[4] ?? "1000,10000").split(",").map(Number);
const only = process.argv[5]?.startsWith("--") ? undefined : process.argv[5];
const AT_A_TIME = 10;
const runtime = await detectRuntime();
const dir = mkdtempSync(join(tmpdir(), "kaged-bench-"));
const ask: NewJob = { agentName: "primary", input: "Hello", conversationId: "ses_1", status: "queued" };
const scopeOf = (at: number): string => at % 10 === 0 ? `tenant${at % 90}` : "noisy";
const textOf = (id: string): string => JSON.stringify({ id, ...ask, createdAt: "2026-11-17T12:00:00.000Z" });

const sqlite: Store = {
  open: (name) => Promise.resolve(sqliteJobs({ ...runtime, path: join(dir, `${name}.db`) })),
  fill(name, count) {
    const database = runtime.databases.open(join(dir, `${name}.db`));
    const insert = database.prepare("INSERT INTO jobs (id, scope, agent, status, job) VALUES (?, ?, ?, ?, ?)");
    database.run("BEGIN");
    for (let at = 0; at < count; at++) insert.run([`old_${at}`, scopeOf(at), "primary", "queued", textOf(`old_${at}`)]);
    database.run("COMMIT");
    database.close();
    return Promise.resolve();
  },
};

const files: Store = {
  open: (name) => fileJobs({ ...runtime, dataDir: join(dir, name) }),
  async fill(name, count) {
    const { store, close } = await files.open(name);
    for (let at = 0; at < count; at += 50) {
      await Promise.all(Array.from({ length: 50 }, (_, n) => store.create({ ...ask, scopeId: scopeOf(at + n) })));
    }
    await close();
  },
};

const postgres = (connectionString: string, client: pg.Client): Store => ({
  open: (schema) => postgresJobs({ ...runtime, connectionString, schema }),
  async fill(schema, count) {
    await client.query(
      `INSERT INTO ${schema}.kaged_job (id, status, agent, scope, job) SELECT 'old_' || at, 'queued', 'primary',
      CASE WHEN at % 10 = 0 THEN 'tenant' || at % 90 ELSE 'noisy' END, replace($2, '?', 'old_' || at) FROM generate_series(0, $1::int - 1) AS at`,
      [count, textOf("?")],
    );
    await client.query(`ANALYZE ${schema}.kaged_job`);
  },
});

/** Milliseconds for each of `AT_A_TIME` calls at once, as the free places of a worker make them. */
async function timed(count: number, act: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let at = 0; at < count; at += AT_A_TIME) {
    const started = performance.now();
    await Promise.all(Array.from({ length: AT_A_TIME }, act));
    times.push((performance.now() - started) / AT_A_TIME);
  }
  return median(times);
}

async function growthOf({ open, fill }: Store, sizes: readonly number[], steps: number): Promise<Growth> {
  const curves = { claim: {}, create: {}, list: {} } as Record<"claim" | "create" | "list", Record<number, number>>;
  const request = { worker: "w1", agents: ["primary", "other"], leaseMs: 600_000, scopes: { maxPerScope: 100_000 } };
  let again = NaN;
  for (const [at, size] of [...sizes, sizes[0]!].entries()) {
    const name = `growth_${at}`;
    const backend = await open(name);
    await fill(name, size);
    const take = async (): Promise<void> => {
      if (await backend.queue.claim(request) === null) throw new Error(`Nothing waits in ${name}`);
    };
    for (let warm = 0; warm < 20; warm++) await take();
    const claim = await timed(steps, take);
    if (at === sizes.length) again = claim;
    else {
      curves.claim[size] = claim;
      curves.create[size] = await timed(steps, () => backend.store.create({ ...ask, scopeId: "noisy" }));
      curves.list[size] = await timed(steps, () => backend.store.list("noisy", { limit: 100 }));
    }
    await backend.close();
  }
  return { ...curves, again };
}

/** Runs take 5 ms on each of ten places. */
async function waitOf({ open }: Store, name: string, others: number, scopeId: string): Promise<number> {
  const backend = await open(name);
  for (let at = 0; at < others; at += 100) {
    const some = Math.min(100, others - at);
    await Promise.all(Array.from({ length: some }, () => backend.store.create({ ...ask, scopeId })));
  }
  let left = 10;
  const done = Promise.withResolvers<void>();
  const events = {
    emit: (event: string, { output }: { output?: unknown }): void => {
      if (event === "job:end" && output === "small" && --left === 0) done.resolve();
    },
  };
  const jobs = createJobs({ runtime, backend, concurrency: 10, events: events as never, onProblem: () => {} });
  const mine = Array.from({ length: 10 }, () => backend.store.create({ ...ask, input: "small", scopeId: "small" }));
  await Promise.all(mine);
  jobs.agent("primary", async ({ input }) => {
    await new Promise<void>((resolve) => runtime.clock.after(5, resolve, { keepAlive: true }));
    return input;
  });
  const started = performance.now();
  await jobs.work();
  await done.promise;
  const took = performance.now() - started;
  await jobs.stop({ graceMs: 1000 });
  return took;
}

async function fairnessOf(store: Store): Promise<Fairness> {
  await waitOf(store, "warm", 0, "noisy");
  const alone = await waitOf(store, "alone", 0, "noisy");
  const beside = await waitOf(store, "beside", noisy, "noisy");
  const again = await waitOf(store, "alone_again", 0, "noisy");
  const behind = await waitOf(store, "behind", noisy / 10, "small");
  return { alone, beside, "alone again": again, behind };
}

const figures: QueueFigures = { growth: {}, fairness: {} };
const wanted = (name: string): boolean => only === undefined || only === name;
try {
  if (wanted("sqlite")) {
    figures.growth["sqlite"] = await growthOf(sqlite, sizes, steps);
    figures.fairness["sqlite"] = await fairnessOf(sqlite);
  }
  if (wanted("files")) figures.growth["files"] = await growthOf(files, [100, 300, 1000], 20);
  if (wanted("postgres") && findPostgres()) {
    const server = await startPostgres();
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const store = postgres(server.url, client);
    figures.growth["postgres"] = await growthOf(store, sizes, steps);
    figures.fairness["postgres"] = await fairnessOf(store);
    if (process.argv.includes("--plans")) await printPlans(client, `growth_${sizes.length - 1}`);
    await client.end();
    await server.stop();
  }
  console.log(JSON.stringify(figures));
} finally {
  rmSync(dir, { recursive: true });
}
process.exit(0); // Timers of closed pools would keep the program waiting.
