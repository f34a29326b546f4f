import assert from "node:assert/strict";
import { test } from "node:test";
import { supervised } from "../../support/supervised.ts";

test("K-004 garbage on stdout is audited as noise, cut to 200 characters, and survived", async () => {
  await using s = await supervised();
  const id = await s.add("prints_garbage");
  await s.supervisor.start(id);
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), { ok: true });
  const lines = s.events.filter((event) => event.type === "plugin.stdout_noise").map((event) => event.data.line);
  assert.equal(lines.length, 10, "three lines three times, and the long one");
  assert.equal(lines[0], "starting up…");
  assert.equal(lines.at(-1), "x".repeat(200));
  assert.equal(s.supervisor.plugin(id).status, "running");
});

test("K-001 characters split over many writes arrive whole; CR LF is tolerated", async () => {
  await using s = await supervised();
  const split = await s.add("split_utf8");
  const crlf = await s.add("writes_crlf");
  await s.supervisor.startAll();
  assert.deepEqual(await s.supervisor.call(split, "fixture.call"), { text: "aä€😀" });
  assert.deepEqual(await s.supervisor.call(crlf, "fixture.call"), { ok: true });
});

test("NUL bytes in lines are noise, an escaped NUL in a result is data", async () => {
  await using s = await supervised();
  const id = await s.add("nul_bytes");
  await s.supervisor.start(id);
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), { text: "a\0b" });
  assert.equal(s.types().filter((type) => type === "plugin.stdout_noise").length, 3);
});

test("K-005 a batch is answered -32600 with id null and audited", async () => {
  await using s = await supervised();
  const id = await s.add("sends_batch");
  await s.supervisor.start(id);
  const { answer } = await s.supervisor.call(id, "fixture.call") as { answer: { id: null; error: { code: number } } };
  assert.equal(answer.id, null);
  assert.equal(answer.error.code, -32600);
  assert.equal((await s.next("plugin.protocol_violation")).data.violation_type, "batch");
});

test("K-002 a 5 MiB line ends the plugin, which is started again", async () => {
  await using s = await supervised();
  const id = await s.add("five_mib_line");
  await s.supervisor.start(id);
  await assert.rejects(s.supervisor.call(id, "fixture.call"), { code: "protocol.oversize_message" });
  assert.equal((await s.next("plugin.protocol_violation")).data.violation_type, "protocol.oversize_message");
  assert.equal((await s.next("plugin.killed")).data.reason, "protocol.oversize_message");
  await s.next("plugin.crashed");
  await s.next("plugin.initialized");
  await s.pass(1_000);
  await s.next("plugin.initialized");
});

test("K-002 a line without end is cut off at the cap", async () => {
  await using s = await supervised();
  const id = await s.add("endless_line");
  await s.supervisor.start(id);
  await assert.rejects(s.supervisor.call(id, "fixture.call"), { code: "protocol.oversize_message" });
});

test("100,000 arrays inside each other crash nobody", async () => {
  await using s = await supervised();
  const id = await s.add("deep_nesting");
  await s.supervisor.start(id);
  const call = s.supervisor.call(id, "fixture.call", {}, { timeoutMs: 60_000 });
  const outcome = await Promise.race([
    call.then(() => "answered", (error) => error.code),
    s.next("plugin.stdout_noise").then(() => "noise"), // A runtime that cannot read it discards the line.
  ]);
  assert.ok(["answered", "noise"].includes(outcome), outcome);
  call.catch(() => {});
  assert.deepEqual(await s.supervisor.call(id, "ping"), { status: "ok" });
});

test("JSON of every other shape is audited as invalid and survived", async () => {
  await using s = await supervised();
  const id = await s.add("invalid_shapes");
  await s.supervisor.start(id);
  const { sent } = await s.supervisor.call(id, "fixture.call") as { sent: number };
  const violations = s.types().filter((type) => type === "plugin.protocol_violation").length;
  assert.ok(violations >= sent - 2 && violations <= sent, `${violations} of ${sent}`);
  assert.equal(s.supervisor.plugin(id).status, "running");
});

test("K-006 responses to nobody are reported, not thrown", async () => {
  await using s = await supervised();
  const id = await s.add("answers_nobody");
  await s.supervisor.start(id);
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), { ok: true });
  const violations = s.events.filter((event) => event.type === "plugin.protocol_violation");
  assert.deepEqual(violations.map((event) => event.data.violation_type), Array(4).fill("unknown_response"));
});

test("a call answered twice settles with the first answer", async () => {
  await using s = await supervised();
  const id = await s.add("answers_twice");
  await s.supervisor.start(id);
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), { answer: 1 });
  assert.equal((await s.next("plugin.protocol_violation")).data.violation_type, "unknown_response");
});

test("two requests of a plugin under one id are both answered, one of them with an error", async () => {
  const hold: (() => void)[] = [];
  await using s = await supervised({
    onRequest: () => new Promise((resolve) => hold.push(() => resolve({ rows: [] }))),
  });
  const id = await s.add("duplicate_ids");
  await s.supervisor.start(id);
  const call = s.supervisor.call(id, "fixture.call");
  await s.next("plugin.protocol_violation");
  hold.forEach((release) => release());
  const { answers } = await call as { answers: { error?: { code: number } }[] };
  assert.deepEqual(answers.map((answer) => answer.error?.code ?? 0).sort(), [-32600, 0]);
});

