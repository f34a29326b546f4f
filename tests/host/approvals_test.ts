import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import type { Approval, ApprovalAnswer } from "../../src/core/approvals/types.ts";
import { agentHooks } from "../../src/hooks/agent/agent_hooks.ts";
import { memoryJobs } from "../../src/jobs/sqlite_jobs.ts";
import type { JobQueue } from "../../src/jobs/types.ts";
import { type Called, gated, notes, TOOL } from "../support/gate_doors.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { until, untilSettled } from "../support/until.ts";

const rule = (decision: string, more = ""): string =>
  `[[tool_rules]]\ntool = "notes.*"\n${more}decision = "${decision}"\n`;
const isCode = (code: string) => (error: { code?: string }): boolean => error.code === code;

/** Resolves with the only request that waits. */
async function waiting({ host }: Hosted): Promise<Approval> {
  const [request, ...more] = await until(async () => {
    const { items } = await host.approvals.list();
    return items.length > 0 && items;
  }, "a request") as Approval[];
  assert.deepEqual(more, []);
  return request!;
}

/** Answers the next request. */
async function answer(h: Hosted, given: ApprovalAnswer): Promise<Approval> {
  const request = await waiting(h);
  await h.host.approvals.answer(request.id, given, { by: "test" });
  return request;
}

const made = (h: Hosted): number => h.all("plugin.method_called").filter(({ data }) => data.method === TOOL).length;

test("N-025 N-026 through every door, a rule that denies refuses the call with who and why", async () => {
  await using g = await gated({ ...notes(), config: rule("deny") });
  for (const [door, call] of Object.entries(g.doors)) {
    const { error, output } = await call({ text: "hi" });
    assert.match(error?.code ?? `none, and ${JSON.stringify(output)}`, /^(403 )?tool\.denied$/, door);
    assert.match(error!.message, /^The call of "notes\.ask" was denied by config\.toml:1: /, door);
  }
  assert.equal(made(g.s.h), 0);
  assert.equal(g.s.h.all("plugin.tool_denied").length, Object.keys(g.doors).length);
});

test("N-026 through every door, a call that a rule asks for waits for the answer, and the tool is called once", async () => {
  await using g = await gated({ ...notes(), config: rule("ask") });
  for (const [door, call] of Object.entries(g.doors)) {
    const before = made(g.s.h);
    const called: Promise<Called> = call({ text: "hi" });
    const { tool, plugin, arguments: args, source, agentPath, projectId } = await answer(g.s.h, { decision: "allow" });
    assert.deepEqual(
      [tool, plugin, args, agentPath, projectId],
      [TOOL, "notes", { text: "hi" }, "primary", "music"],
      door,
    );
    assert.deepEqual(source, { kind: "rule", id: "config.toml:1" }, door);
    const { error, output } = await called;
    assert.deepEqual([error, output], [undefined, { text: "hi" }], door);
    assert.equal(made(g.s.h), before + 1, door);

    const refused: Promise<Called> = call({ text: "no" });
    await answer(g.s.h, { decision: "deny", reason: "Not on a Monday" });
    assert.equal((await refused).error?.message, 'The call of "notes.ask" was denied by test: Not on a Monday', door);
    assert.equal(made(g.s.h), before + 1, door);
  }
});

test("N-025 a rule that watches lets the call pass, and records what it would have asked", async () => {
  await using h = await hosted({ ...notes(), config: rule("watch") });
  await h.host.openSession({ id: "ses_1" }).callTool(TOOL, { text: "hi" });
  const { data } = await h.next("plugin.tool_watched");
  assert.deepEqual(data, {
    tool: TOOL,
    by: "config.toml:1",
    read_only: false,
    destructive: false,
    agent_path: "primary",
    session_id: "ses_1",
  });
});

test("N-025 a watched call is recorded once, however often it is judged, and not at all when a handler blocks it", async () => {
  await using h = await hosted({ ...notes(), config: rule("watch") });
  h.host.hooks.register("PreToolUse", function change({ input }) {
    const { text } = input as { text: string };
    if (text === "bad") return { action: "block", reason: "no" };
    return { action: "ask", reason: "sure?", modifiedInput: { text: `${text}!` } };
  });
  const session = h.host.openSession();
  await assert.rejects(session.callTool(TOOL, { text: "bad" }), isCode("tool.blocked"));
  assert.equal(h.all("plugin.tool_watched").length, 0);
  const called = session.callTool(TOOL, { text: "hi" });
  await answer(h, { decision: "allow" });
  await called;
  assert.equal(h.all("plugin.tool_watched").length, 1);
});

