import assert from "node:assert/strict";
import { test } from "node:test";
import { Elysia } from "elysia";
import { Hono } from "hono";
import { type JobRoutes, jobRoutes, type JobRoutesOptions } from "../../src/http/job_app.ts";
import type { Job } from "../../src/jobs/types.ts";
import { checkAnswer } from "../support/api_document.ts";
import { heldAgent, jobsStage, turn, until } from "../jobs/jobs_stage.ts";

type Fetch = (request: Request) => Response | Promise<Response>;

/** Asks an app as a client would; each JSON answer must be as the host's own API document says. */
const client = (fetch: Fetch, base = "http://localhost") => async (line: string, body?: unknown, headers = {}) => {
  const [method, path] = line.split(" ") as [string, string];
  const json = body === undefined ? {} : { body: JSON.stringify(body) };
  const type = body === undefined ? {} : { "Content-Type": "application/json" };
  const response = await fetch(new Request(`${base}${path}`, { method, ...json, headers: { ...type, ...headers } }));
  const sent = response.headers.get("content-type") ?? "";
  if (sent.includes("json")) {
    checkAnswer(method, `/api/v1${path}`, { status: response.status, type: sent, body: await response.clone().json() });
  }
  return response;
};

const stage = async (options: Partial<JobRoutesOptions> = {}) => {
  const made = await jobsStage();
  const routes = jobRoutes({ jobs: made.jobs, clock: made.clock, ...options });
  return { ...made, routes, ask: client(routes.fetch) };
};

const eventsIn = (text: string) =>
  text.split("\n\n").filter((block) => block.includes("event: ")).map((block) => {
    const [, id, type, data] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block)!;
    return [id, type, JSON.parse(data!)];
  });

const problem = async (response: Response) => {
  assert.equal(response.headers.get("content-type"), "application/problem+json");
  const { code, status, detail } = await response.json();
  assert.equal(status, response.status);
  assert.ok(detail);
  return [response.status, code];
};

const ways: Record<string, (routes: JobRoutes) => ReturnType<typeof client>> = {
  "alone": ({ fetch }) => client((request) => fetch(request)),
  "mounted in a Hono app": ({ fetch }) => {
    const app = new Hono().mount("/api", (request) => fetch(request)).get("/own", (c) => c.text("own"));
    return client((request) => app.fetch(request), "http://localhost/api");
  },
  "as a route of a Hono app": (routes) => {
    const app = new Hono().route("/api", routes).get("/own", (c) => c.text("own"));
    return client((request) => app.fetch(request), "http://localhost/api");
  },
  "mounted in Elysia": ({ fetch }) => {
    const app = new Elysia().mount("/api", ((request: Request) => fetch(request)) as never).get("/own", () => "own");
    return client((request) => app.handle(request), "http://localhost/api");
  },
  "used in Elysia": (routes) => {
    const app = new Elysia().group("/api", (api) => api.use(routes.elysia)).get("/own", () => "own");
    return client((request) => app.handle(request), "http://localhost/api");
  },
};

for (const [way, mount] of Object.entries(ways)) {
  test(`T-008 T-009 T-010 T-011 ${way}: start, look, follow, list, cancel, delete`, async () => {
    const { jobs, routes } = await stage();
    const ask = mount(routes);
    const agent = heldAgent(jobs);
    const accepted = await ask("POST /agents/primary?async=true", { message: "Hello", conversationId: "ses_1" });
    assert.equal(accepted.status, 202);
    const { jobId } = await accepted.json();
    const run = await agent.next();
    assert.deepEqual([run.context.input, run.context.conversationId], ["Hello", "ses_1"]);
    run.context.emit("text", { delta: "a" });
    const streaming = ask(`GET /jobs/${jobId}/stream`);
    await turn();
    run.context.emit("text", { delta: "b" });
    const running: Job = await (await ask(`GET /jobs/${jobId}`)).json();
    assert.equal(running.status, "running");
    run.answer("Hi");
    const stream = await streaming;
    assert.equal(stream.headers.get("content-type"), "text/event-stream");
    const job: Job = await jobs.finished(jobId);
    assert.deepEqual(eventsIn(await stream.text()), [
      ["1-1", "text", { delta: "a" }],
      ["1-2", "text", { delta: "b" }],
      ["1-3", "done", job],
    ]);
    assert.deepEqual(await (await ask(`GET /jobs/${jobId}`)).json(), job);
    const completed = await (await ask("GET /jobs?status=completed&agentName=primary")).json();
    const { result, ...listed } = job;
    assert.deepEqual(completed, { jobs: [{ ...listed, resultAside: { truncated: true, bytes: 2 } }], next: null });
    assert.equal(await (await ask(`GET /jobs/${jobId}/result`)).text(), result);
    assert.deepEqual(await (await ask("GET /jobs?status=failed")).json(), { jobs: [], next: null });

    const { jobId: second } = await (await ask("POST /agents/primary?async=true", { input: "x" })).json();
    const { context } = await agent.next();
    assert.deepEqual(await problem(await ask(`DELETE /jobs/${second}`)), [409, "jobs.not_finished"]);
    assert.deepEqual(await (await ask(`POST /jobs/${second}/cancel`)).json(), { success: true });
    assert.equal(context.signal.aborted, true);
    assert.deepEqual(await problem(await ask(`POST /jobs/${second}/cancel`)), [409, "jobs.finished"]);
    assert.deepEqual(await (await ask(`DELETE /jobs/${second}`)).json(), { success: true });
    assert.deepEqual(await problem(await ask(`GET /jobs/${second}`)), [404, "jobs.unknown"]);
    if (way !== "alone") {
      const own = await mount(routes)("GET /../own");
      assert.equal(await own.text(), "own", "the rest of the app is its own");
    }
  });
}

