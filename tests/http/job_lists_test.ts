import assert from "node:assert/strict";
import { test } from "node:test";
import { jobRoutes, type JobRoutesOptions } from "../../src/http/job_app.ts";
import { resultResponse } from "../../src/http/result_stream.ts";
import { piecesOf } from "../../src/jobs/results_aside.ts";
import type { Job } from "../../src/jobs/types.ts";
import { jobsStage } from "../jobs/jobs_stage.ts";
import { checkAnswer } from "../support/api_document.ts";
import { SECRET, served, USUAL } from "../support/served.ts";

const SCOPES = ["acme", "other", undefined] as const;
const MIB = 1024 * 1024;

/** Jobs of three scopes, held open, behind routes whose callers name their scope or are operators. */
async function stage(options: Partial<JobRoutesOptions> = {}) {
  const { jobs, clock } = await jobsStage();
  jobs.agent("primary", ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)));
  const routes = jobRoutes({
    jobs,
    clock,
    scope: (request) => request.headers.get("x-tenant") ?? undefined,
    operator: (request) => request.headers.get("x-operator") === "yes",
    ...options,
  });
  const ids: string[] = [];
  for (const scopeId of SCOPES) {
    const job = await jobs.start({ agentName: "primary", input: scopeId ?? "none", ...(scopeId && { scopeId }) });
    ids.push(job.id);
  }
  // deno-lint-ignore no-explicit-any
  const ask = async (line: string, headers: Record<string, string> = {}): Promise<{ status: number; body: any }> => {
    const [method, path] = line.split(" ") as [string, string];
    const response = await routes.fetch(new Request(`http://localhost${path}`, { method, headers }));
    const [{ status }, type] = [response, response.headers.get("content-type") ?? ""];
    const body = await response.json();
    checkAnswer(method, `/api/v1${path}`, { status, type, body });
    return { status, body };
  };
  const inputs = async (query: string, headers = {}): Promise<string[]> =>
    (await ask(`GET /jobs${query}`, headers)).body.jobs.map(({ input }: Job) => input);
  return { jobs, ids, ask, inputs };
}

const OPERATOR = { "x-operator": "yes" };

test("N-042 T-010 an operator lists the jobs of every scope or of one, page by page, and cancels any of them", async () => {
  const { jobs, ids, ask, inputs } = await stage();
  assert.deepEqual(await inputs("", OPERATOR), ["acme", "other", "none"]);
  assert.deepEqual(await inputs("?scope=acme", OPERATOR), ["acme"]);
  assert.deepEqual(await inputs("?scope=", OPERATOR), ["none"]);
  assert.deepEqual(await inputs("", { ...OPERATOR, "x-tenant": "acme" }), ["acme", "other", "none"]);
  const { body: { jobs: [newest], next } } = await ask("GET /jobs?limit=1", OPERATOR);
  assert.equal(newest.id, ids[2]);
  assert.deepEqual(await inputs(`?limit=5&cursor=${next}`, OPERATOR), ["acme", "other"]);
  assert.equal((await ask(`GET /jobs/${ids[1]}`, OPERATOR)).body.scopeId, "other");
  assert.deepEqual((await ask(`POST /jobs/${ids[1]}/cancel`, OPERATOR)).body, { success: true });
  assert.equal((await jobs.get(ids[1]!, "other")).status, "cancelled");
  assert.deepEqual((await ask(`DELETE /jobs/${ids[1]}`, OPERATOR)).body, { success: true });
});

test("N-042 T-010 a caller of one scope reaches no other one, whatever it asks for", async () => {
  const { jobs, ids, ask, inputs } = await stage();
  for (const [own, headers] of [["acme", { "x-tenant": "acme" }], ["none", {}]] as const) {
    assert.deepEqual(await inputs("", headers), [own]);
    assert.deepEqual(await inputs("", { ...headers, "x-operator": "no" }), [own]);
    for (const scope of ["other", own === "acme" ? "" : "acme"]) {
      const { status, body } = await ask(`GET /jobs?scope=${scope}`, headers);
      assert.deepEqual([status, body.code], [403, "jobs.scope_refused"], scope);
    }
    const { body: { next } } = await ask("GET /jobs?limit=1", OPERATOR);
    assert.deepEqual(await inputs(`?cursor=${next}`, headers), own === "acme" ? ["acme"] : [], "an operator's cursor");
    for (const line of [`GET /jobs/${ids[1]}`, `POST /jobs/${ids[1]}/cancel`, `GET /jobs/${ids[1]}/result`]) {
      assert.deepEqual((await ask(line, headers)).body.code, "jobs.unknown", line);
    }
  }
  assert.equal((await jobs.find(ids[1]!)).status, "running");
});

