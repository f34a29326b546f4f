import assert from "node:assert/strict";
import { after, test, type TestContext } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import { postgresJobs } from "../../src/jobs/postgres_jobs.ts";
import { findPostgres, type Postgres, POSTGRES_NEEDED, startPostgres } from "../support/postgres.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { approvalsContract } from "./approvals_contract.ts";
import { contract } from "./backend_contract.ts";
import { fairContract } from "./fair_contract.ts";

const { clock, ids } = await detectRuntime();
const [WHAT, HOW] = POSTGRES_NEEDED;
let server: Promise<Postgres> | null = null;
after(async () => await (await server)?.stop());

async function cluster(t: TestContext): Promise<Postgres | null> {
  if (!await requireOrSkip(t, WHAT, findPostgres() !== null, HOW)) return null;
  return await (server ??= startPostgres());
}

for (const [at, { name, run }] of [...contract, ...fairContract].entries()) {
  const [, requirement, promise] = /^((?:[TN]-\S+ )+)(.*)$/.exec(name)!;
  test(`${requirement}postgres: ${promise}`, async (t) => {
    const url = (await cluster(t))?.url;
    if (!url) return;
    const schema = `case_${at}`;
    const backend = await postgresJobs({ connectionString: url, schema, clock, ids });
    const pg = (await import("pg")).default;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    try {
      const earlier = `UPDATE ${schema}.kaged_job SET not_before = not_before - $1 * interval '1 ms'`;
      await run({ backend, pass: async (ms) => void await client.query(earlier, [ms]) });
    } finally {
      await client.end();
      await backend.close();
    }
  });
}

for (const [at, { name, run }] of approvalsContract.entries()) {
  test(`${name.slice(0, 6)}postgres: ${name.slice(6)}`, async (t) => {
    const url = (await cluster(t))?.url;
    if (!url) return;
    const backend = await postgresJobs({ connectionString: url, schema: `approvals_${at}`, clock, ids });
    try {
      await run(backend.approvals!);
    } finally {
      await backend.close();
    }
  });
}

test("T-008 postgres: any number of jobs can be queued at once over a few connections", async (t) => {
  const url = (await cluster(t))?.url;
  if (!url) return;
  const few = { connectionString: url, schema: "few", maxConnections: 2 };
  const backend = await postgresJobs({ ...few, clock, ids });
  const ask = { agentName: "primary", input: "x", conversationId: "ses_1", status: "queued" } as const;
  await Promise.all(Array.from({ length: 20 }, () => backend.store.create(ask)));
  assert.equal((await backend.store.list()).length, 20);
  await backend.close();
});

test("N-043 N-044 postgres: the bound of a scope holds over all hosts of a database that ask at the same time", async (t) => {
  const url = (await cluster(t))?.url;
  if (!url) return;
  const open = () => postgresJobs({ connectionString: url, schema: "bound", clock, ids });
  const hosts = await Promise.all(Array.from({ length: 4 }, open));
  try {
    const ask = { agentName: "primary", input: "x", conversationId: "ses_1", status: "queued" } as const;
    for (const scopeId of ["a", "b", "c"]) {
      await Promise.all(Array.from({ length: 20 }, () => hosts[0]!.store.create({ ...ask, scopeId })));
    }
    const request = { agents: ["primary"], leaseMs: 60_000, scopes: { maxPerScope: 3 } };
    // Names differ, so that each claim is a transaction of its own.
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, at) => hosts[at % 4]!.queue.claim({ ...request, worker: `w${at}` })),
    );
    const scopes = claims.flatMap((claim) => claim ? [claim.job.scopeId] : []).sort();
    assert.deepEqual(scopes, ["a", "a", "a", "b", "b", "b", "c", "c", "c"]);
    assert.equal(new Set(claims.flatMap((claim) => claim ? [claim.job.id] : [])).size, 9);
  } finally {
    for (const host of hosts) await host.close();
  }
});

test("T-007 postgres: a database that is not there is a clear error", async () => {
  const connectionString = "postgres://nobody@localhost/none?host=/nonexistent";
  await assert.rejects(postgresJobs({ connectionString, clock, ids }), (error: { code: string; hint: string }) => {
    assert.equal(error.code, "jobs.store_unavailable");
    assert.match(error.hint, /Check that it runs/);
    return true;
  });
});