test("T-008 a run without async answers with its result, and is aborted with its client", async () => {
  const { jobs, routes, ask } = await stage();
  const agent = heldAgent(jobs);
  const asking = ask("POST /agents/primary", { message: "Hello", conversationId: "ses_1" });
  (await agent.next()).answer("Hi");
  const response = await asking;
  const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  assert.deepEqual([response.status, await response.json()], [
    200,
    { result: "Hi", usage, toolsUsed: [], conversationId: "ses_1" },
  ]);
  const abort = new AbortController();
  const body = JSON.stringify({ message: "Hello" });
  const headers = { "Content-Type": "application/json" };
  const request = new Request("http://localhost/agents/primary", {
    method: "POST",
    body,
    headers,
    signal: abort.signal,
  });
  const leaving = routes.fetch(request);
  const { context, fail } = await agent.next();
  abort.abort();
  await until(() => context.signal.aborted);
  fail("aborted");
  assert.deepEqual(await problem(await leaving), [500, "jobs.run_failed"]);
  assert.deepEqual(await jobs.list(), []);
});

test("T-008 a job does not end with the client that started it", async () => {
  const { jobs, routes } = await stage();
  const agent = heldAgent(jobs);
  const abort = new AbortController();
  const body = JSON.stringify({ message: "Hello" });
  const headers = { "Content-Type": "application/json" };
  const url = "http://localhost/agents/primary?async=true";
  const { jobId } =
    await (await routes.fetch(new Request(url, { method: "POST", body, headers, signal: abort.signal }))).json();
  const { context, answer } = await agent.next();
  abort.abort();
  await turn();
  assert.equal(context.signal.aborted, false);
  answer("Hi");
  assert.equal((await jobs.finished(jobId)).status, "completed");
});

test("T-005 a streamed run sends its events and ends with done; a client that leaves aborts it", async () => {
  const { jobs, ask } = await stage();
  const agent = heldAgent(jobs);
  const streaming = ask("POST /agents/primary?stream=true", { message: "Hello", conversationId: "ses_1" });
  const run = await agent.next();
  run.context.emit("text", "a");
  run.answer("Hi");
  const usage = { promptTokens: 0, completionTokens: 0, totalTokens: 0 };
  assert.deepEqual(eventsIn(await (await streaming).text()), [
    ["1-1", "text", "a"],
    ["1-2", "done", { status: "completed", result: "Hi", usage, toolsUsed: [], conversationId: "ses_1" }],
  ]);

  const failing = await ask("POST /agents/primary?stream=true", { message: "Hello" });
  (await agent.next()).fail("no");
  assert.deepEqual(eventsIn(await failing.text()), [["1-1", "done", { status: "failed", error: "no" }]]);

  const leaving = await ask("POST /agents/primary?stream=true", { message: "Hello" });
  const { context } = await agent.next();
  await leaving.body!.cancel();
  assert.equal(context.signal.aborted, true);
});