test("K-064 a plugin that closes stdout but lives is found out by its silence, killed and started again", async () => {
  await using s = await supervised();
  const id = await s.add("closes_stdout_lives");
  await s.supervisor.start(id);
  await s.next("plugin.initialized");
  const call = s.supervisor.call(id, "fixture.call");
  await s.pass(30_000);
  await assert.rejects(call, { code: "protocol.timeout" });
  await s.pass(5_000);
  await s.next("plugin.crashed");
  await s.pass(1_000);
  await s.next("plugin.initialized");
});

test("K-003 a plugin that fills stderr is read, capped and served", async () => {
  await using s = await supervised();
  const id = await s.add("fills_stderr");
  await s.supervisor.start(id);
  assert.deepEqual(await s.supervisor.call(id, "fixture.call"), { ok: true });
  assert.ok(s.logs.length >= 20_000);
  assert.ok(s.logs.every(({ line }) => line.length <= 4098));
  assert.deepEqual(s.logs[0], { plugin: "fills-stderr", instance: id, line: `line 0 ${"e".repeat(90)}` });
});

test("K-016 notifications are audited and forwarded", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  const seen: unknown[] = [];
  const end = s.supervisor.onNotification((notification) => seen.push(notification));
  await s.supervisor.start(echo);
  await s.supervisor.call(echo, "echo.notify", { count: 2 });
  end();
  await s.supervisor.call(echo, "echo.notify", { count: 1 });
  assert.deepEqual(seen, [
    { instance: echo, method: "echo.happened", params: { number: 0 } },
    { instance: echo, method: "echo.happened", params: { number: 1 } },
  ]);
  assert.equal((await s.next("plugin.notification")).data.notification_type, "echo.happened");
});

test("K-016 above 100 notifications a second the rest is dropped, audited once and reported to the plugin", async () => {
  await using s = await supervised();
  const id = await s.add("floods_notifications");
  let forwarded = 0;
  s.supervisor.onNotification(() => forwarded++);
  await s.supervisor.start(id);
  await s.supervisor.call(id, "fixture.call", { count: 1000 });
  assert.equal(forwarded, 100);
  assert.equal((await s.next("plugin.notification_flood")).data.rate, 101);
  assert.equal(s.types().filter((type) => type === "plugin.notification_flood").length, 1);
  assert.deepEqual(await s.supervisor.call(id, "fixture.limited"), { limited: 1 });
  s.clock.advance(1_000);
  await s.supervisor.call(id, "fixture.call", { count: 1 });
  assert.equal(forwarded, 101);
});

test("a plugin that floods the host with requests has at most 64 of them in work", async () => {
  let inWork = 0;
  let most = 0;
  const full = Promise.withResolvers<void>();
  await using s = await supervised({
    // Nobody is answered before there are 64.
    onRequest: async () => {
      most = Math.max(most, ++inWork);
      if (inWork === 64) full.resolve();
      await full.promise;
      inWork--;
      return { rows: [] };
    },
  });
  const id = await s.add("floods_requests");
  await s.supervisor.start(id);
  assert.deepEqual(await s.supervisor.call(id, "fixture.call", { count: 2000 }), { answered: 2000, refused: 0 });
  assert.equal(most, 64);
});

test("a plugin that stops reading cannot grow the host: calls fail with -32005 once 8 MiB wait", async () => {
  await using s = await supervised();
  const id = await s.add("stops_reading");
  await s.supervisor.start(id);
  await s.supervisor.call(id, "fixture.call");
  const text = "x".repeat(1024 * 1024);
  const calls = Array.from({ length: 20 }, () => s.supervisor.call(id, "fixture.call", { text }));
  const refused = (await Promise.allSettled(calls.slice(10)))
    .map((result) => result.status === "rejected" ? result.reason.code : result.status);
  assert.deepEqual(refused, Array(10).fill("protocol.busy"));
  calls.forEach((call) => call.catch(() => {}));
});

test("a slow reader gets everything in the end", async () => {
  await using s = await supervised();
  const id = await s.add("slow_reader");
  await s.supervisor.start(id);
  const text = "x".repeat(300 * 1024);
  const calls = Array.from({ length: 10 }, () => s.supervisor.call(id, "fixture.call", { text }));
  assert.deepEqual(await Promise.all(calls), Array(10).fill({ size: text.length }));
});

test("K-011 a host without storage answers a plugin's requests with -32601", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const { error } = await s.supervisor.call(echo, "echo.storage", { sql: "SELECT 1" }) as { error: { code: number } };
  assert.equal(error.code, -32601);
});

test("a request too large for the wire is refused and never sent", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const text = "x".repeat(4 * 1024 * 1024);
  await assert.rejects(s.supervisor.call(echo, "echo.params", { text }), { code: "protocol.oversize_message" });
  assert.deepEqual(await s.supervisor.call(echo, "ping"), { status: "ok" });
});
