import assert from "node:assert/strict";
import { test } from "node:test";
import { delayAfter, readRetryAfter, retryPolicy } from "../../../src/addons/webhooks/courier.ts";

const delays = (random: number, retryAfterMs: number | null = null) =>
  [1, 2, 3, 4, 7, 8].map((attempt) => delayAfter(attempt, retryPolicy(), { random, retryAfterMs }));

test("T-013 there are three attempts unless said otherwise", () => {
  assert.deepEqual(retryPolicy(), { maxAttempts: 3, backoff: "exponential", firstDelayMs: 1000, maxDelayMs: 60_000 });
  assert.equal(retryPolicy({ maxAttempts: 7 }).maxAttempts, 7);
});

test("T-013 waits double up to a minute, less a random part of up to half", () => {
  assert.deepEqual(delays(0), [1000, 2000, 4000, 8000, 60_000, 60_000]);
  assert.deepEqual(delays(0.5), [750, 1500, 3000, 6000, 45_000, 45_000]);
});

test("T-013 a receiver that asks for a longer wait gets it, up to an hour", () => {
  assert.deepEqual(delays(0, 5000).slice(0, 4), [5000, 5000, 5000, 8000]);
  assert.equal(delayAfter(1, retryPolicy(), { random: 0, retryAfterMs: 1e12 }), 3600_000);
});

test("T-013 Retry-After is seconds or a date, and anything else is nothing", () => {
  const now = Date.UTC(2026, 0, 1);
  assert.equal(readRetryAfter("120", now), 120_000);
  assert.equal(readRetryAfter("Thu, 01 Jan 2026 00:00:30 GMT", now), 30_000);
  assert.equal(readRetryAfter("Wed, 31 Dec 2025 00:00:00 GMT", now), 0);
  for (const value of [null, "", "soon", "-5", "1.5", "2026"]) {
    assert.equal(readRetryAfter(value, now), value === "2026" ? 2_026_000 : null);
  }
});

test("retry options that cannot be followed are refused", () => {
  for (const options of [{ maxAttempts: 0 }, { maxAttempts: 1.5 }, { maxAttempts: 1000 }, { firstDelayMs: -1 }]) {
    assert.throws(() => retryPolicy(options), { code: "addons.invalid_option" });
  }
  assert.throws(() => retryPolicy({ backoff: "linear" as "exponential" }), { code: "addons.invalid_option" });
});
