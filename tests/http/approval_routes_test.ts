import assert from "node:assert/strict";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { requestOverSocket } from "../../src/adapters/shared/request_over_socket.ts";
import { notes, TOOL } from "../support/gate_doors.ts";
import type { HostedOptions } from "../support/hosted.ts";
import { type Answer, failed, SECRET, type Served, served } from "../support/served.ts";
import { until, untilSettled } from "../support/until.ts";

const PATH = "/api/v1/approvals";
const RULE = '[[tool_rules]]\ntool = "notes.*"\ndecision = "ask"\n';

const asking = (more: HostedOptions = {}): HostedOptions => ({ ...notes(), config: RULE, ...more });

/** Calls a tool, which then waits; returns its request and, later, its outcome. */
async function call(s: Served, args: Record<string, unknown>, at: { tool?: string; session?: string } = {}) {
  const { tool = TOOL, session = "ses_1" } = at;
  const open = s.h.host.view.sessions().includes(session)
    ? s.h.host.session(session)
    : s.h.host.openSession({ id: session });
  const outcome = open.callTool(tool, args).then(({ output }) => output, (error) => error as Error);
  const { data } = await s.h.next("approval.requested");
  return { id: data.approval_id, outcome };
}

const answer = (s: Served, id: string, json: unknown): Promise<Answer> =>
  s.ask(`${PATH}/${id}/answer`, { method: "POST", json });

test("N-026 a call that waits is listed and read over HTTP, in the words of the API, and ends with the answer", async () => {
  await using s = await served(asking());
  s.h.host.hooks.register("PreToolUse", function polite() {
    return { action: "modify", modifiedInput: { text: "hello" } };
  });
  const { id, outcome } = await call(s, { text: "hi" });
  const { body: { approvals: [listed], next } } = await s.ask(PATH);
  const { created_at, expires_at, ...rest } = listed;
  assert.equal(Date.parse(expires_at) - Date.parse(created_at), 600_000);
  assert.deepEqual(rest, {
    id,
    project_id: "music",
    agent_path: "primary",
    session_id: "ses_1",
    job_id: null,
    tool: TOOL,
    plugin: "notes",
    arguments: { text: "hello" },
    arguments_cut: false,
    changed: { before: { text: "hi" }, by: ["polite"] },
    source: { kind: "rule", id: "config.toml:1" },
    sources: [{ kind: "rule", id: "config.toml:1" }],
    reason: listed.reason,
    state: "waiting",
    end: null,
  });
  assert.equal(next, null);
  assert.deepEqual((await s.ask(`${PATH}/${id}`)).body, listed);

  const { status, body } = await answer(s, id, { decision: "deny", reason: "Not on a Monday" });
  assert.deepEqual([status, body.state, body.end.by, body.end.answer], [
    200,
    "denied",
    "http",
    { decision: "deny", scope: "once", reason: "Not on a Monday" },
  ]);
  assert.match(String(await outcome), /was denied by http: Not on a Monday/);
  assert.deepEqual((await s.ask(PATH)).body.approvals, []);
  const { body: ended } = await s.ask(`${PATH}?state=ended`);
  assert.deepEqual(ended.approvals, [body]);
});

test("N-026 of two answers over HTTP the first counts; the second hears who was first", async () => {
  await using s = await served(asking());
  const { id, outcome } = await call(s, { text: "hi" });
  await answer(s, id, { decision: "allow", by: "console" });
  const second = await answer(s, id, { decision: "deny" });
  assert.deepEqual(failed(second), [409, "approval.ended"]);
  assert.deepEqual(second.body.data, { id, state: "allowed", by: "console" });
  assert.match(JSON.stringify(await outcome), /"text":"hi"/);
});

test("N-026 an answer that cannot be taken is refused with the reason, and the call goes on waiting", async () => {
  await using s = await served(asking());
  const { id, outcome } = await call(s, { query: "a" }, { tool: "notes.look" });
  const refused: [json: unknown, code: string, detail: RegExp][] = [
    [{}, "http.input_invalid", /decision/],
    [{ decision: "maybe" }, "http.input_invalid", /decision/],
    [{ decision: "allow", scope: "forever" }, "http.input_invalid", /scope/],
    [{ decision: "allow", args: {} }, "http.input_invalid", /args/],
    [{ decision: "allow", arguments: [1] }, "http.input_invalid", /arguments It is no object/],
    [{ decision: "allow", by: "\u001b[31mroot" }, "http.input_invalid", /by It is no name/],
    [{ decision: "deny", arguments: { query: "b" } }, "approval.answer_invalid", /one call that is allowed/],
    [{ decision: "allow", arguments: { query: 7 } }, "tool.arguments_invalid", /query: Expected string/],
  ];
  for (const [json, code, detail] of refused) {
    const got = await answer(s, id, json);
    assert.deepEqual(failed(got), [400, code], JSON.stringify(json));
    assert.match(got.body.detail, detail);
  }
  const { body } = await answer(s, id, { decision: "allow", arguments: { query: "b" } });
  assert.deepEqual([body.state, body.end.answer.arguments], ["allowed", { query: "b" }]);
  assert.match(JSON.stringify(await outcome), /"query":"b"/);
});

