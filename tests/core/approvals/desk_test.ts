import { cursorOf } from "../../../src/core/values/cursor.ts";
import assert from "node:assert/strict";
import { test } from "node:test";
import { Desk } from "../../../src/core/approvals/desk.ts";
import type { ApprovalEvent, AskedCall, DeskPorts, Ruling } from "../../../src/core/approvals/desk_types.ts";
import type { Approval, ApprovalSource, ApprovalStore } from "../../../src/core/approvals/types.ts";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { SecretMask } from "../../../src/core/values/secret_mask.ts";
import { memoryJobs } from "../../../src/jobs/sqlite_jobs.ts";
import { createFakeClock, type FakeClock } from "../../support/fake_clock.ts";
import { until } from "../../support/until.ts";

const RULE: ApprovalSource = { kind: "rule", id: "config.toml:3" };
const HOOK: ApprovalSource = { kind: "hook", id: "guard" };

interface Stage {
  readonly desk: Desk;
  readonly clock: FakeClock;
  readonly store: ApprovalStore;
  readonly secrets: SecretMask;
  readonly audit: { type: string; data: Record<string, unknown> }[];
  readonly events: ApprovalEvent[];
  readonly written: string[];
  readonly warnings: string[];
  ask(fields?: Partial<AskedCall>): Promise<Ruling>;
  /** Resolves with the newest request once there are `count`. */
  opened(count?: number): Promise<Approval>;
}

let lastId = 0;
const ids = { create: (prefix: string): string => `${prefix}_${++lastId}` };

function stage(ports: Partial<DeskPorts> & { shared?: Stage } = {}): Stage {
  const clock = ports.shared?.clock ?? createFakeClock();
  const store = ports.shared?.store ?? memoryJobs({ clock, ids }).approvals!;
  const secrets = new SecretMask();
  const audit: Stage["audit"] = [];
  const events: ApprovalEvent[] = [];
  const written: string[] = [];
  const warnings: string[] = [];
  const desk = new Desk({
    projectId: "harbor",
    store: () => store,
    clock,
    ids,
    secrets,
    audit: { emit: (type, _subject, data) => void audit.push({ type, data: { ...data } }) },
    keepAlways: ({ tool, agentPath }, { kind }, { decision }) => {
      if (kind === "rule") written.push(`${decision} ${tool} ${agentPath}`);
      return Promise.resolve(kind === "rule");
    },
    onAsk: null,
    warn: (message) => void warnings.push(message),
    ...ports,
  });
  desk.on((event) => void events.push(event));
  const ask = (fields: Partial<AskedCall> = {}): Promise<Ruling> =>
    desk.ask({
      agentPath: "primary",
      sessionId: "ses_1",
      jobId: null,
      tool: "mail.send",
      plugin: "mail",
      arguments: { to: "ann@example.org", body: "hi" },
      changed: null,
      asked: [{ source: RULE, reason: "the rule asks" }],
      call: null,
      waitMs: 600_000,
      ...fields,
    });
  async function opened(count = 1): Promise<Approval> {
    const requests = () => events.filter(({ type }) => type === "requested");
    await until(() => requests().length >= count, `${count} requests`);
    return requests().at(-1)!.approval;
  }
  return { desk, clock, store, secrets, audit, events, written, warnings, ask, opened };
}

const isCode = (code: string) => (error: { code?: string }): boolean => error.code === code;
const types = ({ audit }: Stage): string[] => audit.map(({ type }) => type);

test("N-026 a call waits for the answer, and goes on with its own arguments", async () => {
  const it = stage();
  const asked = it.ask();
  const { id, ...request } = await it.opened();
  assert.deepEqual([request.tool, request.plugin, request.reason, request.state], [
    "mail.send",
    "mail",
    "the rule asks",
    "waiting",
  ]);
  assert.deepEqual((await it.desk.list()).items.map((one) => one.id), [id]);
  const done = await it.desk.answer(id, { decision: "allow" }, { by: "cli" });
  assert.deepEqual([done.state, done.end?.by], ["allowed", "cli"]);
  const args = { to: "ann@example.org", body: "hi" };
  assert.deepEqual(await asked, { isAllowed: true, arguments: args, isEdited: false, by: "cli" });
  assert.deepEqual(types(it), ["approval.requested", "approval.answered"]);
  assert.deepEqual((await it.desk.list()).items, []);
  assert.deepEqual((await it.desk.list({ state: "ended" })).items.map((one) => one.id), [id]);
});