test("N-025 a project can tighten what the operator allows, and not loosen it", async () => {
  const { fixtures } = notes();
  const yaml = {
    primary: {
      plugins: { notes: { package: "@test/notes" } },
      tools: { "notes.ask": { approval: "deny" }, "notes.look": { approval: "watch" } },
    },
  };
  await using h = await hosted({ fixtures: fixtures!, yaml, config: rule("ask", 'agent = "primary"\n') });
  const session = h.host.openSession();
  await assert.rejects(session.callTool(TOOL, { text: "hi" }), {
    code: "tool.denied",
    message: /denied by project\.yaml:primary:notes\.ask/,
  });
  const looked = session.callTool("notes.look", { query: "x" });
  await answer(h, { decision: "allow" });
  await looked;
});

test("N-026 one request for a rule and the handlers that ask, with the arguments as they are then", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask") });
  h.host.hooks.register("PreToolUse", function careful(event) {
    event.ask({ reason: "It leaves the house" });
  });
  h.host.hooks.register("PreToolUse", function polite() {
    return { action: "modify", modifiedInput: { text: "hello" } };
  });
  h.host.hooks.register("PreToolUse", function second() {
    return { action: "ask", reason: "It is long" };
  });
  const called = h.host.openSession().callTool(TOOL, { text: "hi" });
  const request = await answer(h, { decision: "allow" });
  assert.deepEqual(request.sources, [
    { kind: "rule", id: "config.toml:1" },
    { kind: "hook", id: "careful" },
    { kind: "hook", id: "second" },
  ]);
  assert.match(request.reason, /It leaves the house; It is long$/);
  assert.deepEqual([request.arguments, request.changed], [{ text: "hello" }, {
    before: { text: "hi" },
    by: ["polite"],
  }]);
  await called;
  assert.equal(h.all("approval.requested").length, 1);
  assert.equal(made(h), 1);
});

test("N-026 a handler that blocks wins over those that ask: nobody is asked", async () => {
  await using h = await hosted(notes());
  h.host.hooks.register("PreToolUse", (event) => event.ask({ reason: "sure?" }));
  h.host.hooks.register("PreToolUse", () => ({ action: "block", reason: "never" }));
  await assert.rejects(h.host.openSession().callTool(TOOL, { text: "hi" }), isCode("tool.blocked"));
  assert.equal(h.all("approval.requested").length, 0);
});

test("N-026 edited arguments are checked against the schema again, and a rule that came meanwhile stops them", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask") });
  const session = h.host.openSession();
  const called = session.callTool("notes.look", { query: "a" });
  const { id } = await waiting(h);
  const wrong = h.host.approvals.answer(id, { decision: "allow", arguments: { query: 7 } });
  await assert.rejects(wrong, { code: "tool.arguments_invalid", message: /query: Expected string/ });
  await h.host.approvals.answer(id, { decision: "allow", arguments: { query: "b" } });
  assert.equal(((await called).output as { params: { query: string } }).params.query, "b");

  const stopped = session.callTool("notes.look", { query: "a" });
  const { id: second } = await waiting(h);
  await writeFile(`${h.home}/config.toml`, rule("deny"));
  await untilSettled(h.next("rules.changed"), "the new rule is read", { meanwhile: () => h.clock.advance(500) });
  await h.host.approvals.answer(second, { decision: "allow", arguments: { query: "b" } });
  await assert.rejects(stopped, { code: "tool.denied", message: /denied by config\.toml:1/ });
});

test("N-026 always writes a rule above the one that asks, which holds at once and is audited", async () => {
  await using h = await hosted({ ...notes(), config: `log_level = "info"\n\n# mine\n${rule("ask")}` });
  const session = h.host.openSession();
  const called = session.callTool(TOOL, { text: "hi" });
  await answer(h, { decision: "allow", scope: "always" });
  await called;
  await session.callTool(TOOL, { text: "again" });
  const looked = session.callTool("notes.look", { query: "a" });
  await answer(h, { decision: "deny" });
  await assert.rejects(looked, isCode("tool.denied"));
  const text = await readFile(`${h.home}/config.toml`, "utf8");
  const added = 'tool = "notes.ask"\nagent = "primary"\nproject = "music"\ndecision = "allow"\n';
  assert.equal(text, `log_level = "info"\n\n[[tool_rules]]\n${added}\n# mine\n${rule("ask")}`);
  assert.equal((await h.next("rules.changed")).data.change, "added");
});

