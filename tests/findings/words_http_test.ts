/**
 * Findings about jobs, the HTTP API and the console. The tests use the public entries and the oldest parts of
 * `tests/support`, so that they can be run on the state of the repository in which each was found.
 */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { createHost, HostError, type HostOptions } from "@kaged/plugin-host";
import { createConsoleLogger } from "@kaged/plugin-host/addons";
import * as http from "@kaged/plugin-host/http";
import { createJobs, memoryJobs } from "@kaged/plugin-host/jobs";
import { Hono } from "hono";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createFakeClock } from "../support/fake_clock.ts";
import { hosted } from "../support/hosted.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { listening, served, TOKEN } from "../support/served.ts";

const CALL = "/api/v1/plugins/echo/call/echo.params";

const runtime = await detectRuntime();

/** Jobs in memory whose agent says hello, and their routes. */
async function stage() {
  const { clock } = runtime;
  const jobs = createJobs({ backend: memoryJobs(runtime), runtime });
  jobs.agent("primary", ({ emit }) => {
    emit("text", { delta: "Hi" });
    return "Hi";
  });
  await jobs.work();
  return { jobs, clock, routes: http.jobRoutes({ jobs, clock }), [Symbol.asyncDispose]: () => jobs.stop() };
}

// Finding 2: routes could only be mounted as a fetch function, and no framework saw them.
test("T-011 N-040 job routes are a part of a Hono app, and their operations stand for any OpenAPI document", async () => {
  await using made = await stage();
  assert.doesNotThrow(() => new Hono().route("/api", made.routes as never));
  const app = new Hono().route("/api", made.routes as never);
  assert.equal((await app.request("/api/jobs")).status, 200);
  assert.deepEqual(app.routes.filter(({ path, method }) => path === "/api/jobs" && method === "GET").length, 1);
  const { operations } = made.routes as { operations?: readonly { path: string }[] };
  assert.ok(operations?.some(({ path }) => path === "/jobs/{id}"), "no operations");
});

// Finding 6: the document's own fetch() sends a text without a JSON type, and onmessage hears unnamed events alone.
test("T-008 T-009 N-040 a text that is JSON starts a job, and every event of its stream comes unnamed too", async () => {
  await using made = await stage();
  const body = JSON.stringify({ message: "Check my email" });
  const request = new Request("http://localhost/agents/primary?async=true", { method: "POST", body });
  const started = await made.routes.fetch(request);
  assert.equal(started.status, 202);
  const { jobId } = await started.json();
  await made.jobs.finished(jobId);
  const stream = await (await made.routes.fetch(new Request(`http://localhost/jobs/${jobId}/stream`))).text();
  const unnamed = stream.split("\n\n").filter((block) => /^data: /m.test(block) && !/^event: /m.test(block));
  assert.deepEqual(unnamed.map((block) => JSON.parse(/^data: (.*)$/m.exec(block)![1]!).type), ["text", "done"]);
});

// Finding 7: an EventSource has no headers, and the stream took a token in a header alone.
test("T-009 a page follows a stream with a ticket, and the token stays out of its address", async () => {
  await using s = await served();
  const path = "/api/v1/events";
  const issued = await s.raw("/api/v1/tickets", {
    method: "POST",
    body: JSON.stringify({ path }),
    headers: { "Content-Type": "application/json" },
  });
  assert.equal(issued.status, 200);
  const { ticket } = await issued.json();
  const opened = await s.raw(`${path}?ticket=${ticket}`, { headers: { Authorization: "" } });
  assert.equal(opened.status, 200);
  assert.equal((await s.raw(`${path}?ticket=x${ticket}`, { headers: { Authorization: "" } })).status, 401);
});

/** Sends a head by hand; resolves with the head of the answer. */
function headOf(port: number, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect({ host: "127.0.0.1", port }, () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    socket.on("data", (chunk) => {
      text += chunk;
      const end = text.indexOf("\r\n\r\n");
      if (end < 0) return;
      resolve(text.slice(0, end).toLowerCase());
      socket.destroy();
    });
    socket.on("error", reject);
  });
}

