import assert from "node:assert/strict";
import { test } from "node:test";
import { createAudit } from "../../../../src/core/audit/audit.ts";
import type { AuditEvent } from "../../../../src/core/audit/events.ts";
import { HostError } from "../../../../src/core/errors/host_error.ts";
import {
  createHookDispatcher,
  type HookFiring,
  type HookSubscriber,
} from "../../../../src/hooks/sources/plugin/fire_hook.ts";
import type { PluginCallOptions } from "../../../../src/core/supervisor/types.ts";
import { createFakeClock } from "../../../support/fake_clock.ts";

interface Call {
  readonly instance: string;
  readonly method: string;
  readonly params: unknown;
  readonly options: PluginCallOptions;
  readonly answer: (result: unknown) => void;
  readonly fail: (error: HostError) => void;
}

/** A dispatcher whose plugins answer when the test says so. */
function dispatcher() {
  const clock = createFakeClock();
  const audit = createAudit({ clock });
  const events: AuditEvent[] = [];
  audit.on((event) => events.push(event));
  const calls: Call[] = [];
  const hooks = createHookDispatcher({
    clock,
    audit,
    call: (instance, method, params, options) =>
      new Promise((answer, fail) => {
        const { signal } = options;
        signal?.addEventListener("abort", () => fail(new HostError("protocol.cancelled", "Cancelled")));
        calls.push({ instance, method, params, options, answer, fail });
      }),
  });
  return { hooks, clock, events, calls, settle: () => new Promise(setImmediate) };
}

const memory: HookSubscriber = { plugin: "memory", instance: "memory@music", timeoutSec: 10, override: null };
const context = { project_id: "music", agent_path: "primary", session_id: "ses_1", request_id: "req_1" };
const firing: HookFiring = { hook: "on_session_start", params: { a: 1 }, context };
const same = (result: unknown): unknown => result;

test("K-018 a hook is called as kaged.hook.<name> with its params, context and timeout", async () => {
  const { hooks, calls, settle } = dispatcher();
  const fired = hooks.fire(memory, firing, same);
  await settle();
  const [{ instance, method, params, options, answer }] = calls as [Call];
  assert.deepEqual([instance, method, params], ["memory@music", "kaged.hook.on_session_start", { a: 1 }]);
  assert.deepEqual([options.context, options.timeoutMs], [context, 10_000]);
  answer("Known");
  assert.deepEqual(await fired, { ok: true, result: "Known", durationMs: 0 });
});

test("K-036 what an agent overrides of a shared config rides as _config", async () => {
  const { hooks, calls, settle } = dispatcher();
  void hooks.fire({ ...memory, override: { tags: ["research"] } }, firing, same);
  await settle();
  assert.deepEqual(calls[0]?.params, { a: 1, _config: { tags: ["research"] } });
});

test("K-023 a plugin gets its second hook when it has answered the first, whatever the session", async () => {
  const { hooks, calls, settle } = dispatcher();
  const other = { ...firing, context: { ...context, session_id: "ses_2" } };
  const fired = [hooks.fire(memory, firing, same), hooks.fire(memory, other, same), hooks.fire(memory, firing, same)];
  await settle();
  assert.equal(calls.length, 1);
  calls[0]!.answer(1);
  await settle();
  assert.equal(calls.length, 2);
  assert.equal(calls[1]!.options.context?.session_id, "ses_2");
  calls[1]!.fail(new HostError("plugin.error", "No"));
  await settle();
  assert.equal(calls.length, 3);
  calls[2]!.answer(3);
  assert.deepEqual((await Promise.all(fired)).map(({ ok }) => ok), [true, false, true]);
});

test("K-023 two plugins, and two instances of one, do not wait for each other", async () => {
  const { hooks, calls, settle } = dispatcher();
  void hooks.fire(memory, firing, same);
  void hooks.fire({ ...memory, instance: "memory@music/primary" }, firing, same);
  void hooks.fire({ ...memory, plugin: "notes", instance: "notes@music" }, firing, same);
  await settle();
  assert.equal(calls.length, 3);
});