test("N-026 always to a handler is kept as an answer, listed, and can be revoked", async () => {
  await using h = await hosted(notes());
  h.host.hooks.register("PreToolUse", function careful(event) {
    event.ask({ reason: "sure?" });
  });
  const session = h.host.openSession();
  const called = session.callTool(TOOL, { text: "hi" });
  await answer(h, { decision: "allow", scope: "always" });
  await called;
  await session.callTool(TOOL, { text: "again" });
  const [kept] = await h.host.approvals.standing();
  assert.deepEqual(kept!.source, { kind: "hook", id: "careful" });
  await h.host.approvals.revoke(kept!.id);
  const asked = session.callTool(TOOL, { text: "third" });
  await answer(h, { decision: "allow" });
  await asked;
});

test("N-026 an answer for the session ends with the session", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask") });
  const first = h.host.openSession({ id: "ses_1" });
  const called = first.callTool(TOOL, { text: "hi" });
  await answer(h, { decision: "allow", scope: "session" });
  await called;
  await first.callTool(TOOL, { text: "again" });
  await first.close();
  assert.deepEqual(await h.host.approvals.standing(), []);
});

test("N-027 nobody answers: the call is denied when the time of the operator is over, with words for the model", async () => {
  await using h = await hosted({ ...notes(), config: `${rule("ask")}[approvals]\nwait_sec = 30\n` });
  const called = h.host.openSession().callTool(TOOL, { text: "hi" });
  await waiting(h);
  const refused = assert.rejects(called, {
    code: "tool.denied",
    message: /Nobody answered in time/,
    hint: /go on without it/,
  });
  h.clock.advance(30_000);
  await refused;
  assert.equal(h.all("approval.expired").length, 1);
});

test("N-027 a caller that gives up, and a host that stops, withdraw the request", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask") });
  const abort = new AbortController();
  const session = h.host.openSession();
  const called = session.callTool(TOOL, { text: "hi" }, { signal: abort.signal });
  await waiting(h);
  abort.abort();
  await assert.rejects(called, isCode("protocol.cancelled"));
  await h.next("approval.withdrawn");
  const stopped = assert.rejects(session.callTool(TOOL, { text: "hi" }), isCode("host.stopped"));
  await waiting(h);
  await untilSettled(h.host.stop(), "the stop", { meanwhile: () => h.clock.advance(100) });
  await stopped;
  assert.equal(h.all("approval.withdrawn").length, 2);
});

test("N-026 onAsk of the embedder answers, with the request as every front end gets it", async () => {
  const seen: string[] = [];
  await using h = await hosted({
    ...notes(),
    config: rule("ask"),
    onAsk({ tool, reason, arguments: args }) {
      seen.push(`${tool} ${JSON.stringify(args)} ${reason}`);
      return { decision: "allow" };
    },
  });
  await h.host.openSession().callTool(TOOL, { text: "hi" });
  assert.match(seen.join(), /^notes\.ask {"text":"hi"} /);
});

test("N-027 a job that waits says so with the request's id and keeps its lease; its stream hears of it", async () => {
  let beats = 0;
  const { queue, ...kept } = memoryJobs();
  const heartbeat: JobQueue["heartbeat"] = async (...claim) => {
    const isHeld = await queue.heartbeat(...claim);
    beats += isHeld ? 1 : 0;
    return isHeld;
  };
  const backend = { ...kept, queue: { ...queue, heartbeat } };
  await using h = await hosted({ ...notes(), config: rule("ask"), jobs: { leaseMs: 3_000, backend } });
  h.host.agent("primary", async ({ tools }) => JSON.stringify(await tools.call(TOOL, { text: "hi" })));
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "go" });
  const request = await waiting(h);
  assert.equal(request.jobId, id);
  const said = await until(async () => (await h.host.jobs.get(id)).waiting, "the job says that it waits");
  assert.deepEqual(said, [{ approvalId: request.id, tool: TOOL, since: request.createdAt }]);
  for (let beat = 1; beat <= 10; beat++) {
    h.clock.advance(1_000);
    await until(() => beats === beat, "the lease is renewed");
  }
  assert.equal((await h.host.jobs.get(id)).status, "running");
  await h.host.approvals.answer(request.id, { decision: "allow" });
  const job = await h.host.jobs.finished(id);
  assert.deepEqual([job.status, job.waiting], ["completed", undefined]);
  const events: string[] = [];
  for await (const { type } of await h.host.jobs.stream(id)) events.push(type);
  assert.deepEqual(events.filter((type) => type.startsWith("approval:")), ["approval:requested", "approval:ended"]);
});

test("N-027 a job that is cancelled withdraws its request", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask") });
  h.host.agent("primary", async ({ session }) => JSON.stringify(await session.callTool(TOOL, { text: "hi" })));
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "go" });
  const request = await waiting(h);
  assert.equal(request.jobId, id);
  await h.host.jobs.cancel(id);
  await h.next("approval.withdrawn");
  assert.equal((await h.host.approvals.get(request.id)).state, "withdrawn");
});

