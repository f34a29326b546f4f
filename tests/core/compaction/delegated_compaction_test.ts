import assert from "node:assert/strict";
import { test } from "node:test";
import { runCompaction } from "../../../src/core/compaction/run_compaction.ts";
import type { IdentifiedMessage } from "../../../src/core/compaction/messages.ts";
import { alwaysKeepIds } from "../../../src/core/compaction/tool_groups.ts";
import { compacted, delegated, memory, smart, stage, task, window } from "./compaction_stage.ts";
import { idsOf } from "./conversations.ts";

test("K-027 the delegated compactor's window replaces the strategy; it is asked once, after the observers", async () => {
  const { ports, fired, params, types, data } = stage({ "pre_compact smart-compactor": compacted }, {}, [
    smart,
    memory,
  ]);
  const result = await runCompaction(task({ settings: delegated, plugins: [smart, memory] }), ports);
  assert.deepEqual(fired, [
    "pre_compact memory-markdown observer",
    "pre_compact smart-compactor compactor",
    "post_compact smart-compactor observer",
    "post_compact memory-markdown observer",
  ]);
  assert.deepEqual([result.by, idsOf(result.messages), result.summary], ["compactor", "s u2 a2", "Three"]);
  assert.deepEqual(result.superseded, ["u1", "a1", "t1"]);
  assert.equal("fallback" in result, false);
  assert.equal(params["post_compact memory-markdown"]?.strategy, "compactor");
  assert.deepEqual(types(), ["compaction.triggered", "compaction.completed"]);
  assert.equal(data("compaction.completed")?.summary, "Three");
});

test("K-027 a compactor is offered everything that need not stay, whatever the target", async () => {
  const { ports, params } = stage({ "pre_compact smart-compactor": compacted });
  const result = await runCompaction(task({ settings: { ...delegated, target_messages: 6 } }), ports);
  assert.deepEqual(params["pre_compact smart-compactor"]?.messages_being_compacted, window.slice(1, 4));
  assert.deepEqual(params["pre_compact smart-compactor"]?.messages_remaining, [window[0], ...window.slice(4)]);
  assert.equal(result.by, "compactor");
});

test("K-027 a compactor that rightly leaves everything as it is has not failed", async () => {
  const unchanged = { role: "compactor", messages: window, superseded: [] };
  const { ports, types } = stage({ "pre_compact smart-compactor": unchanged });
  const result = await runCompaction(task({ settings: { ...delegated, keep_last: 6 } }), ports);
  assert.deepEqual([result.by, result.messages, result.fallback], ["none", window, undefined]);
  assert.deepEqual(types(), ["compaction.triggered", "compaction.completed"]);
});

test("K-028 the fallback is drop even where the target asks for nothing to go", async () => {
  const { ports } = stage();
  const result = await runCompaction(task({ settings: { ...delegated, target_messages: 6 } }), ports);
  assert.deepEqual([result.by, result.superseded, result.fallback?.reason], ["drop", [], "no_result"]);
});

test("K-027 what a compactor adds gets an id and its name, and does not stay for ever", async () => {
  const note = { role: "system", content: "sum" };
  const answer = { ...compacted, messages: [window[0], note, ...window.slice(4)] };
  const { ports } = stage({ "pre_compact smart-compactor": answer });
  const { messages } = await runCompaction(task({ settings: delegated }), ports);
  assert.deepEqual(messages[1], { ...note, id: "msg_1", added_by: "smart-compactor" });
  assert.equal(alwaysKeepIds(messages as IdentifiedMessage[], 0).has("msg_1"), false);
});

test("K-028 a compactor that drops what always stays: audited by name, then the oldest are dropped", async () => {
  const answer = { ...compacted, messages: window.slice(4), superseded: ["u1", "a1", "t1"] };
  const { ports, types, data } = stage({ "pre_compact smart-compactor": answer });
  const result = await runCompaction(task({ settings: delegated }), ports);
  assert.deepEqual(types(), [
    "compaction.triggered",
    "compactor_dropped_always_keep",
    "compaction.failed",
    "compaction.completed",
  ]);
  assert.deepEqual(data("compactor_dropped_always_keep"), { plugin: "smart-compactor", message_ids: ["s"], total: 1 });
  assert.deepEqual(data("compaction.failed"), {
    by: "compactor",
    plugin: "smart-compactor",
    reason: "compactor_dropped_always_keep",
    detail: 'A message that always stays is missing: "s"',
  });
  assert.equal(data("compaction.completed")?.fallback, "compactor_dropped_always_keep");
  assert.deepEqual([result.by, idsOf(result.messages)], ["drop", "s u2 a2"]);
  assert.equal(result.fallback?.reason, "compactor_dropped_always_keep");
});