test("K-024 a hook that waits its whole time for its turn is given up without being sent, and leaves the line", async () => {
  const { hooks, calls, clock, events, settle } = dispatcher();
  const first = hooks.fire({ ...memory, timeoutSec: 60 }, firing, same);
  const second = hooks.fire(memory, firing, same);
  await settle();
  clock.advance(10_000);
  const outcome = await second;
  assert.deepEqual([outcome.ok, outcome.ok || outcome.reason], [false, "timeout"]);
  assert.equal(events.filter(({ type }) => type === "plugin.hook.timeout").length, 1);
  const third = hooks.fire(memory, firing, same);
  calls[0]!.answer(1);
  await settle();
  assert.equal(calls.length, 2);
  calls[1]!.answer(3);
  assert.ok((await first).ok && (await third).ok);
});

test("K-059 K-062 a hook that is answered leaves fired and returned, under one request", async () => {
  const { hooks, calls, clock, events, settle } = dispatcher();
  const fired = hooks.fire(memory, firing, same);
  await settle();
  clock.advance(25);
  calls[0]!.answer(null);
  await fired;
  assert.deepEqual(
    events.map(({ type, name, instance, request_id, data }) => [type, name, instance, request_id, data]),
    [
      ["plugin.hook.fired", "memory", "memory@music", "req_1", {
        hook: "on_session_start",
        agent_path: "primary",
        session_id: "ses_1",
      }],
      ["plugin.hook.returned", "memory", "memory@music", "req_1", {
        hook: "on_session_start",
        duration_ms: 25,
        has_result: false,
      }],
    ],
  );
});

test("K-062 a hook that fails leaves one event with the plugin's number and a message within bounds", async () => {
  const { hooks, calls, events, settle } = dispatcher();
  const fired = hooks.fire(memory, firing, same);
  await settle();
  calls[0]!.fail(new HostError("plugin.error", "x".repeat(9_000), { rpc: -32050 }));
  const outcome = await fired;
  assert.deepEqual([outcome.ok, outcome.ok || outcome.reason], [false, "failed"]);
  assert.deepEqual(events.slice(1).map(({ type, data }) => [type, data]), [["plugin.hook.failed", {
    hook: "on_session_start",
    agent_path: "primary",
    error_code: -32050,
    error_message: "x".repeat(500),
    reason: "plugin.error",
  }]]);
});

test("K-024 K-062 a hook that times out leaves one event that says after how long", async () => {
  const { hooks, calls, events, settle } = dispatcher();
  const fired = hooks.fire(memory, firing, same);
  await settle();
  calls[0]!.fail(new HostError("protocol.timeout", "No answer"));
  assert.equal((await fired).ok, false);
  assert.deepEqual(events.slice(1).map(({ type, data }) => [type, data]), [
    ["plugin.hook.timeout", { hook: "on_session_start", agent_path: "primary", timeout_sec: 10 }],
  ]);
});

test("K-024 a plugin that reports progress for ever is given up all the same", async () => {
  const { hooks, clock, settle } = dispatcher();
  const fired = hooks.fire(memory, firing, same); // The call's own deadline is moved by each report.
  await settle();
  clock.advance(10_100);
  const outcome = await fired;
  assert.deepEqual([outcome.ok, outcome.ok || outcome.reason], [false, "timeout"]);
  assert.equal(clock.waiting, 0);
});

test("a result that may not be is a failure of the plugin, told with our number", async () => {
  const { hooks, calls, events, settle } = dispatcher();
  const fired = hooks.fire(memory, firing, () => {
    throw new HostError("hook.result_invalid", "The result is a number");
  });
  await settle();
  calls[0]!.answer(7);
  assert.equal((await fired).ok, false);
  const { type, data } = events.at(-1)!;
  assert.deepEqual([type, (data as { reason: string }).reason], ["plugin.hook.failed", "hook.result_invalid"]);
});

test("a plugin that is down, or is sent too much, is told apart from one that fails", async () => {
  const { hooks, calls, settle } = dispatcher();
  for (
    const [code, reason] of [["plugin.unavailable", "unavailable"], ["protocol.oversize_message", "oversize"]] as const
  ) {
    const fired = hooks.fire(memory, firing, same);
    await settle();
    calls.pop()!.fail(new HostError(code, "No"));
    const outcome = await fired;
    assert.equal(outcome.ok || outcome.reason, reason);
  }
});
