import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../../src/core/errors/host_error.ts";
import { supervised } from "../../support/supervised.ts";

test("K-013 K-015 a call carries its params and a whole context", async () => {
  await using s = await supervised({ operatorId: "operator" });
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const context = { project_id: "music", agent_path: "primary", session_id: "ses_1", request_id: "req_9" };
  assert.deepEqual(await s.supervisor.call(echo, "echo.params", { filter: "web" }, { context }), {
    params: { filter: "web" },
    context: { operator_id: "operator", ...context },
  });
});

test("K-015 a half-set context is refused before anything is sent", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const half = { context: { project_id: "music" } };
  await assert.rejects(s.supervisor.call(echo, "echo.params", {}, half), { code: "plugin.context_partial" });
  assert.ok(!s.types().includes("plugin.method_called"));
});

test("a caller's own _context does not reach the plugin", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const { context } = await s.supervisor.call(echo, "echo.params", { _context: { operator_id: "root" } }) as {
    context: { operator_id: unknown };
  };
  assert.equal(context.operator_id, null);
});

test("K-059 K-061 every call is audited when it is made and when it returns", async () => {
  await using s = await supervised({ operatorId: "op" });
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  await s.supervisor.call(echo, "echo.params", {}, { context: { request_id: "req_1" } });
  const called = await s.next("plugin.method_called");
  assert.equal(called.request_id, "req_1");
  assert.deepEqual(called.data, { method: "echo.params", operator_id: "op", project_id: null, agent_path: null });
  const returned = await s.next("plugin.method_returned");
  assert.equal(returned.request_id, "req_1");
  assert.deepEqual(returned.data, { method: "echo.params", duration_ms: 0, success: true });
  await assert.rejects(s.supervisor.call(echo, "echo.read", { path: "/nowhere" }));
  assert.equal((await s.next("plugin.method_returned")).data.success, false);
});

test("K-013 a method the manifest does not name is answered -32601 without asking the plugin", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  for (const method of ["nope.nope", "initialize", "shutdown", "config.update", "kaged.hook.on_session_start"]) {
    await assert.rejects(s.supervisor.call(echo, method), { code: "protocol.method_unknown", rpc: -32601, http: 404 });
  }
});

test("K-013 ten calls in flight are all answered, each with its own result", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const numbers = Array.from({ length: 10 }, (_, number) => number);
  const answers = await Promise.all(numbers.map((number) => s.supervisor.call(echo, "echo.params", { number })));
  assert.deepEqual(answers.map((answer) => (answer as { params: { number: number } }).params.number), numbers);
});

test("K-013 a call without an answer fails after 30 s with -32603; a plugin that still pings lives on", async () => {
  await using s = await supervised();
  const id = await s.add("never_answers");
  await s.supervisor.start(id);
  const call = s.supervisor.call(id, "fixture.call");
  await s.pass(30_000);
  await assert.rejects(call, { code: "protocol.timeout", rpc: -32603, http: 502 });
  assert.deepEqual(await s.supervisor.call(id, "ping"), { status: "ok" });
  assert.equal(s.supervisor.plugin(id).status, "running");
});

test("K-064 a plugin that hangs after a timed-out call is killed and started again", async () => {
  await using s = await supervised();
  const id = await s.add("freezes_on_call");
  await s.supervisor.start(id);
  const call = s.supervisor.call(id, "fixture.call", {}, { timeoutMs: 1_000 });
  await s.pass(1_000);
  await assert.rejects(call, { code: "protocol.timeout" });
  await s.pass(5_000); // The ping that follows.
  assert.equal((await s.next("plugin.health_fail")).data.consecutive_failures, 1);
  await s.pass(2_000); // SIGTERM does not reach a frozen handler everywhere.
  await s.next("plugin.crashed");
  await s.pass(1_000);
  await s.next("plugin.initialized");
  await s.next("plugin.initialized");
});

