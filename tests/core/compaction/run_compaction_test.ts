import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { alwaysKeepIds } from "../../../src/core/compaction/always_keep.ts";
import { runCompaction } from "../../../src/core/compaction/run_compaction.ts";
import type {
  CompactionAudit,
  CompactionHookOutcome,
  CompactionHookParams,
  CompactionPorts,
  CompactionTask,
} from "../../../src/core/compaction/types.ts";
import type { IdentifiedMessage } from "../../../src/core/messages.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { answer, call, conversation, countChars, idsOf, message } from "./conversations.ts";

const window: IdentifiedMessage[] = [
  message("s system"),
  message("u1 user"),
  call("a1", "c1"),
  answer("t1", "c1"),
  message("u2 user"),
  message("a2 assistant"),
];
const settings = { strategy: "drop", delegate: null, target_tokens: null, target_messages: 4, keep_last: 2 } as const;
const delegated = { ...settings, delegate: "smart" };
const both = ["pre_compact", "post_compact"];
const smart = { key: "smart", plugin: "smart-compactor", hooks: both };
const memory = { key: "memory", plugin: "memory-markdown", hooks: both };
const compacted = {
  role: "compactor",
  messages: [window[0], ...window.slice(4)],
  superseded: ["u1", "a1", "t1"],
  summary: "Three",
};

type Answers = Record<string, unknown>;

/** Ports whose plugins answer by `"<hook> <plugin>"`; an answer that is an Error is thrown. */
function stage(answers: Answers = {}, changes: Partial<CompactionPorts> = {}) {
  const fired: string[] = [];
  const params: Record<string, CompactionHookParams> = {};
  const audited: [string, unknown][] = [];
  let lastId = 0;
  const ports: CompactionPorts = {
    fire(hook, given, { plugin }): Promise<CompactionHookOutcome> {
      fired.push(`${hook} ${plugin} ${given.role}`);
      params[`${hook} ${plugin}`] = given;
      const answer = answers[`${hook} ${plugin}`] ?? null;
      if (answer instanceof Error) throw answer;
      const isOutcome = typeof answer === "object" && answer !== null && "ok" in answer;
      return Promise.resolve(isOutcome ? answer as CompactionHookOutcome : { ok: true, result: answer });
    },
    inject: (plugin, hook, text) =>
      Promise.resolve({
        text: `<plugin:${plugin}>${text}</plugin:${plugin}>`,
        injection: { plugin, hook, bytes: text.length, sha256: "0", cut: false },
      }),
    audit: (type, data) => void audited.push([type, data]),
    countTokens: countChars,
    ids: { create: (prefix) => `${prefix}_${++lastId}` },
    clock: createFakeClock(),
    ...changes,
  };
  const types = () => audited.map(([type]) => type);
  const data = <T extends keyof CompactionAudit>(type: T) =>
    audited.find((event) => event[0] === type)?.[1] as CompactionAudit[T] | undefined;
  return { ports, fired, params, types, data };
}

const task = (changes: Partial<CompactionTask> = {}): CompactionTask => ({
  messages: window,
  trigger: "threshold_crossed",
  settings,
  plugins: [memory, smart],
  ...changes,
});

test("K-021 observers hear before and after, in the order they are declared, with the documented params", async () => {
  const { ports, fired, params } = stage();
  await runCompaction(task(), ports);
  assert.deepEqual(fired, [
    "pre_compact memory-markdown observer",
    "pre_compact smart-compactor observer",
    "post_compact memory-markdown observer",
    "post_compact smart-compactor observer",
  ]);
  assert.deepEqual(params["pre_compact memory-markdown"], {
    role: "observer",
    messages_being_compacted: window.slice(1, 4),
    messages_remaining: [window[0], ...window.slice(4)],
    strategy: "drop",
    trigger: "threshold_crossed",
  });
  assert.deepEqual(params["post_compact memory-markdown"], params["pre_compact memory-markdown"]);
});

test("K-021 a plugin hears only the hooks that are on for its agent", async () => {
  const { ports, fired } = stage();
  const plugins = [{ ...memory, hooks: ["post_compact"] }, { ...smart, hooks: ["on_session_start"] }];
  await runCompaction(task({ plugins }), ports);
  assert.deepEqual(fired, ["post_compact memory-markdown observer"]);
});