test("requests that are not there, and queries that make no sense, are refused", async () => {
  await using s = await served(asking());
  assert.deepEqual(failed(await s.ask(`${PATH}/apr_none`)), [404, "approval.unknown"]);
  assert.deepEqual(failed(await answer(s, "apr_none", { decision: "allow" })), [404, "approval.unknown"]);
  assert.deepEqual(failed(await s.ask(`${PATH}?cursor=apr_none`)), [400, "http.cursor_invalid"]);
  assert.deepEqual(failed(await s.ask(`${PATH}/answers/ans_none`, { method: "DELETE" })), [404, "approval.unknown"]);
  assert.deepEqual(failed(await s.ask(`${PATH}/answers?cursor=00`)), [400, "http.cursor_invalid"]);
  for (const query of ["state=open", "limit=0", "cursor=../x", "page=2"]) {
    assert.deepEqual(failed(await s.ask(`${PATH}?${query}`)), [400, "http.input_invalid"], query);
  }
});

test("N-026 requests are walked by cursor, the newest first; those that wait, those that ended, or all", async () => {
  await using s = await served(asking());
  const ids: string[] = [];
  const outcomes: Promise<unknown>[] = [];
  for (let at = 0; at < 5; at++) {
    s.h.clock.advance(1_000);
    const { id, outcome } = await call(s, { at });
    ids.unshift(id);
    outcomes.push(outcome);
  }
  await answer(s, ids[1]!, { decision: "allow" });
  await answer(s, ids[3]!, { decision: "deny" });
  const walked = async (state: string): Promise<string[]> => {
    const found: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const { body }: Answer = await s.ask(`${PATH}?state=${state}&limit=2${cursor && `&cursor=${cursor}`}`);
      assert.ok(body.approvals.length <= 2);
      found.push(...body.approvals.map(({ id }: { id: string }) => id));
      cursor = body.next;
    }
    return found;
  };
  assert.deepEqual(await walked("all"), ids);
  assert.deepEqual(await walked("waiting"), [ids[0], ids[2], ids[4]]);
  assert.deepEqual(await walked("ended"), [ids[1], ids[3]]);
  for (const id of [ids[0]!, ids[2]!, ids[4]!]) await answer(s, id, { decision: "deny" });
  await Promise.all(outcomes);
});

test("N-026 a standing answer is listed and revoked over HTTP, and the next call is asked again", async () => {
  await using s = await served(asking());
  const first = await call(s, { text: "hi" });
  await answer(s, first.id, { decision: "allow", scope: "session", by: "console", reason: "Fine" });
  await first.outcome;
  await s.h.host.session("ses_1").callTool(TOOL, { text: "again" });
  const { body: { answers: [kept], next } } = await s.ask(`${PATH}/answers`);
  const { id, created_at, ...rest } = kept;
  assert.equal(typeof created_at, "string");
  assert.deepEqual([next, rest], [null, {
    project_id: "music",
    agent_path: "primary",
    tool: TOOL,
    plugin: null,
    source: { kind: "rule", id: "config.toml:1" },
    decision: "allow",
    reason: "Fine",
    session_id: "ses_1",
    by: "console",
  }]);
  const gone = await s.ask(`${PATH}/answers/${id}?by=console`, { method: "DELETE" });
  assert.deepEqual([gone.status, gone.body], [200, { success: true }]);
  assert.equal((await s.h.next("rules.changed")).data.by, "console");
  const again = await call(s, { text: "third" });
  await answer(s, again.id, { decision: "deny" });
  await again.outcome;
});

