import assert from "node:assert/strict";
import { test } from "node:test";
import { keepTidy } from "../../src/jobs/create_jobs.ts";
import { createFakeClock } from "../support/fake_clock.ts";

const limits = { maxAgeMs: 1000, maxFinished: 10 };

test("T-010 old jobs are removed in batches; a failure is reported, and the removal tried again in an hour", async () => {
  const clock = createFakeClock();
  const answers: (number | Error)[] = [500, 500, 7, new Error("away"), 0];
  const problems: unknown[] = [];
  const forget = () => {
    const answer = answers.shift();
    return typeof answer === "number" ? Promise.resolve(answer) : Promise.reject(answer);
  };
  const stop = keepTidy({ ...limits, queue: { forget }, clock, onProblem: (error) => problems.push(error) });
  const hour = async () => {
    await new Promise(setImmediate);
    clock.advance(3600_000);
    await new Promise(setImmediate);
  };
  await hour();
  assert.deepEqual([answers.length, problems.length], [1, 1]);
  await hour();
  assert.deepEqual([answers.length, problems.length], [0, 1]);
  await stop();
  assert.equal(clock.waiting, 0);
});

test("T-010 the end waits for the batch that is under way, and asks for no other", async () => {
  const clock = createFakeClock();
  let answer = (_count: number): void => {};
  let asked = 0;
  const forget = () =>
    new Promise<number>((resolve) => {
      asked++;
      answer = resolve;
    });
  const stop = keepTidy({ ...limits, queue: { forget }, clock, onProblem: (error) => assert.fail(String(error)) });
  const stopping = stop();
  answer(500);
  await stopping;
  assert.deepEqual([asked, clock.waiting], [1, 0]);
});