test("drop comes down to the target and says what is gone, how large it was and is", async () => {
  const { ports, types, data } = stage();
  const result = await runCompaction(task({ plugins: [] }), ports);
  assert.deepEqual(result, {
    messages: [window[0], window[4], window[5]],
    superseded: ["u1", "a1", "t1"],
    by: "drop",
    retained: [],
    injected: [],
    before: { messages: 6, tokens: 77 },
    after: { messages: 3, tokens: 38 },
  });
  assert.deepEqual(types(), ["compaction.triggered", "compaction.completed"]);
  assert.deepEqual(data("compaction.triggered"), {
    trigger: "threshold_crossed",
    strategy: "drop",
    delegate: null,
    before: result.before,
    target_tokens: null,
    target_messages: 4,
    being_compacted: 3,
  });
  assert.deepEqual(data("compaction.completed"), {
    by: "drop",
    before: result.before,
    after: result.after,
    superseded: 3,
    summary: null,
    retained: 0,
    injected: 0,
    ignored: [],
    target_reached: true,
    fallback: null,
  });
});

test("a window within its target is returned as it is, by nobody, and observers hear of it", async () => {
  const { ports, fired } = stage();
  const result = await runCompaction(task({ settings: { ...settings, target_messages: 6 }, plugins: [memory] }), ports);
  assert.deepEqual([result.by, result.messages, result.superseded], ["none", window, []]);
  assert.equal(fired.length, 2);
});

test("the caller's target goes before the agent's, and messages without ids get one", async () => {
  const { ports } = stage();
  const messages = window.map(({ id: _, ...rest }) => rest);
  const result = await runCompaction(
    task({ messages, targetTokens: 64, settings: { ...settings, target_messages: null, target_tokens: 1 } }),
    ports,
  );
  assert.equal(idsOf(result.messages), "msg_1 msg_3 msg_4 msg_5 msg_6");
  assert.deepEqual(result.superseded, ["msg_2"]);
});

test("a target nobody can make sense of is the caller's error", async () => {
  for (const targetTokens of [-1, NaN]) {
    await assert.rejects(runCompaction(task({ targetTokens }), stage().ports), { code: "host.misuse" });
  }
  await assert.rejects(runCompaction(task({ messages: [window[0]!, window[0]!] }), stage().ports), {
    code: "host.misuse",
  });
});

test("K-027 the delegated compactor's window replaces the strategy; it is asked once, after the observers", async () => {
  const { ports, fired, params, types, data } = stage({ "pre_compact smart-compactor": compacted });
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
    assert.equal(fired.length, 4);
  });
}

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
  const { ports, fired, data } = stage({ "pre_compact smart-compactor": compacted });
  const result = await runCompaction(task({ plugins: [smart] }), ports);
  assert.equal(fired[0], "pre_compact smart-compactor observer");
  assert.equal(result.by, "drop");
  assert.match(data("compaction.completed")!.ignored[0]!.problem, /as a compactor/);
});

test("K-021 what observers retain and inject comes back; the injected text stands after the system messages", async () => {
  const { ports, data } = stage({
    "pre_compact memory-markdown": { retain: ["uses ESM"], inject: "first" },
    "post_compact memory-markdown": { retain: ["deploys to the edge", 5] },
    "post_compact smart-compactor": "second",
  });
  const result = await runCompaction(task(), ports);
  assert.deepEqual(result.retained, [
    { plugin: "memory-markdown", text: "uses ESM" },
    { plugin: "memory-markdown", text: "deploys to the edge" },
  ]);
  assert.deepEqual(result.injected.map(({ plugin, hook }) => `${hook} ${plugin}`), [
    "pre_compact memory-markdown",
    "post_compact smart-compactor",
  ]);
  assert.deepEqual(result.messages[1], {
    id: "msg_1",
    role: "user",
    content:
      "<plugin:memory-markdown>first</plugin:memory-markdown>\n\n<plugin:smart-compactor>second</plugin:smart-compactor>",
    added_by: "memory-markdown, smart-compactor",
  });
  assert.equal(idsOf(result.messages), "s msg_1 u2 a2");
  assert.equal(result.after.messages, 4);
  assert.deepEqual(data("compaction.completed")?.ignored, [
    { plugin: "memory-markdown", hook: "post_compact", problem: '"retain" holds what is not a text' },
  ]);
});

test("K-021 an observer that fails, answers nonsense or injects what nobody wants costs nothing but itself", async () => {
  const answers = {
    "pre_compact memory-markdown": new Error("a bug"),
    "pre_compact smart-compactor": 5,
    "post_compact memory-markdown": { inject: "too much" },
    "post_compact smart-compactor": { ok: false, reason: "timeout", detail: "late" },
  };
  for (const inject of [() => Promise.resolve(null), () => Promise.reject(new Error("a bug"))]) {
    const { ports } = stage(answers, { inject });
    const result = await runCompaction(task(), ports);
    assert.deepEqual([result.by, idsOf(result.messages), result.injected], ["drop", "s u2 a2", []]);
  }
});

