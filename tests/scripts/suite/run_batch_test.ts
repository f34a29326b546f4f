import assert from "node:assert/strict";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { type BatchRun, readOutput, runBatch } from "../../../scripts/suite/run_batch.ts";
import { runtimeName } from "../../support/require_or_skip.ts";
import { scratchDir } from "../../support/scratch_dir.ts";

const NODE = `✖ is red (5.7ms)
ℹ pass 3
ℹ fail 1
ℹ cancelled 1
ℹ skipped 2

✖ failing tests:

test at tests/a_test.ts:3:1
✖ is red (5.748026ms)
  AssertionError
test at tests/b_test.ts:2:1
✖ hangs (3016.03ms)
`;
const DENO = `lacks a cage ... ok (1ms)
is never run ... ignored (0ms)
is red ... FAILED (22ms)

 FAILURES 

is red => ./tests/a_test.ts:3:1

FAILED | 4 passed | 1 failed | 1 ignored (1s)
`;
const BUN = `(fail) is red [9.26ms]
(pass) is fine [0.83ms]

 3 pass
 2 skip
 1 fail
 1 error
`;

test("readOutput() adds up what a runner counts, with tests that skipped themselves, and names what failed", () => {
  const failures = ["test at tests/a_test.ts:3:1: is red", "test at tests/b_test.ts:2:1: hangs"];
  assert.deepEqual(readOutput("node", NODE, { code: 1 }), { passed: 3, failed: 2, skipped: 2, failures, lacks: [] });
  const lacks = [
    { test: "lacks a cage", what: "bubblewrap", how: "install it", isPart: false },
    { test: "lacks jq", what: "jq", how: "install it", isPart: true },
  ];
  const deno = { passed: 3, failed: 1, skipped: 2, failures: ["is red => ./tests/a_test.ts:3:1"], lacks };
  assert.deepEqual(readOutput("deno", DENO, { code: 1, lacks }), deno);
  assert.deepEqual(readOutput("bun", BUN, { code: 1 }), {
    passed: 3,
    failed: 2,
    skipped: 2,
    failures: ["is red"],
    lacks: [],
  });
});

test("readOutput() counts a failure where a runner ended badly, or ran nothing and was not told to", () => {
  const fine = "ℹ pass 3\nℹ fail 0\nℹ cancelled 0\n";
  assert.equal(readOutput("node", fine, { code: 0 }).failed, 0);
  assert.equal(readOutput("node", fine, { code: 7 }).failed, 1);
  assert.equal(readOutput("node", fine, { code: null }).failed, 1);
  assert.equal(readOutput("node", "", { code: 0 }).failed, 1);
  assert.equal(readOutput("node", "ℹ pass 0\nℹ fail 0\nℹ skipped 3\n", { code: 0 }).failed, 0);
  assert.equal(readOutput("node", "", { code: 0, isFiltered: true }).failed, 0);
});

/** Runs the fixture on this runtime, with skipping allowed or not. */
async function runLacking(t: TestContext, forbidSkip: "0" | "1"): Promise<BatchRun> {
  const before = process.env.KAGED_FORBID_SKIP;
  process.env.KAGED_FORBID_SKIP = forbidSkip;
  try {
    const files = ["./tests/scripts/suite/fixtures/lacking.ts"];
    return await runBatch({ runtime: runtimeName, files, cost: 1 }, { scratch: await scratchDir(t) });
  } finally {
    if (before === undefined) delete process.env.KAGED_FORBID_SKIP;
    else process.env.KAGED_FORBID_SKIP = before;
  }
}

test("requireOrSkip() is a skip to this runtime's runner, not a pass; a test with a part missing is a pass", async (t) => {
  const { passed, failed, skipped, lacks, output } = await runLacking(t, "0");
  assert.deepEqual({ passed, failed, skipped }, { passed: 2, failed: 0, skipped: 1 }, output);
  assert.deepEqual(lacks, [
    { test: "lacks all it needs", what: "a moon", how: "wait", isPart: false },
    { test: "lacks a part of what it needs", what: "a star", how: "wait", isPart: true },
  ]);
});

test("where skipping is forbidden, a test that lacks something fails, and so does one that lacks a part", async (t) => {
  const { passed, failed, skipped, lacks } = await runLacking(t, "1");
  assert.deepEqual({ passed, failed, skipped, lacks }, { passed: 1, failed: 2, skipped: 0, lacks: [] });
});
