import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { detectRuntime } from "../../src/adapters/default.ts";
import type { Approval } from "../../src/core/approvals/types.ts";
import { HostError } from "../../src/core/errors/host_error.ts";
import { memoryJobs, openSqliteApprovals } from "../../src/jobs/sqlite_jobs.ts";
import { notes, TOOL } from "../support/gate_doors.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { until, untilSettled } from "../support/until.ts";

const rule = (decision: string): string => `[[tool_rules]]\ntool = "notes.*"\ndecision = "${decision}"\n`;
const isCode = (code: string) => (error: { code?: string }): boolean => error.code === code;
const stop = (h: Hosted) => untilSettled(h.host.stop(), "the stop", { meanwhile: () => h.clock.advance(100) });

/** Resolves with the oldest request that waits. */
async function waiting({ host }: Hosted): Promise<Approval> {
  return (await until(async () => (await host.approvals.list()).items.at(-1), "a request"))!;
}

test("N-025 a reload of plugins leaves the operator's rules as they are now", async () => {
  await using h = await hosted({ ...notes(), config: rule("allow") });
  await writeFile(`${h.home}/config.toml`, rule("deny"));
  await untilSettled(h.next("rules.changed"), "the new rule is read", { meanwhile: () => h.clock.advance(500) });
  const session = h.host.openSession();
  for (const plugin of [undefined, "notes"]) {
    await h.host.reload(plugin);
    await assert.rejects(session.callTool(TOOL, { text: "hi" }), isCode("tool.denied"), `${plugin}`);
  }
});

test("N-025 a reload takes up what the project tightens since", async () => {
  await using h = await hosted(notes());
  const session = h.host.openSession();
  await session.callTool(TOOL, { text: "hi" });
  const project = JSON.parse(await readFile(`${h.dir}/project.yaml`, "utf8"));
  project.primary.tools = { [TOOL]: { approval: "deny" } };
  await writeFile(`${h.dir}/project.yaml`, JSON.stringify(project));
  await h.host.reload();
  await assert.rejects(session.callTool(TOOL, { text: "hi" }), isCode("tool.denied"));
});

test("N-025 rules that changed while the host was down hold from its start on", async () => {
  await using h = await hosted({ ...notes(), config: rule("allow") });
  const session = h.host.openSession();
  await session.callTool(TOOL, { text: "hi" });
  await stop(h);
  await writeFile(`${h.home}/config.toml`, rule("deny"));
  await h.host.start();
  await assert.rejects(session.callTool(TOOL, { text: "hi" }), isCode("tool.denied"));
});

test("N-027 a call whose handler asks only after the stop is refused, and nothing waits on", async () => {
  await using h = await hosted(notes());
  const [thinking, thought] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  h.host.hooks.register("PreToolUse", async (event) => {
    thinking.resolve();
    await thought.promise;
    event.ask({ reason: "sure?" });
  }, { timeoutMs: 600_000 });
  const refused = assert.rejects(h.host.openSession().callTool(TOOL, { text: "hi" }), isCode("host.stopped"));
  await thinking.promise;
  await stop(h);
  thought.resolve();
  await refused;
  assert.equal(h.clock.keepingAlive, 0);
});

test("N-027 a stop leaves no call of a job waiting, whatever signal the job gave it", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask"), jobs: { maxAttempts: 2 } });
  const seen: unknown[] = [];
  h.host.agent("primary", async ({ session, tools }) => {
    const own = { signal: new AbortController().signal };
    const calls = [session.callTool(TOOL, { text: "a" }), tools.call(TOOL, { text: "b" }, own)];
    for (const one of await Promise.allSettled(calls)) seen.push(one.status === "rejected" ? one.reason.code : "done");
    return "done";
  });
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "go" });
  await until(async () => (await h.host.approvals.list()).items.length === 2, "two requests");
  await stop(h);
  assert.deepEqual(seen, ["jobs.stopped", "jobs.stopped"]);
  assert.equal(h.clock.keepingAlive, 0);
  await h.host.start();
  for (let at = 0; at < 2; at++) {
    await h.host.approvals.answer((await waiting(h)).id, { decision: "allow" });
  }
  assert.equal((await h.host.jobs.finished(id)).result, "done");
  assert.equal(h.all("approval.requested").length, 2);
});

test("N-027 a job that was answered while its host was down says only what it waits for now", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask"), jobs: { maxAttempts: 2 } });
  h.host.agent("primary", async ({ tools }) => {
    await tools.call(TOOL, { text: "a" });
    await tools.call(TOOL, { text: "b" });
    return "done";
  });
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "go" });
  const first = await waiting(h);
  await stop(h);
  const other = openSqliteApprovals(`${h.home}/jobs-music.db`, (await detectRuntime()).databases);
  const at = first.createdAt;
  await other.approvals.end(first.id, { state: "allowed", at, by: "cli", answer: { decision: "allow" }, reason: null });
  await other.close();
  await h.host.start();
  const second = await waiting(h);
  const said = await until(async () => (await h.host.jobs.get(id)).waiting, "the job says that it waits");
  assert.deepEqual(said!.map(({ approvalId }) => approvalId), [second.id]);
  await h.host.approvals.answer(second.id, { decision: "allow" });
  assert.equal((await h.host.jobs.finished(id)).result, "done");
});

test("N-027 jobs in a backend of the embedder's need no SQLite while nobody is asked", async () => {
  const { approvals: _, ...backend } = memoryJobs();
  const databases = {
    ...(await detectRuntime()).databases,
    open(): never {
      throw new HostError("storage.unavailable", "This runtime has no SQLite");
    },
  };
  await using h = await hosted({ ...notes(), ports: { databases }, jobs: { backend } });
  h.host.agent("primary", async ({ tools }) => JSON.stringify(await tools.call(TOOL, { text: "a" })));
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "go" });
  assert.equal((await h.host.jobs.finished(id)).status, "completed");
  await assert.rejects(h.host.approvals.list(), isCode("storage.unavailable"));
});

test("N-027 a run that calls with other arguments than the one before is asked for them", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask"), jobs: { maxAttempts: 2 } });
  let runs = 0;
  h.host.agent("primary", async ({ tools }) => {
    await tools.call(TOOL, { text: `run ${++runs}` });
    return "done";
  });
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "go" });
  const first = await waiting(h);
  await stop(h);
  await h.host.start();
  const items = await until(async () => {
    const { items } = await h.host.approvals.list();
    return items.length === 2 && items;
  }, "a second request") as readonly Approval[];
  assert.deepEqual(items.map((one) => one.arguments), [{ text: "run 2" }, { text: "run 1" }]);
  await h.host.approvals.answer(first.id, { decision: "allow" });
  assert.equal((await h.host.jobs.get(id)).status, "running");
  await h.host.approvals.answer(items[0]!.id, { decision: "allow" });
  assert.equal((await h.host.jobs.finished(id)).result, "done");
});