const failures: [string, unknown, string][] = [
  ["times out", { ok: false, reason: "timeout", detail: "No answer in 10000 ms" }, "timeout"],
  ["answers with an error", { ok: false, reason: "failed", detail: "broken" }, "failed"],
  ["is not running", { ok: false, reason: "unavailable", detail: "[BLOCKED]" }, "unavailable"],
  ["cannot be sent so much", { ok: false, reason: "oversize", detail: "5 MiB" }, "oversize"],
  ["makes the port throw", new Error("a bug"), "failed"],
  ["returns nothing", null, "no_result"],
  ["answers as an observer", { retain: ["x"] }, "wrong_role"],
  ["returns half of it wrong", { ...compacted, superseded: ["u1"] }, "vanished_message"],
];

for (const [fault, answer, reason] of failures) {
  test(`K-028 a compactor that ${fault}: compaction.failed, then the oldest are dropped, then compaction.completed`, async () => {
    const { ports, types, fired } = stage({ "pre_compact smart-compactor": answer });
    const result = await runCompaction(task({ settings: delegated }), ports);
    assert.deepEqual(types(), ["compaction.triggered", "compaction.failed", "compaction.completed"]);
    assert.deepEqual([result.by, idsOf(result.messages), result.fallback?.reason], ["drop", "s u2 a2", reason]);
    assert.equal(fired.length, reason === "timeout" ? 3 : 4);
  });
}

test("K-024 K-028 a compactor that lets its time pass is not asked again afterwards: it costs one timeout", async () => {
  const answer = { ok: false, reason: "timeout", detail: "No answer in 10000 ms" };
  const { ports, fired } = stage({ "pre_compact smart-compactor": answer });
  await runCompaction(task({ settings: delegated }), ports);
  assert.deepEqual(fired, [
    "pre_compact memory-markdown observer",
    "pre_compact smart-compactor compactor",
    "post_compact memory-markdown observer",
  ]);
});

test("K-028 a delegate with a fault is never asked as a compactor: a failure with that fault, then drop", async () => {
  const { ports, fired, types, data } = stage({ "pre_compact smart-compactor": compacted });
  const delegateFault = 'Plugin "smart" is no compactor';
  const result = await runCompaction(task({ settings: { ...delegated, strategy: "summarize" }, delegateFault }), ports);
  assert.deepEqual(types(), ["compaction.triggered", "compaction.failed", "compaction.completed"]);
  assert.deepEqual(data("compaction.failed"), {
    by: "compactor",
    plugin: "smart",
    reason: "compactor_unavailable",
    detail: delegateFault,
  });
  assert.equal(data("compaction.triggered")?.delegate, "smart");
  assert.deepEqual([result.by, result.fallback?.detail], ["drop", delegateFault]);
  assert.deepEqual(fired.slice(0, 2), ["pre_compact memory-markdown observer", "pre_compact smart-compactor observer"]);
});

test("K-028 what a failing compactor says is cut before it is kept", async () => {
  const answer = { ok: false, reason: "failed", detail: "x".repeat(1_000_000) };
  const { ports, data } = stage({ "pre_compact smart-compactor": answer });
  const result = await runCompaction(task({ settings: delegated }), ports);
  assert.equal(data("compaction.failed")?.detail.length, 501);
  assert.equal(result.fallback?.detail.length, 501);
});

test("K-028 a delegate that is not there, or does not take the hook, is a failure like any other", async () => {
  for (const plugins of [[memory], [{ ...smart, hooks: ["post_compact"] }]]) {
    const { ports, types, data } = stage();
    const result = await runCompaction(task({ settings: delegated, plugins }), ports);
    assert.deepEqual(types(), ["compaction.triggered", "compaction.failed", "compaction.completed"]);
    assert.equal(data("compaction.failed")?.plugin, "smart");
    assert.deepEqual([result.by, result.fallback?.reason], ["drop", "compactor_unavailable"]);
  }
});

test("K-026 a compactor nobody delegated to is asked as an observer, and its window is not used", async () => {
  const { ports, fired, data } = stage({ "pre_compact smart-compactor": compacted }, {}, [smart]);
  const result = await runCompaction(task({ plugins: [smart] }), ports);
  assert.equal(fired[0], "pre_compact smart-compactor observer");
  assert.equal(result.by, "drop");
  assert.match(data("compaction.completed")!.ignored[0]!.problem, /as a compactor/);
});
