import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_LIMITS, resolveLimits } from "../../../../src/core/cage/limits/cage_limits.ts";

test("limits are 512 MB, 256 shares and 100 processes where nobody says otherwise", () => {
  assert.deepEqual(resolveLimits(), { memory_mb: 512, cpu_shares: 256, pids: 100 });
  assert.deepEqual(resolveLimits(undefined, {}), DEFAULT_LIMITS);
});

test("the last word counts, for each limit apart", () => {
  const limits = resolveLimits({ memory_mb: 256, pids: 50 }, { memory_mb: 1024 });
  assert.deepEqual(limits, { memory_mb: 1024, cpu_shares: 256, pids: 50 });
});

test("a limit the kernel would not take is refused, and every issue is named", () => {
  const wrong = { memory_mb: 0, cpu_shares: 1.5, pids: "many", disk_mb: 5 } as unknown as { memory_mb: number };
  assert.throws(() => resolveLimits(wrong), (error: { code: string; data: { issues: string[] } }) => {
    assert.equal(error.code, "cage.limit_invalid");
    assert.equal(error.data.issues.length, 4);
    return true;
  });
  for (const pids of [7, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 40]) {
    assert.throws(() => resolveLimits({ pids }), { code: "cage.limit_invalid" });
  }
});