test("N-026 a no carries its reason to the model", async () => {
  const it = stage();
  const asked = it.ask();
  const { id } = await it.opened();
  it.clock.advance(1_500);
  await it.desk.answer(id, { decision: "deny", reason: "not on a Sunday" }, { by: "http" });
  assert.deepEqual(it.desk.figures.answerSeconds, { sum: 1.5, count: 1 });
  assert.deepEqual(await asked, { isAllowed: false, by: "http", reason: "not on a Sunday" });
});

test("N-026 of two answers at once the first counts and the second is told", async () => {
  const it = stage();
  const asked = it.ask();
  const { id } = await it.opened();
  const both = await Promise.allSettled([
    it.desk.answer(id, { decision: "allow" }, { by: "cli" }),
    it.desk.answer(id, { decision: "deny" }, { by: "console" }),
  ]);
  assert.deepEqual(both.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
  const lost = both.find((one) => one.status === "rejected")!.reason as HostError;
  assert.equal(lost.code, "approval.ended");
  const winner = both[0]!.status === "fulfilled" ? "cli" : "console";
  assert.match(lost.message, new RegExp(`already, by ${winner}`));
  assert.equal((await asked).isAllowed, winner === "cli");
  assert.equal(it.audit.filter(({ type }) => type === "approval.answered").length, 1);
});

test("N-027 a request that nobody answers is denied when its time is over, with a reason", async () => {
  const it = stage();
  const asked = it.ask({ waitMs: 5_000 });
  const { id } = await it.opened();
  it.clock.advance(4_999);
  assert.equal((await it.desk.get(id)).state, "waiting");
  it.clock.advance(1);
  assert.deepEqual(await asked, {
    isAllowed: false,
    by: "nobody",
    reason: "Nobody answered in time",
    isUnanswered: true,
  });
  assert.equal((await it.desk.get(id)).state, "expired");
  assert.deepEqual(types(it), ["approval.requested", "approval.expired"]);
  await assert.rejects(it.desk.answer(id, { decision: "allow" }), isCode("approval.ended"));
});

test("N-027 a call that is aborted withdraws its request", async () => {
  const it = stage();
  const abort = new AbortController();
  const asked = it.ask({ signal: abort.signal });
  const { id } = await it.opened();
  abort.abort();
  await assert.rejects(asked, isCode("protocol.cancelled"));
  await until(async () => (await it.desk.get(id)).state === "withdrawn", "the request is withdrawn");
  assert.deepEqual(types(it), ["approval.requested", "approval.withdrawn"]);
});

test("N-026 an answer may change the arguments, which are checked before it counts", async () => {
  const it = stage();
  const check = (args: Readonly<Record<string, unknown>>): Promise<void> =>
    typeof args["to"] === "string"
      ? Promise.resolve()
      : Promise.reject(new HostError("tool.arguments_invalid", "to is no text"));
  const asked = it.ask({ check });
  const { id } = await it.opened();
  const bad = it.desk.answer(id, { decision: "allow", arguments: { to: 5 } });
  await assert.rejects(bad, isCode("tool.arguments_invalid"));
  assert.equal((await it.desk.get(id)).state, "waiting");
  await it.desk.answer(id, { decision: "allow", arguments: { to: "bob@example.org" } });
  assert.deepEqual(await asked, {
    isAllowed: true,
    arguments: { to: "bob@example.org" },
    isEdited: true,
    by: "program",
  });
  assert.equal(it.audit.at(-1)!.data["edited"], true);
});

test("N-026 secrets are masked in a request, and an edit around a mask sends the secret itself", async () => {
  const it = stage();
  it.secrets.learn("token", "s3cr3t-value");
  const asked = it.ask({ arguments: { token: "s3cr3t-value", list: [{ key: "s3cr3t-value" }], note: "a" } });
  const { id, arguments: shown } = await it.opened();
  assert.doesNotMatch(JSON.stringify(await it.desk.get(id)), /s3cr3t/);
  const moved = { token: "x", list: [], note: "[secret:token]" };
  await assert.rejects(it.desk.answer(id, { decision: "allow", arguments: moved }), isCode("approval.answer_invalid"));
  await it.desk.answer(id, { decision: "allow", arguments: { ...shown, note: "b" } });
  const ruling = await asked;
  assert.ok(ruling.isAllowed);
  assert.deepEqual(ruling.arguments, { token: "s3cr3t-value", list: [{ key: "s3cr3t-value" }], note: "b" });
});

test("N-026 arguments of a megabyte are cut in lists, whole by their id, and cut beyond that", async () => {
  const it = stage();
  const args = { text: "x".repeat(900_000), more: Array.from({ length: 5_000 }, (_, at) => `line ${at}`) };
  void it.ask({ arguments: args }).catch(() => {});
  const { id } = await it.opened();
  const [listed] = (await it.desk.list()).items;
  assert.equal(listed!.argumentsCut, true);
  assert.ok(JSON.stringify(listed).length < 20_000);
  assert.deepEqual((await it.desk.get(id)).arguments, args);
  void it.ask({ arguments: { text: "y".repeat(3_000_000) } }).catch(() => {});
  const big = await it.opened(2);
  assert.equal(big.argumentsCut, true);
  assert.match(String(big.arguments["text"]), /^y+… \(3000000 characters\)$/);
  const edited = it.desk.answer(big.id, { decision: "allow", arguments: { text: "z" } });
  await assert.rejects(edited, isCode("approval.answer_invalid"));
});

test("N-026 an answer for the session settles later calls of it, and ends with it", async () => {
  const it = stage();
  const first = it.ask({ asked: [{ source: HOOK, reason: "guard" }] });
  await it.desk.answer((await it.opened()).id, { decision: "allow", scope: "session" });
  assert.ok((await first).isAllowed);
  assert.ok((await it.ask({ asked: [{ source: HOOK, reason: "guard" }] })).isAllowed);
  assert.equal(it.events.filter(({ type }) => type === "requested").length, 1);
  const other = it.ask({ sessionId: "ses_2", asked: [{ source: HOOK, reason: "guard" }] });
  await it.desk.answer((await it.opened(2)).id, { decision: "deny" });
  assert.equal((await other).isAllowed, false);
  await it.desk.sessionEnded("ses_1");
  const again = it.ask({ asked: [{ source: HOOK, reason: "guard" }] });
  await it.desk.answer((await it.opened(3)).id, { decision: "allow" });
  assert.ok((await again).isAllowed);
});

test("N-026 always writes a rule for a rule, and keeps an answer that can be taken back for a hook", async () => {
  const it = stage();
  const both = [{ source: RULE, reason: "the rule asks" }, { source: HOOK, reason: "guard" }];
  const first = it.ask({ asked: both });
  await it.desk.answer((await it.opened()).id, { decision: "allow", scope: "always" }, { by: "cli" });
  assert.ok((await first).isAllowed);
  assert.deepEqual(it.written, ["allow mail.send primary"]);
  const [kept, ...none] = await it.desk.standing();
  assert.deepEqual([kept?.source, kept?.decision, none], [HOOK, "allow", []]);
  assert.ok((await it.ask({ asked: both.slice(1), sessionId: "ses_9" })).isAllowed);
  await it.desk.revoke(kept!.id);
  await assert.rejects(it.desk.revoke(kept!.id), isCode("approval.unknown"));
  void it.ask({ asked: both.slice(1) }).catch(() => {});
  await it.opened(2);
  const changes = it.audit.filter(({ type }) => type === "rules.changed").map(({ data }) => data["change"]);
  assert.deepEqual(changes, ["added", "added", "revoked"]);
});

test("N-026 a standing no denies without asking, whoever else has said yes", async () => {
  const it = stage();
  const first = it.ask({ asked: [{ source: HOOK, reason: "guard" }] });
  const no = { decision: "deny", scope: "always", reason: "never mail" } as const;
  await it.desk.answer((await it.opened()).id, no, { by: "cli" });
  await first;
  const both = [{ source: RULE, reason: "the rule asks" }, { source: HOOK, reason: "guard" }];
  assert.deepEqual(await it.ask({ asked: both }), { isAllowed: false, by: "cli", reason: "never mail" });
});

test("N-026 a rule that cannot be written leaves the answer for the one call, and says so", async () => {
  const it = stage({ keepAlways: () => Promise.reject(new Error("config.toml is read-only")) });
  const asked = it.ask();
  const answered = it.desk.answer((await it.opened()).id, { decision: "allow", scope: "always" });
  await assert.rejects(answered, { code: "approval.answer_invalid", message: /config\.toml is read-only/ });
  assert.ok((await asked).isAllowed);
});

test("N-026 the embedder's function is asked first-hand; without an answer of it the request waits on", async () => {
  const seen: string[] = [];
  const it = stage({
    onAsk(request, { signal }) {
      seen.push(request.tool);
      signal.addEventListener("abort", () => void seen.push("over"));
      return request.tool === "mail.send" ? { decision: "allow", reason: "fine" } : undefined;
    },
  });
  assert.deepEqual(await it.ask(), {
    isAllowed: true,
    arguments: { to: "ann@example.org", body: "hi" },
    isEdited: false,
    by: "onAsk",
  });
  const asked = it.ask({ tool: "mail.delete" });
  const { id } = await it.opened(2);
  await it.desk.answer(id, { decision: "deny" }, { by: "cli" });
  assert.equal((await asked).isAllowed, false);
  assert.deepEqual(seen, ["mail.send", "over", "mail.delete", "over"]);
});

test("N-026 a function of the embedder that throws leaves the request to others, with a warning", async () => {
  const it = stage({ onAsk: () => Promise.reject(new Error("no screen")) });
  const asked = it.ask();
  const { id } = await it.opened();
  await until(() => it.warnings.length > 0, "a warning");
  assert.match(it.warnings[0]!, /no screen/);
  await it.desk.answer(id, { decision: "allow" });
  assert.ok((await asked).isAllowed);
});

test("N-026 an answer that makes no sense is refused with the reason, and the request waits on", async () => {
  const it = stage();
  void it.ask().catch(() => {});
  const { id } = await it.opened();
  const wrong: [unknown, RegExp][] = [
    ["yes", /no object/],
    [{ decision: "alow" }, /decision is "alow"/],
    [{ decision: "allow", scope: "forever" }, /scope is "forever"/],
    [{ decision: "allow", arguments: [1] }, /arguments is no object/],
    [{ decision: "deny", arguments: {} }, /one call that is allowed/],
    [{ decision: "allow", scope: "always", arguments: {} }, /one call that is allowed/],
    [{ decision: "allow", reson: "x" }, /no field "reson"/],
    [{ decision: "deny", reason: 5 }, /reason is no text/],
  ];
  for (const [answer, message] of wrong) {
    const error = { code: "approval.answer_invalid", message };
    await assert.rejects(it.desk.answer(id, answer as never), error, JSON.stringify(answer));
  }
  await assert.rejects(it.desk.answer("apr_none", { decision: "allow" }), isCode("approval.unknown"));
  assert.equal((await it.desk.get(id)).state, "waiting");
});

test("N-027 the same call of a job is not asked twice: another desk joins the request, or takes its answer", async () => {
  const before = stage();
  const job = { jobId: "job_1", call: "key:1" };
  void before.ask(job).catch(() => {});
  const { id } = await before.opened();
  const after = stage({ shared: before }); // The process before was killed.
  const joined = after.ask(job);
  assert.equal((await after.opened()).id, id);
  assert.deepEqual(types(after), []);
  await after.desk.answer(id, { decision: "allow" });
  assert.ok((await joined).isAllowed);
  assert.ok((await stage({ shared: before }).ask(job)).isAllowed);
  assert.equal((await before.desk.list({ state: "all" })).items.length, 1);
});

test("N-027 a job that was only interrupted keeps its request; one that ended does not", async () => {
  const it = stage();
  const abort = new AbortController();
  const asked = it.ask({ jobId: "job_1", call: "key:1", signal: abort.signal });
  const { id } = await it.opened();
  abort.abort(new HostError("jobs.stopped", "The host stopped while the job ran"));
  await assert.rejects(asked, isCode("jobs.stopped"));
  assert.equal((await it.desk.get(id)).state, "waiting");
  await it.desk.jobEnded("job_1");
  assert.equal((await it.desk.get(id)).state, "withdrawn");
});

test("N-044 an answer that another process has taken is seen within a second", async () => {
  const here = stage();
  const there = stage({ shared: here });
  const asked = here.ask();
  const { id } = await here.opened();
  await there.desk.answer(id, { decision: "allow" }, { by: "there" });
  here.clock.advance(1_000);
  assert.ok((await asked).isAllowed);
  assert.deepEqual(types(here), ["approval.requested"]);
  assert.deepEqual(types(there), ["approval.answered"]);
});

test("N-027 a stop withdraws what no job asks, and the next desk ends what a dead one left", async () => {
  const it = stage();
  const asked = it.ask();
  const { id } = await it.opened();
  await Promise.all([assert.rejects(asked, isCode("host.stopped")), it.desk.close()]);
  assert.equal((await it.desk.get(id)).state, "withdrawn");
  it.desk.resume();
  void it.ask({ waitMs: 1_000 }).catch(() => {});
  const left = await it.opened(2);
  const later = stage({ shared: it, clock: createFakeClock(Date.UTC(2026, 0, 2)) });
  assert.deepEqual((await later.desk.list()).items, []);
  assert.equal((await later.desk.get(left.id)).state, "expired");
  assert.deepEqual(types(later), ["approval.expired"]);
});

test("N-026 500 requests at once each get their own answer, and are listed page by page", async () => {
  const it = stage();
  const asked = Array.from({ length: 500 }, (_, at) => it.ask({ arguments: { at } }));
  await it.opened(500);
  const seen: Approval[] = [];
  for (let cursor: string | null = ""; cursor !== null;) {
    const page = await it.desk.list({ limit: 120, ...(cursor !== "" && { cursor }) });
    seen.push(...page.items);
    cursor = page.next;
  }
  assert.equal(new Set(seen.map(({ id }) => id)).size, 500);
  await Promise.all(seen.map(({ id, arguments: args }) => {
    return it.desk.answer(id, { decision: (args["at"] as number) % 2 === 0 ? "allow" : "deny" });
  }));
  const rulings = await Promise.all(asked);
  assert.ok(rulings.every(({ isAllowed }, at) => isAllowed === (at % 2 === 0)));
  assert.deepEqual(it.desk.figures.ended, { allowed: 250, denied: 250, expired: 0, withdrawn: 0 });
  assert.equal(it.desk.figures.waiting, 0);
});

test("N-027 two runs of one job that wait for the same request both go on; the end of one leaves it to the other", async () => {
  const it = stage();
  const job = { jobId: "job_1", call: "key:1" };
  const [own, lease] = [new AbortController(), new AbortController()];
  const runs = [it.ask(job), it.ask({ ...job, signal: lease.signal }), it.ask({ ...job, signal: own.signal })];
  const { id } = await it.opened(3);
  own.abort();
  lease.abort(new HostError("jobs.finished", "The job is no longer ours to run"));
  await assert.rejects(runs[1]!, isCode("jobs.finished"));
  await assert.rejects(runs[2]!, isCode("protocol.cancelled"));
  assert.equal((await it.desk.get(id)).state, "waiting");
  runs.push(it.ask(job));
  await it.opened(4);
  await it.desk.answer(id, { decision: "allow" });
  assert.deepEqual([(await runs[0]!).isAllowed, (await runs[3]!).isAllowed], [true, true]);
  assert.deepEqual([it.desk.figures.waiting, it.clock.keepingAlive], [0, 0]);
});

test("N-027 a run that has lost its lease leaves the request to the run that took the job", async () => {
  const here = stage();
  const there = stage({ shared: here });
  const job = { jobId: "job_1", call: "key:1" };
  const lease = new AbortController();
  const lost = here.ask({ ...job, signal: lease.signal });
  const { id } = await here.opened();
  const taken = there.ask(job);
  await there.opened();
  lease.abort(new HostError("jobs.finished", "The job is no longer ours to run"));
  await assert.rejects(lost, isCode("jobs.finished"));
  await there.desk.answer(id, { decision: "allow" });
  assert.ok((await taken).isAllowed);
});

test("N-027 a request lasts as long as the run that joined it last", async () => {
  const it = stage();
  const job = { jobId: "job_1", call: "key:1", waitMs: 5_000 };
  const first = it.ask(job);
  const { id } = await it.opened();
  it.clock.advance(3_000);
  const second = it.ask(job);
  await it.opened(2);
  it.clock.advance(2_000);
  assert.deepEqual(await first, {
    isAllowed: false,
    by: "nobody",
    reason: "Nobody answered in time",
    isUnanswered: true,
  });
  assert.equal((await it.desk.get(id)).state, "waiting");
  await it.desk.answer(id, { decision: "allow" });
  assert.ok((await second).isAllowed);
});

test("N-027 a call that comes while the host stops is refused and leaves nothing; the next start takes calls", async () => {
  const it = stage();
  const early = it.ask();
  const closed = it.desk.close();
  await assert.rejects(early, isCode("host.stopped"));
  await assert.rejects(it.ask(), isCode("host.stopped"));
  await closed;
  await until(async () => (await it.desk.list()).items.length === 0, "no request waits");
  assert.deepEqual([it.desk.figures.waiting, it.clock.keepingAlive], [0, 0]);
  it.desk.resume();
  const asked = it.ask();
  await until(() => it.desk.figures.waiting === 1, "the call waits");
  const [request] = (await it.desk.list()).items;
  await it.desk.answer(request!.id, { decision: "allow" });
  assert.ok((await asked).isAllowed);
});

test("N-027 a stop refuses a call whose request was about to be kept", async () => {
  const gate = Promise.withResolvers<void>();
  const store = memoryJobs({ ids }).approvals!;
  let isOpening = false;
  const slow: ApprovalStore = {
    ...store,
    async open(...given) {
      isOpening = true;
      await gate.promise;
      return await store.open(...given);
    },
  };
  const it = stage({ store: () => slow });
  const asked = it.ask();
  await until(() => isOpening, "the request is being kept");
  await it.desk.close();
  gate.resolve();
  await assert.rejects(asked, isCode("host.stopped"));
  await until(async () => (await it.desk.list({ state: "ended" })).items.length === 1, "it is withdrawn");
  assert.equal(it.clock.keepingAlive, 0);
});

test("N-027 what a dead host left is ended once its time is over, however long this host runs", async () => {
  const dead = stage();
  void dead.ask({ waitMs: 120_000 }).catch(() => {});
  const { id } = await dead.opened();
  const clock = createFakeClock(dead.clock.now());
  const it = stage({ shared: dead, clock });
  assert.deepEqual((await it.desk.list()).items.map((one) => one.id), [id]);
  clock.advance(120_000);
  assert.deepEqual((await it.desk.list()).items, []);
  assert.equal((await it.desk.get(id)).state, "expired");
  clock.advance(31 * 24 * 3600_000);
  assert.deepEqual((await it.desk.list({ state: "all" })).items, []);
});

test("N-026 a secret that the person writes into the arguments is refused: its mask would be sent", async () => {
  const it = stage();
  it.secrets.learn("token", "s3cr3t-value");
  const asked = it.ask();
  const { id } = await it.opened();
  const typed = { to: "ann@example.org", body: "s3cr3t-value" };
  await assert.rejects(it.desk.answer(id, { decision: "allow", arguments: typed }), isCode("approval.answer_invalid"));
  assert.equal((await it.desk.get(id)).state, "waiting");
  await it.desk.answer(id, { decision: "allow" });
  assert.ok((await asked).isAllowed);
});

test("N-026 a page of no requests at all is a mistake of the caller", async () => {
  const it = stage();
  void it.ask().catch(() => {});
  await it.opened();
  for (const limit of [0, -1, 1.5, NaN]) await assert.rejects(it.desk.list({ limit }), RangeError, `${limit}`);
  assert.equal((await it.desk.list({ limit: 1 })).items.length, 1);
});

test("N-026 an answer for the session that another process took ends with the session too", async () => {
  const here = stage();
  const there = stage({ shared: here });
  const asked = here.ask({ asked: [{ source: HOOK, reason: "guard" }] });
  const { id } = await here.opened();
  await there.desk.answer(id, { decision: "allow", scope: "session" });
  here.clock.advance(1_000);
  assert.ok((await asked).isAllowed);
  await here.desk.sessionEnded("ses_1");
  assert.deepEqual(await here.desk.standing(), []);
});

test("N-044 an answer is reported once, also while its rule is still being written", async () => {
  const writing = Promise.withResolvers<boolean>();
  const it = stage({ keepAlways: () => writing.promise });
  const asked = it.ask();
  const { id } = await it.opened();
  const answered = it.desk.answer(id, { decision: "allow", scope: "always" });
  await until(() => it.events.length === 2, "the answer is reported");
  it.clock.advance(1_000);
  await it.store.get(id); // The look came before it.
  writing.resolve(true);
  await answered;
  assert.ok((await asked).isAllowed);
  assert.deepEqual(it.events.map(({ type }) => type), ["requested", "answered"]);
});

test("N-026 always is refused where a handler without a name asks: it would hold for others of them", async () => {
  const it = stage();
  const asked = it.ask({ asked: [{ source: { kind: "hook", id: "anonymous" }, reason: "guard" }] });
  const { id } = await it.opened();
  const always = it.desk.answer(id, { decision: "allow", scope: "always" });
  await assert.rejects(always, { code: "approval.answer_invalid", message: /has no name/ });
  assert.equal((await it.desk.get(id)).state, "waiting");
  await it.desk.answer(id, { decision: "allow", scope: "session" });
  assert.ok((await asked).isAllowed);
});

test("N-026 a yes to one of those that ask is none to the others", async () => {
  const it = stage();
  const both = [{ source: RULE, reason: "the rule asks" }, { source: HOOK, reason: "guard" }];
  const first = it.ask({ asked: both.slice(0, 1) });
  await it.desk.answer((await it.opened()).id, { decision: "allow", scope: "session" });
  await first;
  const second = it.ask({ asked: both });
  const { id, sources, reason } = await it.opened(2);
  assert.deepEqual([sources, reason], [[HOOK], "guard"]);
  await it.desk.answer(id, { decision: "deny" });
  assert.equal((await second).isAllowed, false);
});

test("N-026 a standing answer holds for its own source, tool and agent alone", async () => {
  const it = stage();
  const hook = { asked: [{ source: HOOK, reason: "guard" }] };
  const first = it.ask(hook);
  await it.desk.answer((await it.opened()).id, { decision: "allow", scope: "always" });
  await first;
  const others: Partial<AskedCall>[] = [
    { ...hook, tool: "mail.delete" },
    { ...hook, agentPath: "primary.helper" },
    { asked: [{ source: { ...HOOK, id: "other" }, reason: "other" }] },
    { asked: [{ source: { ...HOOK, kind: "network" }, reason: "other" }] },
  ];
  for (const [at, other] of others.entries()) {
    const asked = it.ask(other);
    await it.desk.answer((await it.opened(at + 2)).id, { decision: "deny" });
    assert.equal((await asked).isAllowed, false, `${at}`);
  }
  const elsewhere = stage({ shared: it, projectId: "other" });
  void elsewhere.ask(hook).catch(() => {});
  const { id } = await elsewhere.opened();
  for (const act of [() => it.desk.get(id), () => it.desk.answer(id, { decision: "allow" })]) {
    await assert.rejects(act(), isCode("approval.unknown"));
  }
});

test("N-026 the newest of two answers for later calls counts", async () => {
  const it = stage();
  const hook = { asked: [{ source: HOOK, reason: "guard" }] };
  const calls = [it.ask(hook), it.ask(hook), it.ask(hook)];
  await it.opened(3);
  const ids = it.events.map(({ approval }) => approval.id);
  await it.desk.answer(ids[0]!, { decision: "allow", scope: "always" });
  await it.desk.answer(ids[1]!, { decision: "allow", scope: "session" });
  await it.desk.answer(ids[2]!, { decision: "deny", scope: "always", reason: "after all, no" });
  await Promise.all(calls);
  assert.deepEqual(await it.ask(hook), { isAllowed: false, by: "program", reason: "after all, no" });
});

test("N-027 a call that is given up before its request is kept leaves none that waits", async () => {
  const it = stage();
  const abort = new AbortController();
  const asked = it.ask({ signal: abort.signal });
  it.store.open = ((open) => async (...given) => {
    const kept = await open(...given);
    abort.abort();
    return kept;
  })(it.store.open);
  await assert.rejects(asked, isCode("protocol.cancelled"));
  await until(async () => (await it.desk.list({ state: "ended" })).items.length === 1, "it is withdrawn");
  await assert.rejects(it.ask({ signal: abort.signal }));
  assert.deepEqual([it.events.filter(({ type }) => type === "requested").length, it.clock.keepingAlive], [1, 0]);
});

test("N-027 a signal keeps no listener of a call that was answered", async () => {
  const it = stage();
  const { signal } = new AbortController();
  let listeners = 0;
  const count = <T extends "addEventListener" | "removeEventListener">(name: T, step: number): void => {
    const real = signal[name].bind(signal) as (...given: unknown[]) => void;
    Object.defineProperty(signal, name, { value: (...given: unknown[]) => (listeners += step, real(...given)) });
  };
  count("addEventListener", 1);
  count("removeEventListener", -1);
  const asked = it.ask({ signal });
  const { id } = await it.opened();
  assert.equal(listeners, 1);
  await it.desk.answer(id, { decision: "allow" });
  await asked;
  assert.equal(listeners, 0);
});

test("N-026 a listener that throws keeps nobody from an answer, and is warned of", async () => {
  const it = stage();
  it.desk.on(() => {
    throw new Error("no screen");
  });
  const asked = it.ask();
  await it.desk.answer((await it.opened()).id, { decision: "allow" });
  assert.ok((await asked).isAllowed);
  assert.match(it.warnings[0]!, /A listener of approvals failed: no screen/);
});

test("N-026 the embedder's function is told when the call is given up, and nothing it does then counts or warns", async () => {
  const [answers, seen] = [
    [Promise.withResolvers<{ decision: "allow" }>(), Promise.withResolvers<never>()],
    [] as string[],
  ];
  const it = stage({
    onAsk(_, { signal }) {
      signal.addEventListener("abort", () => void seen.push("over"));
      return answers[seen.length]!.promise;
    },
  });
  for (const at of [0, 1]) {
    const abort = new AbortController();
    const asked = it.ask({ signal: abort.signal });
    await it.opened(at + 1);
    abort.abort();
    await assert.rejects(asked, isCode("protocol.cancelled"));
  }
  answers[0]!.resolve({ decision: "allow" } as never);
  answers[1]!.reject(new Error("closed"));
  await until(async () => (await it.desk.list({ state: "ended" })).items.length === 2, "both are withdrawn");
  assert.deepEqual([seen, it.warnings], [["over", "over"], []]);
});

test("N-027 an answer in the last moment counts, whoever took it", async () => {
  const here = stage();
  const there = stage({ shared: here });
  const asked = here.ask({ waitMs: 500 });
  const { id } = await here.opened();
  await there.desk.answer(id, { decision: "allow" }, { by: "there" });
  here.clock.advance(500); // Before the first look for answers of others.
  assert.deepEqual(await asked, { ...await asked, isAllowed: true, by: "there" });
});

test("N-044 front ends hear of an answer that another process has taken", async () => {
  const here = stage();
  const there = stage({ shared: here });
  const asked = here.ask();
  const { id } = await here.opened();
  await there.desk.answer(id, { decision: "deny" });
  here.clock.advance(1_000);
  await asked;
  assert.deepEqual(here.events.map(({ type, approval }) => [type, approval.state]), [
    ["requested", "waiting"],
    ["answered", "denied"],
  ]);
});

test("N-027 a store that fails refuses the call, and the next one is asked when it is back", async () => {
  const it = stage();
  const { endLost } = it.store;
  it.store.endLost = () => Promise.reject(new HostError("jobs.store_unavailable", "away"));
  await assert.rejects(it.ask(), isCode("jobs.store_unavailable"));
  it.store.endLost = endLost;
  const asked = it.ask();
  await it.desk.answer((await it.opened()).id, { decision: "allow" });
  assert.ok((await asked).isAllowed);
});

test("N-027 a store that fails when a request has run out leaves no call waiting", async () => {
  const it = stage();
  const asked = it.ask({ waitMs: 5_000 });
  await it.opened();
  it.store.get = () => Promise.reject(new HostError("jobs.store_unavailable", "away"));
  it.clock.advance(5_000);
  assert.equal((await asked).isAllowed, false);
  assert.match(it.warnings.join(), /could not be ended: away/);
});

test("N-026 a cursor that names no request is refused", async () => {
  await assert.rejects(stage().desk.list({ cursor: "apr_none" }), isCode("http.cursor_invalid"));
  await assert.rejects(stage().desk.list({ cursor: cursorOf("approvals", "apr_none") }), isCode("http.cursor_gone"));
});

test("N-026 secrets are masked in reasons and in the arguments before a handler changed them; long reasons are cut", async () => {
  const it = stage();
  it.secrets.learn("token", "s3cr3t-value");
  const reason = `the token is s3cr3t-value ${"x".repeat(5_000)}`;
  void it.ask({
    changed: { before: { token: "s3cr3t-value" }, by: ["guard"] },
    asked: [{ source: RULE, reason }, { source: HOOK, reason }],
  }).catch(() => {});
  const request = await it.opened();
  assert.doesNotMatch(JSON.stringify(request), /s3cr3t/);
  assert.equal(request.reason.length, 1_000);
  await it.desk.answer(request.id, { decision: "deny", reason: `s3cr3t-value ${"y".repeat(5_000)}` });
  const { end } = await it.desk.get(request.id);
  assert.match(end!.reason!, /^\[secret:token\] y+$/);
  assert.ok(end!.reason!.length < 2_100);
  void it.ask({ asked: [{ source: RULE, reason: "same" }, { source: HOOK, reason: "same" }] }).catch(() => {});
  assert.equal((await it.opened(2)).reason, "same");
});

test("N-026 arguments that held the text of a mask before may be edited around it", async () => {
  const it = stage();
  const asked = it.ask({ arguments: { note: "write [secret:x] here", more: 1 } });
  const { id } = await it.opened();
  await it.desk.answer(id, { decision: "allow", arguments: { note: "write [secret:x] there", toString: "new" } });
  const ruling = await asked;
  assert.ok(ruling.isAllowed);
  assert.deepEqual(ruling.arguments, { note: "write [secret:x] there", toString: "new" });
});

test("N-026 a page has at most 500 requests", async () => {
  const it = stage();
  let limit = 0;
  const { list } = it.store;
  it.store.list = (query) => {
    limit = query.limit;
    return list(query);
  };
  await it.desk.list({ limit: 1_000_000 });
  assert.equal(limit, 501); // One more shows whether there is a next page.
});

test("N-027 a job that asks while the host stops is not refused: its run is interrupted, and joins the request later", async () => {
  const it = stage();
  await it.desk.close();
  const abort = new AbortController();
  const asked = it.ask({ jobId: "job_1", call: "key:1", signal: abort.signal });
  const { id } = await it.opened();
  assert.equal(it.clock.keepingAlive, 1); // A process whose only work is to wait for a person goes on.
  abort.abort(new HostError("jobs.stopped", "The host stopped while the job ran"));
  await assert.rejects(asked, isCode("jobs.stopped"));
  assert.equal((await it.desk.get(id)).state, "waiting");
});

test("N-026 answers for the session of a request without one count for the one call", async () => {
  const it = stage();
  const asked = it.ask({ sessionId: null });
  await it.desk.answer((await it.opened()).id, { decision: "allow", scope: "session" });
  assert.ok((await asked).isAllowed);
  assert.deepEqual(await it.desk.standing(), []);
});
