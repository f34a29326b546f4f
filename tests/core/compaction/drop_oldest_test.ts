import assert from "node:assert/strict";
import { test } from "node:test";
import { type CompactionTarget, dropOldest, isWithin } from "../../../src/core/compaction/drop_oldest.ts";
import { alwaysKeepIds, toolGroups } from "../../../src/core/compaction/tool_groups.ts";
import { type IdentifiedMessage, sizeOf } from "../../../src/core/compaction/messages.ts";
import { answer, call, conversation, countChars, idsOf, isSubsequence, message } from "./conversations.ts";
import fc from "../../support/fast_check.ts";

const none: CompactionTarget = { tokens: null, messages: null };
const one = () => 1;

const dropTo = (target: Partial<CompactionTarget>, messages: IdentifiedMessage[], keepLast = 0) => {
  const keep = alwaysKeepIds(messages, keepLast);
  const { messages: left, superseded } = dropOldest(messages, {
    target: { ...none, ...target },
    keep,
    countTokens: one,
  });
  return `${idsOf(left)} | ${superseded.join(" ")}`;
};

const chat = ["s system", "u1 user", "a1 assistant", "u2 user", "a2 assistant"].map((text) => message(text));

test("dropOldest() drops the oldest messages down to a number of messages", () => {
  assert.equal(dropTo({ messages: 3 }, chat), "s u2 a2 | u1 a1");
});

test("dropOldest() drops the oldest messages down to a number of tokens, by the count it is given", () => {
  const heavy = chat.map((each) => ({ ...each, content: each.id === "u1" ? "x".repeat(100) : "x" }));
  const options = { target: { tokens: 10, messages: null }, keep: new Set<string>(), countTokens: countChars };
  assert.equal(idsOf(dropOldest(heavy, options).messages), "a1 u2 a2");
});

test("dropOldest() meets both targets when there are two", () => {
  assert.equal(dropTo({ messages: 4, tokens: 2 }, chat), "s a2 | u1 a1 u2");
  assert.equal(dropTo({ messages: 2, tokens: 4 }, chat), "s a2 | u1 a1 u2");
});

test("dropOldest() changes nothing that is within the target already, or when there is none", () => {
  assert.equal(dropTo({ messages: 5, tokens: 5 }, chat), "s u1 a1 u2 a2 | ");
  assert.equal(dropTo({}, chat), "s u1 a1 u2 a2 | ");
});

test("dropOldest() never drops what always stays, even when the target asks for it", () => {
  const pinned = chat.map((each) => each.id === "a1" ? { ...each, always_keep: true } : each);
  assert.equal(dropTo({ messages: 0 }, pinned, 1), "s a1 a2 | u1 u2");
  assert.equal(dropTo({ tokens: 0 }, [], 1), " | ");
});

test("dropOldest() drops a tool call with its results, or keeps both", () => {
  const tools = [
    message("u user"),
    call("a", "c1", "c2"),
    answer("t1", "c1"),
    answer("t2", "c2"),
    message("b assistant"),
  ];
  assert.equal(dropTo({ messages: 3 }, tools), "b | u a t1 t2");
  assert.equal(dropTo({ messages: 4 }, tools), "a t1 t2 b | u");
  assert.equal(dropTo({ messages: 0 }, tools, 2), "a t1 t2 b | u");
});

test("dropOldest() keeps a whole tool call when it is told to keep one message of it", () => {
  const tools = [call("a", "c1"), answer("t", "c1"), message("b assistant")];
  const options = { target: { ...none, messages: 0 }, keep: new Set(["t"]), countTokens: one };
  assert.equal(idsOf(dropOldest(tools, options).messages), "a t");
});

test("dropOldest() drops a result without a call like any other message", () => {
  assert.equal(dropTo({ messages: 1 }, [answer("t", "gone"), message("u user")]), "u | t");
});

test("alwaysKeepIds() names system messages, marked ones, the newest, and what their tool calls need", () => {
  const messages = [
    message("s system"),
    message("old user", { always_keep: true }),
    message("u user"),
    message("no user", { always_keep: false }),
    call("a", "c1"),
    answer("t", "c1"),
    message("b assistant"),
  ];
  assert.deepEqual([...alwaysKeepIds(messages, 2)], ["s", "old", "a", "t", "b"]);
  assert.deepEqual([...alwaysKeepIds(messages, 0)], ["s", "old"]);
  assert.equal(alwaysKeepIds(messages, 100).size, 7);
});

test("alwaysKeepIds() does not name a system message that a compaction added", () => {
  const added = message("sum system", { added_by: "smart" });
  assert.deepEqual([...alwaysKeepIds([message("s system"), added, message("u user")], 1)], ["s", "u"]);
});

const target = fc.record({
  tokens: fc.option(fc.integer({ min: 0, max: 400 })),
  messages: fc.option(fc.integer({ min: 0, max: 30 })),
});

test("dropOldest() keeps its promises for any conversation and any target", () => {
  fc.assert(
    fc.property(conversation, target, fc.nat(6), (messages, wanted, keepLast) => {
      const keep = alwaysKeepIds(messages, keepLast);
      const options = { target: wanted, keep, countTokens: countChars };
      const { messages: left, superseded } = dropOldest(messages, options);
      const leftIds = new Set(left.map(({ id }) => id));
      assert.ok(isSubsequence(left, messages));
      for (const id of keep) assert.ok(leftIds.has(id), `${id} always stays`);
      const groups = toolGroups(messages).map((group) => group.map((index) => messages[index]!.id));
      for (const group of groups) assert.equal(new Set(group.map((id) => leftIds.has(id))).size, 1, "group is whole");
      assert.deepEqual(superseded, messages.filter(({ id }) => !leftIds.has(id)).map(({ id }) => id));
      const isMinimal = left.every(({ id }) => keep.has(id));
      assert.ok(isMinimal || isWithin(sizeOf(left, countChars), wanted), "small enough, or nothing more may go");
      // Oldest first, and none too many: with the newest dropped group back, it would be too large.
      const free = groups.filter((group) => !group.some((id) => keep.has(id)));
      const dropped = free.filter(([id]) => !leftIds.has(id!));
      assert.deepEqual(dropped, free.slice(0, dropped.length));
      const back = new Set([...leftIds, ...dropped.at(-1) ?? []]);
      const larger = messages.filter(({ id }) => back.has(id));
      if (dropped.length > 0) assert.ok(!isWithin(sizeOf(larger, countChars), wanted), "no message too many");
      assert.deepEqual(dropOldest(messages, options), { messages: left, superseded });
    }),
    { numRuns: 500 },
  );
});

test("dropOldest() comes down from ten thousand messages to ten", () => {
  const many = Array.from(
    { length: 10_000 },
    (_, at) => at % 2 ? answer(`m${at}`, `c${at - 1}`) : call(`m${at}`, `c${at}`),
  );
  const { messages } = dropOldest(many, { target: { tokens: null, messages: 10 }, keep: new Set(), countTokens: one });
  assert.equal(messages.length, 10);
});
