import assert from "node:assert/strict";
import { test } from "node:test";
import { readOutput } from "../../../scripts/suite/run_batch.ts";

const NODE = `✖ is red (5.7ms)
ℹ pass 3
ℹ fail 1
ℹ cancelled 1

✖ failing tests:

test at tests/a_test.ts:3:1
✖ is red (5.748026ms)
  AssertionError
test at tests/b_test.ts:2:1
✖ hangs (3016.03ms)
`;
const DENO = `is red ... FAILED (22ms)

 FAILURES 

is red => ./tests/a_test.ts:3:1

FAILED | 3 passed | 1 failed (1s)
`;
const BUN = `(fail) is red [9.26ms]
(pass) is fine [0.83ms]

 3 pass
 1 fail
 1 error
`;

test("readOutput() adds up what a runner says and names what failed", () => {
  const failures = ["test at tests/a_test.ts:3:1: is red", "test at tests/b_test.ts:2:1: hangs"];
  assert.deepEqual(readOutput("node", NODE, { code: 1 }), { passed: 3, failed: 2, failures });
  const deno = { passed: 3, failed: 1, failures: ["is red => ./tests/a_test.ts:3:1"] };
  assert.deepEqual(readOutput("deno", DENO, { code: 1 }), deno);
  assert.deepEqual(readOutput("bun", BUN, { code: 1 }), { passed: 3, failed: 2, failures: ["is red"] });
});

test("readOutput() counts a failure where a runner ended badly, or ran nothing and was not told to", () => {
  const fine = "ℹ pass 3\nℹ fail 0\nℹ cancelled 0\n";
  assert.equal(readOutput("node", fine, { code: 0 }).failed, 0);
  assert.equal(readOutput("node", fine, { code: 7 }).failed, 1);
  assert.equal(readOutput("node", fine, { code: null }).failed, 1);
  assert.equal(readOutput("node", "", { code: 0 }).failed, 1);
  assert.equal(readOutput("node", "", { code: 0, isFiltered: true }).failed, 0);
});
