import assert from "node:assert/strict";
import { test } from "node:test";
import type { Source } from "../scripts/pictures/rooms.ts";
import { sourcesIn } from "./support/sources.ts";
import { until, untilSettled } from "./support/until.ts";

/** Returns the lines of the suite that break a rule, as `file:line: text`. */
async function linesWith(
  rule: RegExp | ((line: string) => boolean),
  except: readonly string[] = [],
): Promise<string[]> {
  const breaks = rule instanceof RegExp ? (line: string): boolean => rule.test(line) : rule;
  const sources: Source[] = await sourcesIn("tests");
  assert.ok(sources.length > 300);
  return sources.filter(({ path }) => path !== "tests/test_habits_test.ts" && !except.includes(path)).flatMap(
    ({ path, text }) =>
      text.split("\n").flatMap((line, at) => breaks(line) ? [`${path}:${at + 1}: ${line.trim()}`] : []),
  );
}

/** Whether a line is a loop without a body: `while (is());`. */
function isEmptyLoop(line: string): boolean {
  const [, rest] = /^\s*while (\(.*)$/.exec(line) ?? [];
  let depth = 0;
  const end = [...rest ?? ""].findIndex((char) => (depth += char === "(" ? 1 : char === ")" ? -1 : 0) === 0);
  return rest?.slice(end + 1) === ";";
}

test("no test is focused: one alone would run in the place of all", async () => {
  assert.deepEqual(await linesWith(/\bonly\(|\bonly: true\b/), []);
});

test("no test takes chance from anywhere but the seed of the run", async () => {
  assert.deepEqual(await linesWith(/Math\.random|getRandomValues|randomBytes|randomInt\b|seed.*Date\.now/), []);
  assert.deepEqual(await linesWith(/from "fast-check"/, ["tests/support/fast_check.ts"]), []);
});

test("no test sleeps", async () => {
  const except = [
    "tests/support/until.ts", // The one wait for other processes, which says what it waits for.
    "tests/docs/support/child.ts", // Ends a guide's program that hangs, with its output so far.
    "tests/http/fuzz_test.ts", // Gives up on a request that hangs, with the request.
    "tests/packages/installed/fixtures/holds_lock.ts", // A program that is killed while it waits.
    "tests/sdk/process_test.ts", // A plugin that fails later.
  ];
  assert.deepEqual(await linesWith(/\bsetTimeout\(|timers\/promises|Atomics\.wait\(/, except), []);
});

test("no test waits in a loop of its own: until() says what is missing when it does not come", async () => {
  const step = String.raw`(?:moment\(|turn\(|Promise\.resolve\(|new Promise)`;
  assert.deepEqual(await linesWith(new RegExp(`while \\(.*\\) await ${step}|for \\(.*;.*; await `)), []);
  assert.deepEqual(await linesWith(isEmptyLoop), []);
});

test("until() returns what it found, and fails with what is missing when it does not come", async () => {
  let looks = 0;
  assert.equal(await until(() => ++looks === 3 && "found", "the third look", "turn"), "found");
  await assert.rejects(until(() => false, () => `a word; there were ${looks}`, "turn", 3), {
    message: "Waited in vain: a word; there were 3",
  });
  await assert.rejects(until(() => looks > 3, undefined, "moment", 3), { message: /^Waited in vain: .*looks > 3$/ });
});

test("untilSettled() settles as its promise does, and moves the clock meanwhile", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  let moves = 0;
  const meanwhile = (): void => void (++moves === 2 && resolve("so"));
  assert.equal(await untilSettled(promise, "it", { step: "turn", meanwhile }), "so");
  await assert.rejects(untilSettled(Promise.reject(new Error("no")), "it"), { message: "no" });
});

test("no test measures time: a slow machine is not a wrong one", async () => {
  const except = ["tests/docs/support/hold_guides.ts"]; // It prints which guides are slow, and asserts nothing.
  assert.deepEqual(await linesWith(/performance\.now\(|process\.hrtime/, except), []);
});