test("a call's own timeout and its signal end it alone", async () => {
  await using s = await supervised();
  const id = await s.add("honours_cancel");
  await s.supervisor.start(id);
  const slow = s.supervisor.call(id, "fixture.call", {}, { timeoutMs: 100 });
  await s.pass(100);
  await assert.rejects(slow, { code: "protocol.timeout" });
  const stop = new AbortController();
  const aborted = s.supervisor.call(id, "fixture.call", {}, { signal: stop.signal });
  stop.abort();
  await assert.rejects(aborted, { code: "protocol.cancelled" });
  const { cancelled } = await s.supervisor.call(id, "fixture.cancelled") as { cancelled: number[] };
  assert.equal(cancelled.length, 2);
});

test("X-14d progress gives a call more time", async () => {
  await using s = await supervised();
  const id = await s.add("reports_progress");
  await s.supervisor.start(id);
  const seen: unknown[] = [];
  const onProgress = (progress: unknown) => seen.push((progress as { progress: number }).progress);
  const call = s.supervisor.call(id, "fixture.call", { steps: 3 }, { timeoutMs: 1_000, onProgress });
  for (let step = 1; step <= 3; step++) {
    s.clock.advance(900);
    await s.supervisor.call(id, "fixture.step");
  }
  assert.deepEqual(await call, { done: 3 });
  assert.deepEqual(seen, [1, 2, 3]);
});

test("K-014 calls to a plugin that is down fail at once as [BLOCKED], and nobody else's do", async () => {
  await using s = await supervised();
  const down = await s.add("crashes_on_call");
  const echo = await s.add("echo");
  assert.deepEqual(await s.supervisor.startAll(), {
    running: [down, echo],
    resting: [],
    failed: [],
    disabled: [],
  });
  const blocked = { code: "plugin.unavailable", http: 502, message: /^\[BLOCKED\]/ };
  await assert.rejects(s.supervisor.call(down, "fixture.call"), blocked);
  await s.next("plugin.crashed");
  await assert.rejects(s.supervisor.call(down, "fixture.call"), blocked);
  assert.deepEqual(await s.supervisor.call(echo, "ping"), { status: "ok" });
});

test("K-014 every call in flight settles when the plugin dies", async () => {
  await using s = await supervised();
  const id = await s.add("echo");
  await s.supervisor.start(id);
  const calls = Array.from({ length: 50 }, () => s.supervisor.call(id, "echo.exit", { code: 1 }));
  const results = await Promise.allSettled(calls);
  assert.ok(results.every((result) => result.status === "rejected" && result.reason.code === "plugin.unavailable"));
});

test("K-017 a plugin's own error keeps its number, message and data", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  await assert.rejects(s.supervisor.call(echo, "echo.read", { path: "/nowhere" }), (error: HostError) => {
    assert.equal(error.code, "plugin.error");
    assert.equal(error.rpc, -32000);
    assert.equal(error.http, 422);
    assert.deepEqual(error.data, { code: "ENOENT" });
    return true;
  });
});

test("K-002 a result of 3 MiB arrives whole, a line of exactly 4 MiB too", async () => {
  await using s = await supervised();
  const echo = await s.add("echo");
  await s.supervisor.start(echo);
  const big = await s.supervisor.call(echo, "echo.big", { bytes: 3 * 1024 * 1024 }) as string;
  assert.equal(big.length, 3 * 1024 * 1024);
  await s.supervisor.call(echo, "echo.line", { bytes: 4 * 1024 * 1024 });
  assert.equal(s.supervisor.plugin(echo).status, "running");
});

test("unknown instances are refused with the known ones named", async () => {
  await using s = await supervised();
  await s.add("echo");
  await assert.rejects(s.supervisor.call("ecko", "ping"), { code: "plugin.unknown", http: 404 });
  assert.throws(() => s.supervisor.plugin("ecko"), { code: "plugin.unknown" });
});
