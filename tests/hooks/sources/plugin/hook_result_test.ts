import assert from "node:assert/strict";
import { test } from "node:test";
import { readInjectResult } from "../../../../src/hooks/sources/plugin/hook_result.ts";

test("K-019 null, nothing, an empty text and an empty inject ask for nothing", () => {
  for (const result of [null, undefined, "", {}, { inject: "" }, { inject: null }, { other: 1 }]) {
    assert.equal(readInjectResult(result), null);
  }
});

test("X-04 a bare text and { inject } are the same wish", () => {
  assert.equal(readInjectResult("Known"), "Known");
  assert.equal(readInjectResult({ inject: "Known", more: true }), "Known");
});

test("any other result is refused by name of what it is", () => {
  const cases: [unknown, RegExp][] = [
    [7, /a number/],
    [true, /a boolean/],
    [["Known"], /a list/],
    [{ inject: 7 }, /"inject" is a number/],
    [{ inject: ["Known"] }, /"inject" is a list/],
    [{ inject: { text: "Known" } }, /"inject" is an object/],
  ];
  for (const [result, message] of cases) {
    assert.throws(() => readInjectResult(result), { code: "hook.result_invalid", message });
  }
});