/** Serves a handler at a free port for as long as a test takes. */
async function listen(handler: Parameters<typeof runtime.http.listen>[0]["handler"]) {
  const server = await runtime.http.listen({ at: { hostname: "127.0.0.1", port: 0 }, handler });
  return {
    port: server.port!,
    async [Symbol.asyncDispose]() {
      const stopped = server.stop();
      await server.destroy();
      await stopped;
    },
  };
}

// Finding 8, on Deno: a run went on, and was paid for, when nobody waited for it any more.
test("T-008 a run is aborted when the client that waits for it leaves", async () => {
  await using s = await served({ yaml: "primary: { plugins: {} }\n" });
  const begun = Promise.withResolvers<AbortSignal>();
  const over = Promise.withResolvers<string>();
  s.h.host.agent("primary", ({ signal }) => {
    begun.resolve(signal);
    return over.promise;
  });
  await using server = await listening(s);
  const leaving = new AbortController();
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${TOKEN}` };
  const init = { method: "POST", headers, body: '{ "message": "Go" }', signal: leaving.signal };
  const response = fetch(`http://127.0.0.1:${server.port}/api/v1/agents/primary`, init);
  const run = await begun.promise;
  leaving.abort();
  await assert.rejects(response);
  for (let turns = 0; turns < 100_000 && !run.aborted; turns++) await new Promise(setImmediate);
  over.resolve("late");
  assert.ok(run.aborted, "The run goes on");
});

