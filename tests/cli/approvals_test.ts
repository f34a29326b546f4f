import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { approvalRequest } from "../support/approval_request.ts";
import { notes, TOOL } from "../support/gate_doors.ts";
import { type Hosted, hosted } from "../support/hosted.ts";
import { canUseTerminal, onTerminal } from "../support/pty.ts";
import { type KagedRun, runKaged } from "../support/run_kaged.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { sqliteJobs } from "../../src/jobs/sqlite_jobs.ts";
import type { Approval } from "../../src/core/approvals/types.ts";

const ASK = { ...notes(), config: '[[tool_rules]]\ntool = "notes.*"\ndecision = "ask"\n' };
const HOSTILE = "a\u001b[2J\u202eb\nerror[forged]: <b>c</b>";

const kaged = (h: Hosted, ...args: string[]): Promise<KagedRun> => runKaged(["approvals", ...args, "--home", h.home]);

/** A call that waits, and the id of its request. */
async function asked(h: Hosted, args: object = { text: "hi" }): Promise<{ called: Promise<unknown>; id: string }> {
  const session = h.host.session("ses_1");
  const called = session.callTool(TOOL, { ...args });
  called.catch(() => {});
  return { called, id: (await h.next("approval.requested")).data.approval_id };
}

test("N-026 kaged approvals list, show, allow and deny reach the desk of a running host", async () => {
  await using h = await hosted(ASK);
  h.host.openSession({ id: "ses_1" });
  const first = await asked(h, { text: HOSTILE });
  const list = await kaged(h, "list");
  assert.match(list.stdout, new RegExp(`^${first.id} notes\\.ask of primary \\(music\\), asked by config\\.toml:1, `));
  const { approvals, next } = JSON.parse((await kaged(h, "list", "--json")).stdout);
  assert.deepEqual([approvals.length, approvals[0].arguments, next], [1, { text: HOSTILE }, { music: null }]);
  const show = await kaged(h, "show", first.id);
  assert.ok(!show.stdout.includes("\u001b"));
  assert.doesNotMatch(show.stdout, /\u202e|^error\[forged/m);
  assert.match(show.stdout, /why: /);

  const allowed = await kaged(h, "allow", first.id);
  assert.deepEqual([allowed.code, allowed.stdout], [0, "✓ Allowed notes.ask of primary\n"]);
  await first.called;
  const late = await kaged(h, "deny", first.id);
  assert.equal(late.code, 3);
  assert.match(late.stderr, /error\[approval\.ended\]: .* is allowed already, by command/);

  const second = await asked(h);
  assert.equal((await kaged(h, "deny", second.id, "--reason", "Ask Ann first")).code, 0);
  await assert.rejects(second.called, { code: "tool.denied", message: /by command: Ask Ann first/ });
  const ended = JSON.parse((await kaged(h, "list", "--state", "ended", "--json")).stdout);
  assert.deepEqual(ended.approvals.map(({ state }: { state: string }) => state), ["denied", "allowed"]);
});

test("N-026 kaged approvals allow takes other arguments and scopes; mistakes are said and leave it waiting", async () => {
  await using h = await hosted(ASK);
  h.host.openSession({ id: "ses_1" });
  const first = await asked(h);
  const wrong = await kaged(h, "allow", first.id, "--arguments", "{text");
  assert.deepEqual([wrong.code, /--arguments is no JSON object/.test(wrong.stderr)], [2, true]);
  assert.equal((await kaged(h, "allow", "apr_none")).code, 1);
  assert.equal((await kaged(h, "allow", first.id, "--arguments", '{"text":"bye"}')).code, 0);
  assert.match(JSON.stringify(await first.called), /"bye"/);
  const second = await asked(h);
  assert.equal((await kaged(h, "allow", second.id, "--scope", "session")).code, 0);
  await second.called;
  await h.host.session("ses_1").callTool(TOOL, { text: "no question" });
  const [{ id, session_id }] = JSON.parse((await kaged(h, "standing", "--json")).stdout).answers;
  assert.equal(session_id, "ses_1");
  assert.equal((await kaged(h, "revoke", id)).code, 0);
  assert.match((await kaged(h, "revoke", id)).stderr, /error\[approval\.unknown\]/);
  await asked(h);
});

test("N-026 lists page by cursor, each project by its own", async () => {
  await using h = await hosted(ASK);
  h.host.openSession({ id: "ses_1" });
  const ids = [(await asked(h)).id, (await asked(h)).id, (await asked(h)).id].reverse();
  const first = JSON.parse((await kaged(h, "list", "-n", "2", "--json")).stdout);
  assert.deepEqual(first.approvals.map(({ id }: { id: string }) => id), ids.slice(0, 2));
  const rest = await kaged(h, "list", "--project", "music", "--cursor", first.next.music, "--json");
  assert.deepEqual(JSON.parse(rest.stdout).approvals.map(({ id }: { id: string }) => id), ids.slice(2));
  assert.equal((await kaged(h, "list", "--cursor", first.next.music)).code, 2);
});

test("N-026 N-027 the person at a terminal is shown each request and answers with the keys", async (t) => {
  if (!await canUseTerminal(t)) return;
  await using h = await hosted(ASK);
  h.host.openSession({ id: "ses_1" });
  const first = await asked(h, { text: HOSTILE });
  const second = await asked(h, { text: "second" });
  const down = "\u001b[B";
  const drawn = "Leave it";
  const run = onTerminal(["approvals", "--home", h.home], [
    ["notes.ask: allow it?", "\r", drawn],
    ["notes.ask: allow it?", `${down.repeat(4)}\r`, drawn],
    ["Why?", "too late\r", "no reason."],
    ["New ones are shown", "\u0003", "Ctrl-C ends."],
  ]);
  await first.called;
  await assert.rejects(second.called, { code: "tool.denied", message: /by command: too late/ });
  const { shown } = await run;
  assert.doesNotMatch(shown, /\u202e|^error\[forged/m);
  assert.match(shown, /✓ Allowed notes\.ask[\s\S]*✓ Denied notes\.ask/);
});

test("N-026 without a terminal nobody is asked: the command says what scripts use", async () => {
  await using h = await hosted(ASK);
  const { code, stderr } = await kaged(h);
  assert.equal(code, 2);
  assert.match(stderr, /Nobody can be asked here[\s\S]*hint: .*list --json/);
});

/** A home whose host was killed, with a request in it. */
async function deserted(t: TestContext, fields: Partial<Approval> = {}) {
  const home = await scratchDir(t);
  const backend = sqliteJobs({ path: join(home, "jobs-music.db") });
  const request = approvalRequest("apr_1", {
    createdAt: new Date().toISOString(),
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
    projectId: "music",
    jobId: "job_1",
    tool: TOOL,
    ...fields,
  });
  await backend.approvals!.open(request, request.jobId === null ? null : "key:1");
  t.after(() => backend.close());
  return { home, backend, request, run: (...args: string[]) => runKaged(["approvals", ...args, "--home", home]) };
}

test("N-027 requests of a host that died are listed, and an answer waits for its job", async (t) => {
  const { backend, request, run } = await deserted(t);
  assert.match((await run("list")).stdout, /^apr_1 notes\.ask/);
  const always = await run("allow", "apr_1", "--scope", "always");
  assert.match(always.stderr, /only one can write the rule/);
  const joined = await backend.approvals!.open({ ...request, id: "apr_2" }, "key:1");
  assert.deepEqual([joined.id, joined.state], ["apr_1", "allowed"]);
  assert.equal((await run("deny", "apr_1")).code, 3);
});

test("N-027 an answer to a request whose host died says who takes it: its job, or perhaps nobody", async (t) => {
  const { run } = await deserted(t);
  assert.match((await run("allow", "apr_1")).stderr, /the job that asked takes the answer when it is run again/);
  const direct = await deserted(t, { jobId: null });
  assert.match((await direct.run("allow", "apr_1")).stderr, /if the program that asked has ended, nobody takes/);
});

test("N-026 always to a handler can be answered without a host", async (t) => {
  const source = { kind: "hook", id: "careful" } as const;
  const { backend, run } = await deserted(t, { source, sources: [source] });
  assert.equal((await run("allow", "apr_1", "--scope", "always")).code, 0);
  assert.deepEqual((await backend.approvals!.standing("music")).map((kept) => kept.source), [source]);
});

test("N-026 a database that cannot be read keeps nobody from the requests of other projects", async (t) => {
  const { home, run } = await deserted(t);
  await writeFile(join(home, "jobs-harbor.db"), "this is no database at all, and never was one");
  const { code, stdout, stderr } = await run("list");
  assert.equal(code, 0);
  assert.match(stdout, /^apr_1 notes\.ask/);
  assert.match(stderr, /warning: The requests of "harbor" cannot be read: /);
});