test("N-042 T-010 fields= chooses what a list carries; results come only when they are named", async () => {
  const { jobs, clock } = await jobsStage();
  jobs.agent("primary", ({ input }) => "x".repeat(Number(input)));
  const { fetch } = jobRoutes({ jobs, clock });
  for (const input of ["3", `${2 * MIB}`]) await jobs.finished((await jobs.start({ agentName: "primary", input })).id);
  const list = async (query: string) =>
    (await (await fetch(new Request(`http://localhost/jobs?${query}`))).json()).jobs;
  const [small, big] = await list("");
  assert.deepEqual([small.result, small.resultAside, small.input], [undefined, { truncated: true, bytes: 3 }, "3"]);
  const bigAside = { truncated: true, bytes: 2 * MIB };
  assert.deepEqual(await list("fields=status"), [small, big].map(({ id, status }) => ({ id, status })));
  assert.deepEqual(await list("fields=result,input"), [
    { id: small.id, input: "3", result: "xxx" },
    { id: big.id, input: big.input, resultAside: bigAside },
  ]);
  const { resultAside, result } = await (await fetch(new Request(`http://localhost/jobs/${big.id}`))).json();
  assert.deepEqual([resultAside, result], [bigAside, undefined]);
  const whole = await fetch(new Request(`http://localhost/jobs/${big.id}/result`));
  assert.equal(whole.headers.get("content-type"), "text/plain; charset=utf-8");
  assert.equal(await whole.text(), "x".repeat(2 * MIB));
  await jobs.stop();
});

test("N-042 T-010 the token of a host is an operator's: every scope is listed, read and cancelled, without secrets", async () => {
  await using s = await served({ ...USUAL, start: false });
  const { host } = s.h;
  host.agent("primary", ({ input, signal }) => {
    if (input !== "wait") return `${"x".repeat(2 * MIB)}${SECRET}${input}`;
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  });
  await s.h.host.start();
  const ended = await host.jobs.start({ agentName: "primary", input: "a", scopeId: "acme" });
  const waits = await host.jobs.start({ agentName: "primary", input: "wait", scopeId: "other" });
  await host.jobs.finished(ended.id, "acme");
  const { body } = await s.ask("/api/v1/jobs");
  assert.deepEqual(body.jobs.map(({ scopeId }: Job) => scopeId), ["acme", "other"]);
  assert.equal((await s.ask("/api/v1/jobs?scope=acme&fields=scopeId")).body.jobs.length, 1);
  const text = await (await s.raw(`/api/v1/jobs/${ended.id}/result`)).text();
  assert.equal(text.slice(2 * MIB), "[secret:token]a");
  assert.deepEqual((await s.ask(`/api/v1/jobs/${waits.id}/cancel`, { method: "POST" })).body, { success: true });
  assert.equal((await host.jobs.get(waits.id, "other")).status, "cancelled");
});

test("N-042 T-010 a secret in a result is hidden wherever the pieces of the stream end", async () => {
  const hide = <T>(value: T): T => (value as string).replaceAll("hunter2", "***") as T;
  for (const at of [0, 1, 262_137, 262_140, 262_144, 327_673, 327_680, 600_000]) {
    const text = `${"€".repeat(at)}hunter2🎈${"y".repeat(300_000)}`;
    const pieces = new Blob([...piecesOf(text)].map((piece) => piece.slice())).stream();
    assert.equal(await resultResponse(pieces, hide).text(), hide(text), `${at}`);
  }
});