test("T-009 a reader that comes back with Last-Event-ID goes on there, and gets 204 when there is nothing more", async () => {
  const { jobs, clock, ask } = await stage();
  const agent = heldAgent(jobs);
  const { id } = await jobs.start({ agentName: "primary", input: "x" });
  const { context, answer } = await agent.next();
  for (const n of [1, 2, 3]) context.emit("n", n);
  answer("x");
  await jobs.finished(id);
  const after = async (lastId: string) => {
    const response = await ask(`GET /jobs/${id}/stream`, undefined, { "Last-Event-ID": lastId });
    return response.status === 204
      ? 204
      : eventsIn(await response.text()).map(([eventId, type]) => `${eventId} ${type}`);
  };
  assert.deepEqual(await after("1-2"), ["1-3 n", "1-4 done"]);
  assert.deepEqual(await after("nonsense"), ["1-1 n", "1-2 n", "1-3 n", "1-4 done"]);
  assert.equal(await after("1-4"), 204);
  clock.advance(60_000);
  assert.deepEqual(await after("1-2"), ["0-0 lost", "0-1 done"]);
  assert.equal(await after("0-1"), 204);
});

test("T-009 a client that asks only for the head of a stream leaves no reader behind", async () => {
  const { jobs, clock, ask } = await stage();
  const agent = heldAgent(jobs);
  const { id } = await jobs.start({ agentName: "primary", input: "x" });
  const run = await agent.next();
  const head = await ask(`HEAD /jobs/${id}/stream`);
  assert.deepEqual([head.status, head.headers.get("content-type"), head.body], [200, "text/event-stream", null]);
  run.context.emit("text", "a");
  run.answer("x");
  await jobs.finished(id);
  clock.advance(60_000);
  const { body } = await ask(`GET /jobs/${id}/stream`);
  assert.match(await new Response(body).text(), /event: lost/, "the grace began without a reader");
});

test("T-010 GET /jobs returns the newest hundred, or the limit, and the cursor of the page before", async () => {
  const { jobs, ask } = await stage();
  heldAgent(jobs);
  for (let at = 0; at < 103; at++) await jobs.start({ agentName: "primary", input: `${at}` });
  const page = async (query: string) => {
    const { jobs, next } = await (await ask(`GET /jobs${query}`)).json() as { jobs: Job[]; next: string | null };
    return { inputs: jobs.map(({ input }) => Number(input)), next };
  };
  const first = await page("");
  assert.deepEqual([first.inputs.length, first.inputs[0], first.inputs.at(-1)], [100, 3, 102]);
  assert.deepEqual(await page(`?cursor=${first.next}`), { inputs: [0, 1, 2], next: null });
  const two = await page(`?limit=2&cursor=${first.next}&agentName=primary`);
  assert.deepEqual(two.inputs, [1, 2]);
  assert.deepEqual(await page(`?limit=1&cursor=${two.next}`), { inputs: [0], next: null });
});

test("T-009 a quiet stream sends a comment every 15 seconds", async () => {
  const { jobs, clock, ask } = await stage();
  heldAgent(jobs);
  const { id } = await jobs.start({ agentName: "primary", input: "x" });
  const { body } = await ask(`GET /jobs/${id}/stream`);
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
  assert.equal((await reader.read()).value, "retry: 2000\n\n");
  const reading = reader.read();
  await until(() => clock.isDueIn(15_000));
  clock.advance(15_000);
  assert.equal((await reading).value, ": alive\n\n");
  await reader.cancel();
});

test("T-010 each caller sees the jobs of its own scope alone", async () => {
  const scope = (request: Request) => request.headers.get("x-tenant") ?? undefined;
  const { jobs, ask } = await stage({ scope });
  heldAgent(jobs);
  const [mine, yours] = [{ "x-tenant": "acme" }, { "x-tenant": "other" }];
  const { jobId } = await (await ask("POST /agents/primary?async=true", { message: "x" }, mine)).json();
  assert.equal((await ask(`GET /jobs/${jobId}`, undefined, mine)).status, 200);
  const denied = [
    `GET /jobs/${jobId}`,
    `GET /jobs/${jobId}/stream`,
    `GET /jobs/${jobId}/result`,
    `POST /jobs/${jobId}/cancel`,
    `DELETE /jobs/${jobId}`,
  ];
  for (const line of denied) {
    for (const headers of [yours, {}]) {
      assert.deepEqual(await problem(await ask(line, undefined, headers)), [404, "jobs.unknown"], line);
    }
  }
  assert.deepEqual(await (await ask("GET /jobs", undefined, yours)).json(), { jobs: [], next: null });
});

