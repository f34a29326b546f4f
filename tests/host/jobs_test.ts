import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { createApp } from "../../src/http/create_app.ts";
import type { AnyEvent } from "../../src/events/types.ts";
import type { HostAgentContext } from "../../src/host/types.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";
import { turn, until, untilSettled } from "../support/until.ts";

const memory: HostedOptions = {
  primary: { memory: {} },
  fixtures: { "@test/memory": "answers_hooks" },
  events: { level: "trace" },
};
const ask = { agentName: "primary", input: "Hello" };

test("T-005 T-008 host.agent: a job runs with its session and its agent's tools, and is kept in SQLite", async () => {
  await using h = await hosted(memory);
  const heard: AnyEvent[] = [];
  h.host.on("*", (event) => void heard.push(event));
  h.host.agent("primary", async ({ input, session, tools, conversationId }) => {
    assert.equal(session.id, conversationId);
    const { systemPrompt } = await session.start("You are an agent.");
    assert.equal(systemPrompt, "You are an agent.");
    session.record({ id: "m1", role: "user", content: input });
    assert.deepEqual(tools.list().map(({ name }) => name), ["answers-hooks.look", "answers-hooks.ask"]);
    await tools.call("answers-hooks.look", { query: input });
    return { output: "Hi", usage: { promptTokens: 1, completionTokens: 2, totalTokens: 3 } };
  });
  const { id, conversationId } = await h.host.jobs.start(ask);
  const job = await h.host.jobs.finished(id);
  assert.equal(job.error, undefined);
  assert.deepEqual([job.status, job.result, job.toolsUsed], ["completed", "Hi", ["answers-hooks.look"]]);
  assert.ok(existsSync(`${h.home}/jobs-music.db`));
  await turn();
  const types = heard.map(({ type }) => type);
  assert.deepEqual(types, [
    "job:start",
    "agent:start",
    "hook:execute",
    "tool:execute",
    "job:end",
    "agent:end",
  ]);
  await assert.rejects(
    h.host.callTool("answers-hooks.look", { query: "x" }, { agent: "primary", session: conversationId }),
    (error: { code: string }) => error.code === "session.unknown",
    "the session was the run's",
  );
});

test("T-008 runs share a session, and leave one that was open before", async () => {
  await using h = await hosted(memory);
  const contexts: HostAgentContext[] = [];
  const ends: (() => void)[] = [];
  h.host.agent("primary", (context) => {
    contexts.push(context);
    return new Promise((resolve) => ends.push(() => resolve("x")));
  });
  const open = h.host.openSession({ id: "ses_open" });
  const started = await Promise.all([
    h.host.jobs.start({ ...ask, conversationId: "ses_open" }),
    h.host.jobs.start({ ...ask, conversationId: "ses_new" }),
    h.host.jobs.start({ ...ask, conversationId: "ses_new" }),
  ]);
  await until(() => contexts.length >= 3, "three runs", "turn");
  assert.equal(contexts[0]!.session.id, open.id);
  assert.equal(contexts[1]!.session.id, contexts[2]!.session.id);
  ends[0]!();
  ends[1]!();
  await h.host.jobs.finished(started[0]!.id);
  await h.host.jobs.finished(started[1]!.id);
  await contexts[2]!.tools.call("answers-hooks.look", { query: "still open" });
  await h.host.callTool("answers-hooks.look", { query: "x" }, { agent: "primary", session: "ses_open" });
  ends[2]!();
  await h.host.jobs.finished(started[2]!.id);
});

test("T-008 jobs that wait are taken when the host starts, and survive its end", async () => {
  await using h = await hosted({ ...memory, start: false, jobs: { maxAttempts: 2 } });
  let runs = 0;
  h.host.agent("primary", ({ signal }) => {
    if (++runs === 2) return "second";
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  });
  const { id } = await h.host.jobs.start(ask);
  await turn();
  assert.equal(runs, 0);
  await h.host.start();
  await until(() => runs > 0, "a run", "turn");
  await untilSettled(h.host.stop(), "the end of host.stop()", { step: "turn", meanwhile: () => h.clock.advance(100) });
  await h.host.start();
  assert.equal((await h.host.jobs.finished(id)).result, "second");
});

test("T-008 an agent the project does not have, and a second run for one, are refused", async () => {
  await using h = await hosted({ ...memory, start: false });
  const isCode = (code: string) => (error: { code: string }) => error.code === code;
  assert.throws(() => h.host.agent("primary.subagents.none", () => "x"), isCode("agent.unknown"));
  h.host.agent("primary", () => "x");
  assert.throws(() => h.host.agent("primary", () => "x"), isCode("jobs.agent_duplicate"));
});

test("T-003 a host whose program registers no agent keeps no jobs", async () => {
  await using h = await hosted(memory);
  assert.equal(h.host.view.jobs(), null);
  assert.equal(existsSync(`${h.home}/jobs-music.db`), false);
});

