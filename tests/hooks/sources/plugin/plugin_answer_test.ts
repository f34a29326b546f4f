import assert from "node:assert/strict";
import { test } from "node:test";
import { readPluginAnswer } from "../../../../src/hooks/sources/plugin/plugin_hooks.ts";

const COLLECTED = ["on_session_start", "pre_compact", "post_compact"];
const inject = (text: string) => ({ action: "injectContext", additionalContext: [text] });
const read = (hook: string, answer: unknown) => readPluginAnswer(hook, "memory", answer);

test("K-019 null, nothing, an empty text and an empty inject ask for nothing", () => {
  for (const hook of COLLECTED) {
    for (const answer of [null, undefined, "", {}, { inject: "" }, { inject: null }, { other: 1 }]) {
      assert.deepEqual(read(hook, answer), { response: null, retain: [], problems: [] });
    }
  }
});

test("X-04 a bare text and { inject } are the same wish at every hook that takes text", () => {
  for (const hook of [...COLLECTED, "pre_tool_use", "session_end"]) {
    assert.deepEqual(read(hook, "Known").response, inject("Known"), hook);
    assert.deepEqual(read(hook, { inject: "Known", more: true }).response, inject("Known"), hook);
  }
});

test("K-021 an observer's answer may hold texts to retain, at most a thousand", () => {
  const { retain, response, problems } = read("pre_compact", { retain: ["a", "", "b"], inject: "c" });
  assert.deepEqual([retain, response, problems], [["a", "b"], inject("c"), []]);
  const many = read("post_compact", { retain: Array(1001).fill("x") });
  assert.deepEqual([many.retain.length, many.problems], [1000, ['"retain" holds more than 1000 texts']]);
  assert.match(read("pre_compact", { role: "compactor", messages: [] }).problems[0]!, /as a compactor/);
});

test("K-021 D-009 an answer that the hookspec refuses is refused whole", () => {
  const odd = [5, true, ["a"], { inject: 5 }, { inject: ["Known"] }, { inject: { text: "Known" } }];
  for (const hook of [...COLLECTED, "pre_tool_use"]) {
    const message = new RegExp(`^"memory" answered "${hook}" wrongly: `);
    for (const answer of odd) assert.throws(() => read(hook, answer), { code: "hook.result_invalid", message });
  }
  for (const answer of [{ retain: "a" }, { retain: ["a", 5], inject: "d" }]) {
    assert.throws(() => read("pre_compact", answer), { code: "hook.result_invalid" });
  }
});

test("X-10 nothing that a plugin answers to on_session_idle is read", () => {
  for (const answer of [null, 7, "text", { inject: 7 }, { action: "block" }]) {
    assert.deepEqual(read("on_session_idle", answer), { response: null, retain: [], problems: [] });
  }
});

test("B-004 where a hook takes an event the answer is an envelope, by either name of injectContext", () => {
  const block = { action: "block", reason: "no" };
  assert.deepEqual(read("pre_tool_use", block).response, block);
  assert.deepEqual(read("pre_tool_use", { action: "inject", additionalContext: ["x"] }).response, inject("x"));
  assert.deepEqual(read("pre_tool_use", { warnings: ["x"] }).response, { action: "passThrough" });
  for (const action of ["explode", "ask"]) {
    assert.throws(() => read("pre_tool_use", { action }), { code: "hook.result_invalid" });
  }
});