test("N-027 a job that runs again after a stop joins its request; an equal call of the same run is asked by itself", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask"), jobs: { maxAttempts: 2 } });
  h.host.agent("primary", async ({ tools }) => {
    await tools.call(TOOL, { text: "hi" });
    await tools.call(TOOL, { text: "hi" });
    return "done";
  });
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "go" });
  const first = await answer(h, { decision: "allow" });
  const second = await waiting(h);
  assert.notEqual(first.id, second.id);
  await untilSettled(h.host.stop(), "the stop", { meanwhile: () => h.clock.advance(100) });
  await h.host.start();
  await until(async () => (await h.host.jobs.get(id)).waiting, "the job waits again");
  assert.deepEqual((await h.host.approvals.list({ state: "all" })).items.map((one) => one.id), [second.id, first.id]);
  await h.host.approvals.answer(second.id, { decision: "allow" });
  assert.equal((await h.host.jobs.finished(id)).result, "done");
  assert.equal(h.all("approval.requested").length, 2);
});

test("N-026 a handler that asks around a tool of the embedder's own loop uses the same desk", async () => {
  await using h = await hosted(notes());
  h.host.hooks.register("PreToolUse", function careful(event) {
    event.ask({ reason: "sure?" });
  });
  h.host.openSession({ id: "ses_1" });
  const loop = agentHooks(h.host.hooks, { session: "ses_1" });
  const step = loop.beforeTool("shell", { command: "ls" });
  const request = await answer(h, { decision: "allow", arguments: { command: "pwd" } });
  assert.deepEqual([request.tool, request.plugin], ["shell", null]);
  assert.deepEqual((await step).input, { command: "pwd" });
  const refused = loop.beforeTool("shell", { command: "rm" });
  await answer(h, { decision: "deny", reason: "no" });
  assert.deepEqual([(await refused).blocked, (await refused).reason], [true, "no"]);
});

test("N-026 always to a project's rule, which nobody but the project may loosen, is kept as an answer", async () => {
  const { fixtures } = notes();
  const primary = { plugins: { notes: { package: "@test/notes" } }, tools: { [TOOL]: { approval: "ask" } } };
  await using h = await hosted({ fixtures: fixtures!, yaml: { primary }, config: "" });
  const session = h.host.openSession();
  const called = session.callTool(TOOL, { text: "hi" });
  await answer(h, { decision: "allow", scope: "always" });
  await called;
  await session.callTool(TOOL, { text: "again" });
  const [kept] = await h.host.approvals.standing();
  assert.deepEqual(kept!.source, { kind: "rule", id: `project.yaml:primary:${TOOL}` });
  assert.equal(await readFile(`${h.home}/config.toml`, "utf8"), "");
});

test("N-027 a job that ends without waiting for its call withdraws the request; the streams of jobs hear of their own", async () => {
  await using h = await hosted({ ...notes(), config: rule("ask") });
  h.host.agent("primary", async ({ input, tools }) => {
    const call = tools.call(TOOL, { text: input });
    if (input === "hasty") {
      call.catch(() => {});
      await until(async () => (await h.host.approvals.list()).items.length === 2, "both wait");
    } else await call;
    return "done";
  });
  const patient = await h.host.jobs.start({ agentName: "primary", input: "patient" });
  const request = await waiting(h);
  const hasty = await h.host.jobs.start({ agentName: "primary", input: "hasty" });
  assert.equal((await h.host.jobs.finished(hasty.id)).status, "completed");
  await h.next("approval.withdrawn");
  assert.equal((await waiting(h)).id, request.id);
  await h.host.approvals.answer(request.id, { decision: "allow" });
  await h.host.jobs.finished(patient.id);
  const events: unknown[] = [];
  for await (const { type, data } of await h.host.jobs.stream(patient.id)) {
    if (type.startsWith("approval:")) events.push((data as { approvalId: string }).approvalId);
  }
  assert.deepEqual(events, [request.id, request.id]);
});

test("N-026 a handler that asks around a tool of the loop whose input is no object gets the edited value back", async () => {
  await using h = await hosted(notes());
  h.host.hooks.register("PreToolUse", function careful(event) {
    event.ask({ reason: "sure?" });
  });
  h.host.openSession({ id: "ses_1" });
  const step = agentHooks(h.host.hooks, { session: "ses_1" }).beforeTool("shell", "rm");
  const request = await answer(h, { decision: "allow", arguments: { input: "ls" } });
  assert.deepEqual([request.arguments, (await step).input], [{ input: "rm" }, "ls"]);
});