// Finding 9, on Deno: a client that joins its protocols by a bare comma, as npm's ws does, got a 500.
test("K-016 a WebSocket's protocols may be joined by a bare comma", async () => {
  await using server = await listen((_, connection) => {
    connection.upgrade({ protocol: "kaged.v1", open() {}, closed() {} });
    return Promise.resolve(new Response(null));
  });
  const head = await headOf(server.port, [
    "GET / HTTP/1.1",
    `Host: 127.0.0.1:${server.port}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol: other,kaged.v1",
  ]);
  assert.match(head, /^http\/1.1 101 [^]*\r\nsec-websocket-protocol: kaged.v1/);
});

// Finding 16: a database that was away for longer than the lease made finished jobs failed ones.
test("T-008 a run that ended while the database was away keeps its answer, where nobody else has begun the job", async () => {
  const clock = createFakeClock();
  const { ids } = runtime;
  const backend = memoryJobs({ clock, ids });
  let isAway = false;
  const reached = new Proxy(backend.queue, {
    get(queue, name) {
      const method = Reflect.get(queue, name) as unknown;
      if (typeof method !== "function") return method;
      return (...args: unknown[]) => isAway ? Promise.reject(new Error("Away")) : Reflect.apply(method, queue, args);
    },
  });
  const own = { store: backend.store, queue: reached, close: () => backend.close() } as typeof backend;
  const jobs = createJobs({
    backend: own,
    runtime: { clock, ids },
    leaseMs: 15_000,
    maxAttempts: 1,
    onProblem: () => {},
  });
  const begun = Promise.withResolvers<void>();
  const over = Promise.withResolvers<string>();
  jobs.agent("primary", () => {
    begun.resolve();
    return over.promise;
  });
  await jobs.work();
  const { id } = await jobs.start({ agentName: "primary", input: "Go" });
  await begun.promise;
  isAway = true;
  over.resolve("kept");
  await new Promise(setImmediate);
  clock.advance(16_000);
  // Another process finds the lease that has run out.
  const lost = "The process that ran the job ended, or could not say that it lives";
  assert.equal((await backend.queue.recover({ maxAttempts: 1, error: lost }))[0]?.id, id);
  isAway = false;
  for (let turns = 0; turns < 200 && (await jobs.get(id)).status !== "completed"; turns++) {
    clock.advance(500);
    await new Promise(setImmediate);
  }
  const { status, result } = await jobs.get(id);
  assert.deepEqual([status, result], ["completed", "kept"]);
  await jobs.stop();
});

// Findings 11 and 18: 413 promised to keep the connection it then broke; 401 did not name its scheme.
test("a body that is too large ends the connection in so many words, and 401 names the scheme", async () => {
  await using s = await served();
  await using server = await listening(s);
  const at = `Host: 127.0.0.1:${server.port}`;
  const token = `Authorization: Bearer ${TOKEN}`;
  const large = [`POST ${CALL} HTTP/1.1`, at, token, "Content-Type: application/json", "Content-Length: 99999999"];
  const refused = await headOf(server.port, large);
  assert.match(refused, /^http\/1.1 413 /);
  assert.match(refused, /^connection: close$/m);
  assert.match(await headOf(server.port, [`GET ${CALL} HTTP/1.1`, at]), /^www-authenticate: bearer$/m);
});

// Finding 14: generators of typed clients take an object that says nothing of its keys for an empty one.
test("/openapi.json leaves no free-form object without a word about its keys", async () => {
  await using s = await served();
  const document = await (await s.raw("/openapi.json")).json();
  const silent: string[] = [];
  const look = (value: unknown, place: string): void => {
    if (typeof value !== "object" || value === null) return;
    const { type, properties, additionalProperties } = value as Record<string, unknown>;
    if (type === "object" && properties === undefined && additionalProperties === undefined) silent.push(place);
    for (const [key, part] of Object.entries(value)) look(part, `${place}/${key}`);
  };
  look(document, "");
  assert.deepEqual(silent, []);
});

// Finding 17: the events were declared, and nothing of the host emitted them.
test("T-005 T-001b a run's delegation and its call of a model are heard", async () => {
  await using h = await hosted({
    yaml: { primary: { plugins: {}, subagents: { helper: { plugins: {} } } } },
    events: { level: "trace" },
  });
  const heard: string[] = [];
  h.host.on("*", ({ type }) => void heard.push(type));
  type Steps = {
    delegate?(agent: string, input: string): Promise<{ output: string }>;
    callModel?<T>(model: string, call: () => T): Promise<T>;
  };
  h.host.agent("primary.subagents.helper", async (run) => {
    const call = (run as Steps).callModel;
    await call?.("small-1", () => ({ usage: { inputTokens: 3, outputTokens: 1 } }));
    return "helped";
  });
  h.host.agent("primary", async (run) => (await (run as Steps).delegate?.("helper", "Help"))?.output ?? "alone");
  const { output } = await h.host.jobs.run({ agentName: "primary", input: "Go" });
  assert.equal(output, "helped");
  await h.host.stop();
  const steps = heard.filter((type) => /^(delegate|model):/.test(type));
  assert.deepEqual(steps, ["delegate:start", "model:call", "delegate:end"]);
});

// Finding 18: a wrong option did nothing, without a word.
test("an option that cannot have its value is refused with its name: a level, a format", async (t) => {
  const dir = await scratchDir(t);
  await writeFile(join(dir, "project.yaml"), "primary: { plugins: {} }\n");
  const options = { project: dir, home: `${dir}/home`, events: { level: "verbose" } } as unknown as HostOptions;
  await assert.rejects(
    createHost(options).then((host) => host.stop()),
    ({ code, message }: { code: string; message: string }) =>
      code === "host.option_invalid" && message.includes("events.level"),
  );
  const source = { on: () => () => {} } as never;
  assert.throws(() => createConsoleLogger(source, { format: "xml" } as never), { message: /format/ });
});

// Finding 18: nobody knew when to come back from a 503.
test("a database that cannot be reached is a 503 that says when to try again", async () => {
  await using made = await stage();
  const value = () => Promise.reject(new HostError("jobs.store_unavailable", "The jobs database cannot be used"));
  const jobs = Object.create(made.jobs, { list: { value }, page: { value } });
  const routes = http.jobRoutes({ jobs, clock: made.clock });
  const { status, headers } = await routes.fetch(new Request("http://localhost/jobs"));
  assert.deepEqual([status, headers.get("retry-after")], [503, "1"]);
});
