import assert from "node:assert/strict";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { checkAnswer, CHECKED, OPERATIONS } from "../support/api_document.ts";
import { driftingServer, listedTool } from "../support/drifting_server.ts";
import { fixturePlugin } from "../support/fixture_plugins.ts";
import { type Answer, type Served, served, USUAL, YAML } from "../support/served.ts";

const PLUGIN = "/api/v1/plugins/echo";
const AGENT = "/api/v1/agents/primary";

/** A host with two plugins that run, an agent that answers and two plugins that wait for consent. */
async function everything(): Promise<Served> {
  const waiting = ["one", "two"].map((name) => `    ${name}: { package: "@test/${name}", source: "./${name}" }\n`);
  const s = await served({
    ...USUAL,
    yaml: YAML.replace("  plugins:\n", `  plugins:\n${waiting.join("")}    notes: { package: "@test/notes" }\n`),
    fixtures: {
      ...USUAL.fixtures,
      "@test/notes": { fixture: "answers_hooks", manifest: { name: "notes", hooks: [] } },
    },
    config: '[[tool_rules]]\ntool = "notes.look"\ndecision = "ask"\n',
    start: false,
  });
  for (const name of ["one", "two"]) {
    await using plugin = await fixturePlugin("echo", { manifest: { name } });
    await cp(plugin.dir, join(s.h.dir, name), { recursive: true });
  }
  s.h.host.agent("primary", ({ input }) => input.toUpperCase());
  await s.h.host.start();
  return s;
}

/** Asks for the tools that drifted since they were pinned, and approves one. */
async function drift(t: TestContext): Promise<void> {
  const server = await driftingServer(t, listedTool("add", "Adds"));
  const open = () => served({ home: server.home, primary: { drifts: {} } });
  await (await open())[Symbol.asyncDispose]();
  await server.list(listedTool("add", "Adds more"));
  await using s = await open();
  await s.h.next("plugin.tool_quarantined");
  const { body: { plugins } } = await s.ask("/api/v1/plugins");
  assert.deepEqual(plugins[0].quarantined, ["drifts.add"]);
  const { body: { tools: [held] } } = await s.ask("/api/v1/plugins/drifts/quarantine");
  assert.deepEqual([held.tool, held.kind], ["add", "changed"]);
  const approve = (tools: object): Promise<Answer> =>
    s.ask("/api/v1/plugins/drifts/quarantine/approve", { method: "POST", json: { tools } });
  assert.equal((await approve({})).status, 400);
  assert.deepEqual([(await approve({ add: held.pinned })).status, (await approve({ b: "x" })).status], [409, 404]);
  assert.deepEqual((await approve({ add: held.listed })).body, { plugin: "drifts", tools: [] });
  await s.ask("/api/v1/plugins/drifts/repin", { method: "POST" });
}

test("every route answers as /openapi.json describes: each status that is JSON is seen", async (t) => {
  await drift(t);
  await using s = await everything();
  const post = (path: string, json?: unknown): Promise<Answer> => s.ask(path, { method: "POST", json });
  for (
    const path of [
      "/healthz",
      "/openapi.json",
      "/api/v1/host",
      "/api/v1/plugins",
      "/api/v1/agents",
      "/api/v1/agents/primary/tools",
      "/api/v1/audit",
      "/api/v1/audit/verify",
    ]
  ) {
    await s.ask(path);
  }
  await post("/api/v1/tickets", { path: "/api/v1/events" });
  for (const order of ["disable", "enable", "restart", "reread", "reload"]) await post(`${PLUGIN}/${order}`);
  await s.ask(`${PLUGIN}/call/echo.params`);
  await post(`${PLUGIN}/call/echo.log`, { text: "one\n" });
  await s.h.logged(1);
  for (const part of ["", "/storage", "/knobs", "/schemas", "/logs"]) await s.ask(`${PLUGIN}${part}`);
  await s.ask(`${PLUGIN}/knobs/level`, { method: "PUT", json: { value: 3 } });
  for (const path of [AGENT, `${AGENT}/compaction`, "/api/v1/events"]) await s.ask(path);
  await post(`${AGENT}/tools/notes.ask`, { arguments: {} });

  await post(AGENT, { message: "hello" });
  const { body: { jobId } } = await post(`${AGENT}?async=true`, { message: "hello" });
  await s.h.host.jobs.finished(jobId);
  await s.ask("/api/v1/jobs");
  await s.ask(`/api/v1/jobs/${jobId}`);
  await s.ask(`/api/v1/jobs/${jobId}`, { method: "DELETE" });
  s.h.host.agent(
    "primary.subagents.researcher",
    ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  const held = await post("/api/v1/agents/primary.subagents.researcher?async=true", { message: "hello" });
  await post(`/api/v1/jobs/${held.body.jobId}/cancel`);

  const { body: { consents: [first, second] } } = await s.ask("/api/v1/consents");
  await post(`/api/v1/consents/${first.id}/decline`);
  await post(`/api/v1/consents/${first.id}/ask-again`);
  const { hash, added: grant } = second.offer;
  await post(`/api/v1/consents/${second.id}/approve`, { hash, grant });

  s.h.host.openSession({ id: "ses_1" });
  const asked = post(`${AGENT}/tools/notes.look`, { arguments: { query: "x" }, session: "ses_1" });
  await s.h.next("approval.requested");
  const { body: { approvals: [request] } } = await s.ask("/api/v1/approvals");
  await s.ask(`/api/v1/approvals/${request.id}`);
  await post(`/api/v1/approvals/${request.id}/answer`, { decision: "allow", scope: "session" });
  await asked;
  const { body: { answers: [kept] } } = await s.ask("/api/v1/approvals/answers");
  await s.ask(`/api/v1/approvals/answers/${kept.id}`, { method: "DELETE" });

  const documented = OPERATIONS.flatMap(([path, method, { responses }]) =>
    Object.entries(responses).filter(([, one]) =>
      "content" in one && "schema" in (one.content?.["application/json"] ?? {})
    )
      .map(([status]) => `${method} ${path} ${status}`)
  );
  assert.deepEqual(documented.filter((one) => !CHECKED.has(one)), []);
});

test("an answer that is not as documented fails the test that got it: a field too many, one too few, another code", () => {
  const answer = { status: 200, type: "application/json", body: { ok: true } as unknown };
  checkAnswer("GET", "/healthz", answer);
  for (const body of [{ ok: true, more: 1 }, {}, { ok: false }]) {
    assert.throws(() => checkAnswer("GET", "/healthz", { ...answer, body }), { code: "ERR_ASSERTION" });
  }
  assert.throws(() => checkAnswer("GET", "/healthz", { ...answer, status: 204 }), /status is not documented/);
  assert.throws(() => checkAnswer("GET", "/healthz", { ...answer, type: "text/html" }), /media type is not documented/);
  const problem = { type: "x", title: "x", status: 400, detail: "x", code: "plugin.unknown", rpc: -32602 };
  const failed = { status: 400, type: "application/problem+json", body: problem };
  assert.throws(() => checkAnswer("GET", "/healthz", failed), /code is not documented/);
  checkAnswer("GET", "/healthz", { ...failed, body: { ...problem, code: "http.input_invalid" } });
});
