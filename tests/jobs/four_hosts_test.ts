import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import pg from "pg";
import { createJobs } from "../../src/jobs/create_jobs.ts";
import { postgresJobs } from "../../src/jobs/postgres_jobs.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { findPostgres, POSTGRES_NEEDED, startPostgres } from "../support/postgres.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { runScript } from "../support/run_script.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";

const HOST = new URL("fixtures/cluster_host.ts", import.meta.url);
const PLACES = 4;

test("N-044 four hosts of three runtimes share jobs, approvals and schedules on one Postgres, through a kill and a pause", async (t) => {
  const [what, how] = POSTGRES_NEEDED;
  if (!await requireOrSkip(t, what, findPostgres() !== null, how)) return;
  const root = await scratchDir(t);
  const project = join(root, "music");
  await mkdir(project);
  const yaml = { primary: { plugins: { notes: { package: "@test/notes" } } } };
  await writeFile(join(project, "project.yaml"), JSON.stringify(yaml));
  await using notes = await fixturePlugin("answers_hooks", { manifest: { name: "notes", hooks: [] } });
  const server = await startPostgres();
  const hosts = new Map<number, ChildProcess>();
  const watch = new pg.Client({ connectionString: server.url });
  await watch.connect();
  const sql = async (text: string, values: unknown[] = []) => (await watch.query(text, values)).rows;
  const jobs = createJobs({
    backend: await postgresJobs({ connectionString: server.url, schema: "cluster" }),
    remoteAgents: ["primary"],
  });
  const queue = async (count: number, input: string): Promise<string[]> => {
    const asked = Array.from({ length: count }, () => jobs.start({ agentName: "primary", input }));
    return (await Promise.all(asked)).map(({ id }) => id);
  };
  const ended = (ids: string[]) => Promise.all(ids.map((id) => jobs.finished(id)));
  const runsOf = (ids: string[]) => sql("SELECT job, host, attempt FROM runs WHERE job = ANY($1)", [ids]);
  /** Resolves when so many of the jobs have been begun at least so often. */
  const begun = async (ids: string[], count: number, attempt = 1) => {
    const runs = async () => (await runsOf(ids)).filter((run) => run["attempt"] >= attempt);
    await until(async () => (await runs()).length >= count, `run ${attempt} of ${count} jobs`);
    return await runs();
  };

  async function startHost(at: number, runtime: "node" | "bun" | "deno"): Promise<void> {
    const home = join(root, `machine-${at}`);
    await mkdir(home, { mode: 0o700 });
    await writeFile(join(home, "config.toml"), '[[tool_rules]]\ntool = "notes.*"\ndecision = "ask"\n');
    const options = { home, project, plugins: { "@test/notes": notes.dir } };
    const host = runScript(HOST, [server.url, JSON.stringify(options)], runtime);
    hosts.set(host.pid!, host);
    let said = "";
    host.stdout!.on("data", (chunk) => said += chunk);
    await until(() => said.includes("ready"), `the host on ${runtime}`);
  }

  try {
    for (const table of ["clashes (job text)", "runs (job text, host int, attempt int)", "ends (job text)"]) {
      await sql(`CREATE TABLE ${table}`);
    }
    await sql("CREATE TABLE turns (due bigint)");
    await sql(`CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF TG_TABLE_NAME = 'kaged_turn' THEN INSERT INTO turns VALUES (NEW.due); ELSE INSERT INTO ends VALUES (NEW.id); END IF;
      RETURN NEW; END $$`);
    await sql("CREATE TRIGGER note AFTER INSERT OR UPDATE ON cluster.kaged_turn FOR EACH ROW EXECUTE FUNCTION note()");
    await sql(`CREATE TRIGGER note AFTER UPDATE ON cluster.kaged_job FOR EACH ROW
      WHEN (NEW.status IN ('completed', 'failed', 'cancelled')) EXECUTE FUNCTION note()`);
    const hold = () => sql("SELECT pg_advisory_lock(1)");
    const letGo = () => sql("SELECT pg_advisory_unlock(1)");
    await hold();
    await Promise.all((["node", "bun", "deno", "node"] as const).map((runtime, at) => startHost(at, runtime)));

    // As many jobs as there are places, none of which ends before all have begun: each host has its share.
    const all = await queue(4 * PLACES, "hold");
    const first = await begun(all, 4 * PLACES);
    const shares = [...hosts.keys()].map((pid) => first.filter(({ host }) => host === pid).length);
    assert.deepEqual(shares, [PLACES, PLACES, PLACES, PLACES]);

    const [killed] = [...hosts.keys()];
    const gone = once(hosts.get(killed!)!, "close");
    process.kill(killed!, "SIGKILL");
    await gone;
    hosts.delete(killed!);
    const waiting = "SELECT id FROM cluster.kaged_job WHERE status = 'queued'";
    const lost = first.filter(({ host }) => host === killed).map(({ job }) => job).sort();
    await until(async () => (await sql(waiting)).length === PLACES, "the jobs of the killed host in the queue");
    assert.deepEqual((await sql(waiting)).map(({ id }) => id).sort(), lost);
    await letGo();
    assert.deepEqual((await ended(all)).filter(({ status }) => status !== "completed"), []);
    assert.deepEqual((await begun(lost, PLACES, 2)).map(({ host }) => hosts.has(host)), lost.map(() => true));

    // A host that is stopped for longer than its leases, then goes on: others have its jobs, and its answers count no more.
    await hold();
    const more = await queue(2 * PLACES, "hold");
    const [{ host: paused }] = await begun(more, 2 * PLACES) as [{ host: number }];
    const its = (await runsOf(more)).filter(({ host }) => host === paused).map(({ job }) => job);
    process.kill(paused, "SIGSTOP");
    const taken = await begun(its, its.length, 2);
    assert.ok(taken.every(({ host }) => host !== paused));
    process.kill(paused, "SIGCONT");
    await letGo();
    const results = await ended(more);
    assert.deepEqual(results.filter(({ id, result }) => its.includes(id) && result === `${paused}`), []);

    // A job asks on one host, a person answers on another.
    const [asking] = await queue(1, "ask") as [string];
    const request = await until(async () => {
      return (await sql("SELECT id FROM cluster.kaged_approval WHERE job = $1 AND state = 'waiting'", [asking]))[0];
    }, "the request");
    const [run] = await runsOf([asking]);
    const [, other] = [...hosts].find(([pid]) => pid !== run!["host"])!;
    other.stdin!.write(`allow ${request!["id"]}\n`);
    assert.equal((await jobs.finished(asking)).status, "completed");

    for (const host of hosts.values()) host.stdin!.write("schedule\n");
    const ticks = () => sql("SELECT id FROM cluster.kaged_job WHERE job LIKE '%\"tick\"%'");
    await until(async () => (await ticks()).length >= 2, "two turns of the schedule");
    const [made, turns] = [(await ticks()).length, await sql("SELECT due FROM turns")];
    assert.equal(new Set(turns.map(({ due }) => due)).size, turns.length, "one host has each turn");
    assert.ok(made <= turns.length, "each turn is one job");

    assert.deepEqual(await sql("SELECT job FROM ends GROUP BY job HAVING count(*) <> 1"), [], "none ends twice");
    // The session of the paused host kept its locks: those jobs show themselves in the results above.
    assert.deepEqual(await sql("SELECT job FROM clashes WHERE job <> ALL($1)", [its]), [], "none runs on two hosts");
  } finally {
    for (const host of hosts.values()) {
      const gone = once(host, "close");
      process.kill(host.pid!, "SIGKILL");
      await gone;
    }
    await watch.end();
    await jobs.stop();
    await server.stop();
  }
});
