import assert from "node:assert/strict";
import { test } from "node:test";
import {
  FRESH,
  type InstanceEvent,
  type InstanceState,
  nextState,
  RESTART_POLICY,
} from "../../../src/core/supervisor/next_state.ts";

const enabled: InstanceEvent = { type: "enabled" };
const ready: InstanceEvent = { type: "ready" };
const delayElapsed: InstanceEvent = { type: "delayElapsed" };
const failedAt = (atMs: number): InstanceEvent => ({ type: "failed", atMs });
const after = (...events: InstanceEvent[]): InstanceState =>
  events.reduce<InstanceState>((state, event) => nextState(state, event, RESTART_POLICY), FRESH);

/** Fails at each given moment, coming up again in between. */
const failingAt = (...moments: number[]): InstanceState =>
  after(enabled, ...moments.flatMap((atMs) => [ready, failedAt(atMs), delayElapsed]).slice(0, -1));

test("K-051 nextState() goes disabled → spawning → running", () => {
  assert.equal(FRESH.status, "disabled");
  assert.equal(after(enabled).status, "spawning");
  assert.equal(after(enabled, ready).status, "running");
});

test("K-051 nextState() goes running → crashed → spawning", () => {
  assert.deepEqual(after(enabled, ready, failedAt(5)), {
    status: "crashed",
    failures: [5],
    delayMs: 1_000,
    restarts: 0,
  });
  assert.deepEqual(after(enabled, ready, failedAt(5), delayElapsed), {
    status: "spawning",
    failures: [5],
    delayMs: 0,
    restarts: 1,
  });
});

test("K-049 nextState() doubles the delay at each failure", () => {
  assert.deepEqual([[0], [0, 1], [0, 1, 2], [0, 1, 2, 3]].map((at) => failingAt(...at).delayMs), [
    1_000,
    2_000,
    4_000,
    8_000,
  ]);
});

test("K-049 nextState() reaches 32 s and its cap of 60 s when failures lie too far apart to be final", () => {
  const every150s = [0, 1, 2, 3, 4, 5, 6, 7].map((step) => step * 150_000);
  const delays = every150s.map((_, last) => failingAt(...every150s.slice(0, last + 1)).delayMs);
  assert.deepEqual(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
});

test("K-049 nextState() gives up at the fifth failure within ten minutes", () => {
  assert.equal(failingAt(0, 1, 2, 3).status, "crashed");
  assert.equal(failingAt(0, 1, 2, 3, 599_999).status, "failed");
  assert.equal(failingAt(0, 150_000, 300_000, 450_000, 600_000).status, "crashed");
});

test("nextState() starts the count anew after ten calm minutes", () => {
  assert.deepEqual(failingAt(0, 1, 2, 600_002), {
    status: "crashed",
    failures: [600_002],
    delayMs: 1_000,
    restarts: 3,
  });
});

test("nextState() keeps a bounded list of failures", () => {
  const years = Array.from({ length: 200 }, (_, step) => step * 200_000);
  assert.equal(failingAt(...years).failures.length, 16);
});

test("K-049 nextState() forgets failures when the plugin is enabled again", () => {
  assert.deepEqual(nextState(failingAt(0, 1, 2, 3, 4), enabled, RESTART_POLICY), {
    status: "spawning",
    failures: [],
    delayMs: 0,
    restarts: 0,
  });
});

test("nextState() goes straight to failed when a plugin is refused", () => {
  assert.equal(after(enabled, { type: "refused" }).status, "failed");
});

test("K-051 nextState() keeps a failed plugin down until it is enabled", () => {
  const failed = after(enabled, { type: "refused" });
  for (const event of [ready, delayElapsed, failedAt(9), { type: "stopped" } as const]) {
    assert.deepEqual(nextState(failed, event, RESTART_POLICY), failed);
  }
});

test("K-051 nextState() disables from every state", () => {
  for (const state of [FRESH, after(enabled), after(enabled, ready), failingAt(0), failingAt(0, 1, 2, 3, 4)]) {
    assert.equal(nextState(state, { type: "disabled" }, RESTART_POLICY).status, "disabled");
  }
});

test("nextState() ignores events out of turn", () => {
  for (const event of [ready, delayElapsed, failedAt(1), { type: "refused" } as const, { type: "stopped" } as const]) {
    assert.deepEqual(nextState(FRESH, event, RESTART_POLICY), FRESH);
  }
  const running = after(enabled, ready);
  for (const event of [enabled, ready, delayElapsed]) {
    assert.deepEqual(nextState(running, event, RESTART_POLICY), running);
  }
});

const rested = { type: "rested" } as const;
const woken = { type: "woken" } as const;

test("nextState() lets a plugin rest that runs or has no process, and wakes one that rests", () => {
  for (const state of [FRESH, after(enabled, ready), failingAt(0, 1, 2, 3, 4), after(enabled, { type: "stopped" })]) {
    assert.equal(nextState(state, rested, RESTART_POLICY).status, "resting");
  }
  assert.equal(after(enabled, rested).status, "spawning");
  assert.equal(after(rested, woken).status, "spawning");
  assert.equal(after(rested, { type: "stopped" }).status, "stopped");
  for (const event of [ready, delayElapsed, failedAt(1), { type: "refused" } as const]) {
    assert.deepEqual(nextState(after(rested), event, RESTART_POLICY), after(rested));
  }
});

test("K-049 nextState() counts the failures of a plugin on demand across its rests", () => {
  const failing = [0, 1, 2, 3].flatMap((at) => [failedAt(at), delayElapsed]);
  const { status, failures } = after(enabled, ...failing, ready, rested, woken);
  assert.deepEqual([status, failures], ["spawning", [0, 1, 2, 3]]);
  assert.equal(after(enabled, ...failing, ready, rested, woken, failedAt(4)).status, "failed");
});
