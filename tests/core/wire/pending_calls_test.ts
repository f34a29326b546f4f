import assert from "node:assert/strict";
import { test } from "node:test";
import { PendingCalls } from "../../../src/core/wire/pending_calls.ts";

test("PendingCalls keeps a call that waits for many rounds of the ring, and those whose slot it takes", () => {
  const calls = new PendingCalls<{ readonly id: number }>();
  const old = { id: 1 };
  calls.add(old);
  for (let id = 2; id < 500; id++) {
    const call = { id };
    calls.add(call);
    assert.equal(calls.get(id), call);
    assert.equal(calls.get(1), old);
    assert.equal(calls.size, 2);
    calls.remove(call);
    calls.remove(call);
    assert.equal(calls.get(id), undefined);
  }
  assert.deepEqual(calls.all(), [old]);
});

test("PendingCalls grows with the calls that wait, lists them by age, and forgets no other than the one it is given", () => {
  const calls = new PendingCalls<{ readonly id: number }>();
  const all = Array.from({ length: 10_000 }, (_, index) => ({ id: index + 1 }));
  for (const call of all) calls.add(call);
  assert.deepEqual(calls.all(), all);
  for (const call of all) if (call.id % 3 !== 0) calls.remove(call);
  assert.deepEqual(calls.all(), all.filter(({ id }) => id % 3 === 0));
  for (const call of calls.all()) calls.remove(call);
  assert.equal(calls.size, 0);
  calls.add({ id: 10_001 });
  assert.equal(calls.get(10_001)?.id, 10_001);
  for (const id of ["10001", null, undefined, 1, -10_001, NaN]) assert.equal(calls.get(id), undefined);
});