test("T-008 T-010 the host's HTTP API has the routes once an agent is registered, behind the token", async () => {
  await using h = await hosted(memory);
  const app = createApp({ host: h.host, token: "secret" });
  const connection = { signal: null, upgrade: () => assert.fail("no upgrade") };
  const ask = async (line: string, body?: unknown, token = "secret") => {
    const [method, path] = line.split(" ") as [string, string];
    const headers = { "Host": "localhost", "Authorization": `Bearer ${token}`, "Content-Type": "application/json" };
    const json = body === undefined ? {} : { body: JSON.stringify(body) };
    return await app.fetch(new Request(`http://localhost${path}`, { method, headers, ...json }), connection);
  };
  const start = "POST /api/v1/agents/primary?async=true";
  for (const [line, body] of [["GET /api/v1/jobs"], [start, { message: "Hello" }]] as [string, unknown?][]) {
    const refused = await ask(line, body);
    assert.deepEqual([refused.status, (await refused.json()).code], [404, "jobs.agent_unknown"]);
  }
  h.host.agent("primary", ({ input }) => `${input}!`);
  const accepted = await ask(start, { message: "Hello" });
  assert.equal(accepted.status, 202);
  const { jobId } = await accepted.json();
  assert.equal((await h.host.jobs.finished(jobId)).result, "Hello!");
  assert.equal((await (await ask(`GET /api/v1/jobs/${jobId}`)).json()).result, "Hello!");
  assert.match(await (await ask(`GET /api/v1/jobs/${jobId}/stream`)).text(), /event: done/);
  assert.equal((await ask(start, { message: "x" }, "wrong")).status, 401);
  assert.equal((await ask("GET /api/v1/jobs", undefined, "wrong")).status, 401);
  assert.equal((await ask("GET /api/v1/agents/primary")).status, 200);
  app.close();
});

test("T-005 T-001b a run hands work to another agent: hooks fire, and delegate:start and delegate:end are emitted", async () => {
  await using h = await hosted({
    ...memory,
    yaml: `primary: { subagents: { researcher: {} } }\n`,
    primary: {},
    fixtures: {},
  });
  const heard: AnyEvent[] = [];
  const fired: unknown[] = [];
  h.host.on("*", (event) => void heard.push(event));
  for (const hook of ["SubagentStart", "SubagentStop"] as const) {
    h.host.hooks.register(hook, (event) => {
      fired.push([hook, event.subagent, event.input, event.output ?? null]);
      return hook === "SubagentStart" && event.input === "forbidden" ? { action: "block", reason: "not that" } : null;
    });
  }
  h.host.agent("primary", async ({ input, delegate }) => (await delegate("researcher", input)).output.toUpperCase());
  h.host.agent("primary.subagents.researcher", ({ input }) => {
    if (input === "fail") throw new Error("nothing found");
    return `found ${input}`;
  });
  const run = (input: string) => h.host.jobs.run({ agentName: "primary", input, conversationId: "ses_1" });
  assert.equal((await run("a map")).output, "FOUND A MAP");
  const subagent = { name: "researcher", parent: "primary", depth: 1 };
  assert.deepEqual(fired, [["SubagentStart", subagent, "a map", null], [
    "SubagentStop",
    subagent,
    "a map",
    "found a map",
  ]]);
  await assert.rejects(run("forbidden"), {
    code: "jobs.run_failed",
    message: /blocked the work of .*researcher": not that/,
  });
  await assert.rejects(run("fail"), { code: "jobs.run_failed", message: "nothing found" });
  await turn();
  const delegates = heard.filter(({ type }) => type.startsWith("delegate:")) as unknown as Record<string, unknown>[];
  const at = { parentAgent: "primary", childAgent: "primary.subagents.researcher", conversationId: "ses_1" };
  assert.deepEqual(delegates.map(({ timestamp: _, duration: _ms, ...rest }) => rest), [
    { type: "delegate:start", ...at, input: "a map" },
    { type: "delegate:end", ...at, output: "found a map" },
    { type: "delegate:start", ...at, input: "fail" },
    { type: "delegate:end", ...at, output: "" },
  ]);
});

test("T-005 T-001b a run that calls its model through the host emits model:call, and its tokens are the run's", async () => {
  await using h = await hosted({ ...memory, yaml: "primary: {}\n", primary: {}, fixtures: {} });
  const heard: AnyEvent[] = [];
  h.host.on("model:call", (event) => void heard.push(event as AnyEvent));
  const usages = [
    { usage: { inputTokens: 1, outputTokens: 2 } },
    { usage: { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 } },
    { usage: { input_tokens: 100, output_tokens: 200 } },
    { usage: Promise.resolve({ promptTokens: 1000, completionTokens: 2000 }) },
    "a text",
  ];
  h.host.agent("primary", async ({ callModel }) => {
    for (const answer of usages) assert.equal(await callModel("small-1", () => answer), answer);
    await assert.rejects(callModel("small-1", () => Promise.reject(new Error("overloaded"))), {
      message: "overloaded",
    });
    return "done";
  });
  const { usage } = await h.host.jobs.run(ask);
  assert.deepEqual(usage, { promptTokens: 1111, completionTokens: 2222, totalTokens: 3333 });
  await turn();
  const counts = heard.map((event) => {
    const { agentName, model, promptTokens, completionTokens } = event as unknown as Record<string, unknown>;
    return [agentName, model, promptTokens, completionTokens];
  });
  assert.deepEqual(counts.map(([, , prompt]) => prompt).sort(), [0, 1, 10, 100, 1000]);
  assert.deepEqual(counts[0]!.slice(0, 2), ["primary", "small-1"]);
});