test("summarize puts the summary where the first message was and keeps the rest", async () => {
  const seen: string[] = [];
  const summarize: NonNullable<CompactionPorts["summarize"]> = (messages) => {
    seen.push(idsOf(messages));
    return Promise.resolve("They met.");
  };
  const long = window.map((each) => each.role === "user" ? { ...each, content: "x".repeat(90) } : each);
  const { ports, params, types } = stage({}, { summarize });
  const result = await runCompaction(task({ messages: long, settings: { ...settings, strategy: "summarize" } }), ports);
  assert.deepEqual(seen, ["u1 a1 t1"]);
  assert.deepEqual(result.messages[1], {
    id: "msg_1",
    role: "user",
    content: "Summary of 3 earlier messages:\n\nThey met.",
    added_by: "summarize",
  });
  assert.deepEqual([result.by, idsOf(result.messages), result.summary], ["summarize", "s msg_1 u2 a2", "They met."]);
  assert.deepEqual(result.superseded, ["u1", "a1", "t1"]);
  assert.deepEqual(params["post_compact memory-markdown"]?.strategy, "summarize");
  assert.deepEqual(params["post_compact memory-markdown"]?.messages_being_compacted, long.slice(1, 4));
  assert.deepEqual(types(), ["compaction.triggered", "compaction.completed"]);
});

test("summarize that fails, or makes it no smaller, falls back to drop with the same chain", async () => {
  const summaries: [CompactionPorts["summarize"], string][] = [
    [undefined, "summarize_missing"],
    [() => Promise.reject(new Error("no model")), "summarize_failed"],
    [() => Promise.resolve("x".repeat(500)), "not_smaller"],
  ];
  for (const [summarize, reason] of summaries) {
    const { ports, types, data } = stage({}, summarize ? { summarize } : {});
    const result = await runCompaction(task({ settings: { ...settings, strategy: "summarize" } }), ports);
    assert.deepEqual([result.by, idsOf(result.messages), result.fallback?.reason], ["drop", "s u2 a2", reason]);
    assert.deepEqual(types(), ["compaction.triggered", "compaction.failed", "compaction.completed"]);
    assert.equal(data("compaction.failed")?.by, "summarize");
  }
});

test("a long summary comes back whole and is cut in the audit", async () => {
  const long = window.map((each) => ({ ...each, content: "x".repeat(5000) }));
  const { ports, data } = stage({}, { summarize: () => Promise.resolve("y".repeat(6000)) });
  const result = await runCompaction(task({ messages: long, settings: { ...settings, strategy: "summarize" } }), ports);
  assert.equal(result.summary?.length, 6000);
  assert.equal(data("compaction.completed")?.summary?.length, 4001);
});

test("summarize is not asked when there is nothing to summarize", async () => {
  const { ports } = stage({}, { summarize: () => assert.fail("asked") });
  const idle = { ...settings, strategy: "summarize", target_messages: 6 } as const;
  assert.equal((await runCompaction(task({ settings: idle }), ports)).by, "none");
});

test("a listener of the audit that throws changes nothing", async () => {
  const { ports } = stage({}, {
    audit: () => {
      throw new Error("disk full");
    },
  });
  assert.equal((await runCompaction(task(), ports)).by, "drop");
});

test("the audit says when more had to stay than the target allows", async () => {
  const { ports, data } = stage();
  await runCompaction(task({ targetTokens: 0 }), ports);
  assert.equal(data("compaction.completed")?.target_reached, false);
});

test("runCompaction() gives a usable window whatever plugins and embedder return", async () => {
  const anything = fc.oneof(
    fc.jsonValue(),
    fc.record({ role: fc.constant("compactor"), messages: fc.jsonValue(), superseded: fc.jsonValue() }),
    fc.record({ retain: fc.jsonValue(), inject: fc.jsonValue() }),
    fc.constant(new Error("thrown")),
    fc.constant({ ok: false, reason: "timeout", detail: "late" }),
  );
  await fc.assert(
    fc.asyncProperty(conversation, anything, anything, fc.nat(5), async (messages, first, second, keepLast) => {
      const { ports, types } = stage({ "pre_compact smart-compactor": first, "post_compact memory-markdown": second });
      const used = { ...delegated, keep_last: keepLast };
      const result = await runCompaction(task({ messages, settings: used }), ports);
      const left = new Set(result.messages.map(({ id }) => id));
      for (const id of alwaysKeepIds(messages, keepLast)) assert.ok(left.has(id));
      assert.deepEqual(messages.filter(({ id }) => !left.has(id)).map(({ id }) => id), result.superseded);
      assert.equal(types().at(-1), "compaction.completed");
      assert.equal(types().includes("compaction.failed"), result.fallback !== undefined);
    }),
  );
});