test("big arguments are cut in the list and whole by id; secrets of the operator are in neither", async () => {
  await using s = await served(asking({
    fixtures: {
      "@test/notes": {
        fixture: "answers_hooks",
        manifest: {
          name: "notes",
          hooks: [],
          system_config_schema: { type: "object", properties: { token: { type: "string" } } },
        },
      },
    },
    local: `[plugins."@test/notes"]\ntoken = "${SECRET}"\n`,
  }));
  const text = "<b>\u001b[31m\u202e".padEnd(200_000, "x");
  const { id, outcome } = await call(s, { text, token: SECRET });
  const { body: list } = await s.ask(PATH);
  assert.equal(list.approvals[0].arguments_cut, true);
  assert.ok(JSON.stringify(list).length < 20_000);
  const { body: whole } = await s.ask(`${PATH}/${id}`);
  assert.deepEqual([whole.arguments_cut, whole.arguments.text], [false, text]);
  assert.match(whole.arguments.token, /^\[secret:/);
  assert.equal(JSON.stringify([list, whole]).includes(SECRET), false);
  const { body } = await answer(s, id, { decision: "allow", arguments: { token: whole.arguments.token } });
  assert.equal(JSON.stringify(body).includes(SECRET), false);
  assert.match(JSON.stringify(await outcome), new RegExp(SECRET));
});

test("N-026 a stream of events carries requests and their ends; a job says that it waits", async () => {
  await using s = await served(asking());
  s.h.host.agent("primary", async ({ tools }) => JSON.stringify(await tools.call(TOOL, { text: "hi" })));
  const { body: { jobId } } = await s.ask("/api/v1/agents/primary?async=true", {
    method: "POST",
    json: { message: "go" },
  });
  const { data: { approval_id: id } } = await s.h.next("approval.requested");
  const waiting = async () => (await s.ask(`/api/v1/jobs/${jobId}`)).body.waiting;
  const said = await until(waiting, "the job says that it waits");
  assert.deepEqual(said.map(({ approvalId, tool }: Record<string, string>) => [approvalId, tool]), [[id, TOOL]]);
  assert.equal((await s.ask(`${PATH}/${id}`)).body.job_id, jobId);
  await answer(s, id, { decision: "allow" });
  await s.h.host.jobs.finished(jobId);
  const { body: { entries } } = await s.ask("/api/v1/events?kind=audit");
  const types = entries.map(({ data }: { data: { type: string } }) => data.type);
  assert.deepEqual(types.filter((type: string) => type.startsWith("approval.")), [
    "approval.requested",
    "approval.answered",
  ]);
  assert.equal((await waiting()) ?? null, null);
});

test("GET /metrics has the calls that wait for a person, how they ended and how long people took", async () => {
  await using s = await served(asking());
  const lines = async (): Promise<string[]> =>
    (await s.ask("/metrics")).body.split("\n").filter((line: string) => line.startsWith("kaged_approval"));
  const first = await call(s, { at: 1 });
  s.h.clock.advance(2_500);
  await answer(s, first.id, { decision: "allow" });
  const second = await call(s, { at: 2 });
  assert.deepEqual(await lines(), [
    "kaged_approvals_waiting 1",
    'kaged_approvals_ended_total{state="allowed"} 1',
    'kaged_approvals_ended_total{state="denied"} 0',
    'kaged_approvals_ended_total{state="expired"} 0',
    'kaged_approvals_ended_total{state="withdrawn"} 0',
    "kaged_approval_answer_seconds_sum 2.5",
    "kaged_approval_answer_seconds_count 1",
  ]);
  s.h.clock.advance(600_000);
  await untilSettled(second.outcome, "the end of a request that nobody answered");
  assert.ok((await lines()).includes('kaged_approvals_ended_total{state="expired"} 1'));
});

test("N-026 the control socket answers requests too, so that a command can", async () => {
  await using s = await served(asking({ control: true }));
  const { id, outcome } = await call(s, { text: "hi" });
  const over = async (path: string, init?: RequestInit) => {
    const socket = join(s.h.home, "run", `${process.pid}.sock`);
    return await (await requestOverSocket(socket, new Request(`http://kaged${path}`, init))).json();
  };
  assert.deepEqual((await over(PATH)).approvals.map((one: { id: string }) => one.id), [id]);
  const body = JSON.stringify({ decision: "allow", by: "cli" });
  const headers = { "Content-Type": "application/json" };
  const { state, end } = await over(`${PATH}/${id}/answer`, { method: "POST", headers, body });
  assert.deepEqual([state, end.by], ["allowed", "cli"]);
  await outcome;
});

test("whoever looks at the desk finds no jobs where no agent was registered", async () => {
  await using s = await served(asking());
  assert.deepEqual((await s.ask(PATH)).body, { approvals: [], next: null });
  assert.deepEqual(failed(await s.ask("/api/v1/jobs")), [404, "jobs.agent_unknown"]);
});
