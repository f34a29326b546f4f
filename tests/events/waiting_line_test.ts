import assert from "node:assert/strict";
import { test } from "node:test";
import { WaitingLine } from "../../src/events/waiting_line.ts";

test("T-004 a line gives what it was given, in order", () => {
  const line = new WaitingLine<number>();
  const taken: number[] = [];
  for (let at = 0; at < 10_000; at++) {
    line.push(at);
    if (at % 3 > 0) taken.push(line.take());
  }
  while (line.length > 0) taken.push(line.take());
  assert.deepEqual(taken, Array.from({ length: 10_000 }, (_, at) => at));
  assert.equal(line.length, 0);
});

test("T-004 a line that is never empty still gives what it was given, in order, and holds those who wait", () => {
  const line = new WaitingLine<number>();
  for (let at = 0; at < 1000; at++) line.push(at);
  for (let at = 0; at < 100_000; at++) {
    line.push(at + 1000);
    assert.equal(line.take(), at);
    assert.equal(line.length, 1000);
  }
});