test("T-008 bad requests are answered with the mistake", async () => {
  const { jobs, ask } = await stage();
  jobs.agent("primary", () => "x");
  const cases: [string, unknown, [number, string]][] = [
    ["POST /agents/nobody", { message: "x" }, [404, "jobs.agent_unknown"]],
    ["POST /agents/nobody?async=true", { message: "x" }, [404, "jobs.agent_unknown"]],
    ["POST /agents/nobody?stream=true", { message: "x" }, [404, "jobs.agent_unknown"]],
    ["POST /agents/primary", {}, [400, "http.input_invalid"]],
    ["POST /agents/primary", { message: 7 }, [400, "http.input_invalid"]],
    ["POST /agents/primary", { message: "x", more: 1 }, [400, "http.input_invalid"]],
    ["POST /agents/primary", { message: "x", conversationId: "" }, [400, "http.input_invalid"]],
    ["POST /agents/primary", "x".repeat(5_000_000), [413, "http.body_too_large"]],
    ["POST /agents/primary?async=maybe", { message: "x" }, [400, "http.input_invalid"]],
    ["POST /agents/primary", undefined, [400, "http.body_invalid"]],
    ["GET /jobs?status=gone", undefined, [400, "http.input_invalid"]],
    ["GET /jobs?limit=0", undefined, [400, "http.input_invalid"]],
    ["GET /jobs?limit=1001", undefined, [400, "http.input_invalid"]],
    ["GET /jobs?limit=1&limit=2", undefined, [400, "http.input_invalid"]],
    ["GET /jobs?cursor=job_none", undefined, [400, "http.cursor_invalid"]],
    ["GET /jobs?fields=secret", undefined, [400, "http.input_invalid"]],
    ["GET /jobs?scope=acme", undefined, [403, "jobs.scope_refused"]],
    ["GET /jobs?more=1", undefined, [400, "http.input_invalid"]],
    ["GET /jobs/job_1?more=1", undefined, [400, "http.input_invalid"]],
    ["GET /jobs/..%2Fsecret", undefined, [400, "http.input_invalid"]],
    ["GET /jobs/job_1/stream", undefined, [404, "jobs.unknown"]],
  ];
  for (const [line, body, expected] of cases) assert.deepEqual(await problem(await ask(line, body)), expected, line);
  assert.deepEqual(await jobs.list(), []);
});

test("T-008 a failure of another class reaches the log alone", async () => {
  const warnings: string[] = [];
  const { ask } = await stage({
    onWarning: (message) => warnings.push(message),
    scope: () => {
      throw new Error("secret detail");
    },
  });
  const response = await ask("GET /jobs");
  assert.equal(response.status, 500);
  assert.doesNotMatch(await response.text(), /secret/);
  assert.match(warnings[0]!, /secret detail/);
});

test("N-040 T-008 a body may come without its type, as fetch() sends a text, but not from a page of another site", async () => {
  const { jobs, routes } = await stage();
  heldAgent(jobs);
  const post = async (headers: Record<string, string>, body = '{ "message": "Check my email" }') =>
    await routes.fetch(new Request("http://localhost/agents/primary?async=true", { method: "POST", body, headers }));
  assert.equal((await post({})).status, 202, "fetch() names text/plain");
  assert.equal((await post({ Host: "localhost", Origin: "http://localhost" })).status, 202);
  assert.deepEqual(await problem(await post({}, "Check my email")), [400, "http.body_invalid"]);
  assert.deepEqual(await problem(await post({ "Content-Type": "text/html" })), [415, "http.media_type"]);
  assert.deepEqual(await problem(await post({ "Sec-Fetch-Site": "cross-site" })), [415, "http.media_type"]);
  const foreign = { Host: "localhost", Origin: "https://evil.example" };
  assert.deepEqual(await problem(await post(foreign)), [415, "http.media_type"]);
  assert.equal((await post({ ...foreign, "Content-Type": "application/json" })).status, 202);
});

test("N-040 T-009 every event of a job comes without a name too, unless that is not wanted", async () => {
  const { jobs, ask } = await stage();
  jobs.agent("primary", ({ emit }) => {
    emit("text", { delta: "Hi" });
    return "Hi";
  });
  const { id } = await jobs.start({ agentName: "primary", input: "x" });
  const job = await jobs.finished(id);
  const blocks = (await (await ask(`GET /jobs/${id}/stream`)).text()).split("\n\n").slice(1, -1);
  assert.deepEqual(blocks.filter((block) => !block.includes("event: ")).map((block) => JSON.parse(block.slice(6))), [
    { type: "text", data: { delta: "Hi" } },
    { type: "done", data: job },
  ]);
  const named = await (await ask(`GET /jobs/${id}/stream?unnamed=false`)).text();
  assert.deepEqual(eventsIn(named).map(([, type]) => type), ["text", "done"]);
  assert.doesNotMatch(named, /^data: \{"type"/m);
});
