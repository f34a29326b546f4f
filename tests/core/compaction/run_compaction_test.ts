import assert from "node:assert/strict";
import { test } from "node:test";
import { runCompaction } from "../../../src/core/compaction/run_compaction.ts";
import { alwaysKeepIds } from "../../../src/core/compaction/tool_groups.ts";
import type { CompactionPorts } from "../../../src/core/compaction/types.ts";
import { compacted, delegated, memory, settings, stage, task, window } from "./compaction_stage.ts";
import { conversation, idsOf } from "./conversations.ts";
import fc from "../../support/fast_check.ts";

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
  const { ports, fired } = stage({}, {}, [memory]);
  const result = await runCompaction(task({ settings: { ...settings, target_messages: 6 }, plugins: [memory] }), ports);
  assert.deepEqual([result.by, result.messages, result.superseded], ["none", window, []]);
  assert.equal(fired.length, 2);
});

test("the caller's target goes before the agent's, and messages without ids get one", async () => {
  const { ports } = stage();
  const messages = window.map(({ id: _, ...rest }) => rest);
  const result = await runCompaction(
    task({
      messages,
      plugins: [],
      targetTokens: 64,
      settings: { ...settings, target_messages: null, target_tokens: 1 },
    }),
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

const nothing = { texts: [], retained: [], ignored: [], blocked: null };
/** {@link window}, with room for text once its first messages are gone. */
const long = window.map((one, at) => at === 1 ? { ...one, content: "x".repeat(400) } : one);

test("K-021 what observers retain and inject comes back; the injected text stands after the system messages", async () => {
  const { ports, data } = stage({
    "pre_compact memory-markdown": { retain: ["uses ESM"], inject: "first" },
    "post_compact memory-markdown": { retain: ["deploys to the edge"] },
    "post_compact smart-compactor": "second",
  });
  const result = await runCompaction(task({ messages: long }), ports);
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
  assert.deepEqual(data("compaction.completed")?.ignored, []);
});

test("text of observers counts against the target: what does not fit is left out, and the result and the audit say so", async () => {
  const { ports, data } = stage({
    "pre_compact memory-markdown": { inject: "y".repeat(200) },
    "post_compact memory-markdown": { inject: "z".repeat(500) },
    "post_compact smart-compactor": "short",
  });
  const result = await runCompaction(
    task({ messages: long, settings: { ...settings, target_messages: null, target_tokens: 380 } }),
    ports,
  );
  assert.deepEqual(result.injected.map(({ plugin, hook }) => `${hook} ${plugin}`), [
    "pre_compact memory-markdown",
    "post_compact smart-compactor",
  ]);
  assert.deepEqual(result.leftOut, [{ plugin: "memory-markdown", hook: "post_compact", bytes: 500 }]);
  assert.doesNotMatch(JSON.stringify(result.messages), /zz/);
  assert.ok(result.after.tokens <= 380);
  const { ignored, injected, target_reached } = data("compaction.completed")!;
  assert.deepEqual([injected, target_reached], [2, true]);
  assert.deepEqual(ignored.map(({ plugin, hook }) => `${hook} ${plugin}`), ["post_compact memory-markdown"]);
  assert.match(ignored[0]!.problem, /^its text of 500 bytes was left out/);
});

test("the strategies keep room for the text of observers, who hear beforehand of every message that goes", async () => {
  const { ports, params } = stage({ "post_compact memory-markdown": { inject: "a fact" } });
  const messages = [window[0]!, ...Array.from({ length: 9 }, (_, at) => ({ ...window[4]!, id: `u${at}` }))];
  const result = await runCompaction(task({ messages, settings: { ...settings, target_messages: 6 } }), ports);
  assert.deepEqual([result.after.messages, result.injected.length, result.leftOut], [6, 1, undefined]);
  const told = params["pre_compact memory-markdown"]!.messages_being_compacted.map(({ id }) => id);
  assert.deepEqual(told, result.superseded);
});

test("N-018 a window is never larger after a compaction than before, whatever observers add", async () => {
  const text = fc.string({ minLength: 1, maxLength: 300 });
  const modified = fc.option(conversation, { nil: undefined });
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(conversation, fc.nat(5), fc.option(fc.nat(400), { nil: undefined })),
      fc.record({ before: text, after: text, modified, isModifiedFirst: fc.boolean(), isBlocked: fc.boolean() }),
      fc.constantFrom("drop", "summarize", "delegate"),
      async ([messages, keep_last, targetTokens], added, by) => {
        const blocked = added.isBlocked ? { by: "gate", reason: "no" } : null;
        const { ports } = stage({ "pre_compact smart-compactor": compacted }, {
          summarize: () => Promise.resolve("sum"),
          observe: ({ hook }) => {
            const isFirst = hook === "pre_compact";
            const injection = { plugin: "memory-markdown", hook, bytes: 1, sha256: "0", cut: false };
            const texts = [{ text: isFirst ? added.before : added.after, injection }];
            const change = added.modified && added.isModifiedFirst === isFirst ? { modified: added.modified } : {};
            return Promise.resolve({ ...nothing, texts, blocked: isFirst ? blocked : null, ...change });
          },
        });
        const used = by === "delegate" ? delegated : { ...settings, strategy: by };
        const { before, after } = await runCompaction(
          task({ messages, ...(targetTokens !== undefined && { targetTokens }), settings: { ...used, keep_last } }),
          ports,
        );
        assert.ok(after.tokens <= before.tokens, `${after.tokens} tokens after ${before.tokens}`);
      },
    ),
  );
});

test("K-021 a round of observers that fails costs its texts, and the audit says so", async () => {
  const { ports, data } = stage({}, { observe: () => Promise.reject(new Error("a bug")) });
  const { by, messages, injected } = await runCompaction(task(), ports);
  assert.deepEqual([by, idsOf(messages), injected], ["drop", "s u2 a2", []]);
  assert.deepEqual(data("compaction.completed")?.ignored, [
    { plugin: "host", hook: "pre_compact", problem: "a bug" },
    { plugin: "host", hook: "post_compact", problem: "a bug" },
  ]);
});

test("N-004 B-004 a window that a handler modified before is the one that is compacted", async () => {
  const modified = Object.freeze(window.filter(({ id }) => id !== "u1"));
  const { ports } = stage({}, {
    observe: ({ hook }) => Promise.resolve(hook === "pre_compact" ? { ...nothing, modified } : nothing),
  });
  const { by, messages, superseded } = await runCompaction(task({ targetTokens: 1000 }), ports);
  assert.deepEqual([by, idsOf(messages), superseded], ["drop", "s u2 a2", ["u1", "a1", "t1"]]);
  const roomy = await runCompaction(task({ settings: { ...settings, target_messages: 6 } }), ports);
  assert.deepEqual([roomy.by, idsOf(roomy.messages), roomy.superseded], ["none", "s a1 t1 u2 a2", ["u1"]]);
});

test("N-004 B-004 a window that a handler modified afterwards is the one the caller gets", async () => {
  const { ports } = stage({}, {
    observe: ({ hook, window: left }) => {
      const modified = [...left, { role: "user", content: "Mind the branch" }];
      return Promise.resolve(hook === "post_compact" ? { ...nothing, modified } : nothing);
    },
  });
  const { messages, superseded } = await runCompaction(task(), ports);
  assert.deepEqual([idsOf(messages), superseded], ["s u2 a2 msg_1", ["u1", "a1", "t1"]]);
});

test("B-010 a modified window that is none is left out, and the audit says so", async () => {
  for (const modified of [null, "text", [], [{ content: "no role" }], [window[0], window[0]]]) {
    const { ports, data } = stage({}, { observe: () => Promise.resolve({ ...nothing, modified }) });
    assert.equal(idsOf((await runCompaction(task(), ports)).messages), "s u2 a2");
    assert.equal(data("compaction.completed")?.ignored.length, 2);
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
