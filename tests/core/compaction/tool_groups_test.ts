import assert from "node:assert/strict";
import { test } from "node:test";
import { insertMessage, isToolTraffic, toolGroups } from "../../../src/core/compaction/tool_groups.ts";
import type { Message } from "../../../src/core/compaction/messages.ts";
import { answer, call, conversation, idsOf, message } from "./conversations.ts";
import fc from "../../support/fast_check.ts";

const groupsOf = (...messages: Message[]) => toolGroups(messages);

test("toolGroups() leaves messages without tools alone", () => {
  assert.deepEqual(groupsOf(), []);
  assert.deepEqual(groupsOf(message("s system"), message("u user"), message("a assistant")), [[0], [1], [2]]);
});

test("toolGroups() joins a call and its result", () => {
  assert.deepEqual(groupsOf(message("u user"), call("a", "c1"), answer("t", "c1"), message("b assistant")), [
    [0],
    [1, 2],
    [3],
  ]);
});

test("toolGroups() joins parallel calls with all their results, wherever these stand", () => {
  const messages = [call("a", "c1", "c2"), answer("t2", "c2"), message("u user"), answer("t1", "c1")];
  assert.deepEqual(groupsOf(...messages), [[0, 1, 3], [2]]);
});

test("toolGroups() keeps one call after the other apart", () => {
  assert.deepEqual(groupsOf(call("a", "c1"), answer("t1", "c1"), call("b", "c2"), answer("t2", "c2")), [[0, 1], [
    2,
    3,
  ]]);
});

test("toolGroups() gives a result to the nearest call before it when an id is used again", () => {
  assert.deepEqual(groupsOf(call("a", "c"), answer("t1", "c"), call("b", "c"), answer("t2", "c")), [[0, 1], [2, 3]]);
});

test("toolGroups() leaves a result alone that no call before it asked for", () => {
  assert.deepEqual(groupsOf(answer("t", "c1"), call("a", "c1"), answer("x", "nobody")), [[0], [1], [2]]);
});

test("toolGroups() joins calls whose results share a message", () => {
  const both = message("r user", {
    content: [{ type: "tool_result", tool_use_id: "c1" }, { type: "tool-result", toolCallId: "c2" }],
  });
  const first = message("a assistant", { content: [{ type: "tool_use", id: "c1" }] });
  const second = message("b assistant", { content: [{ type: "tool-call", toolCallId: "c2" }] });
  assert.deepEqual(groupsOf(first, second, message("u user"), both), [[0, 1, 3], [2]]);
});

test("toolGroups() joins a chain whose links answer and call at once", () => {
  const link = { ...answer("x", "c1"), tool_calls: [{ id: "c2" }] };
  assert.deepEqual(groupsOf(call("a", "c1"), link, answer("t", "c2")), [[0, 1, 2]]);
});

test("toolGroups() survives fields of any type", () => {
  const odd = { role: "assistant", content: [null, 1, "x"], tool_calls: [null, 5, { id: 7 }], tool_call_id: {} };
  assert.deepEqual(groupsOf(odd as never, { role: "user", content: null, tool_calls: "c1" } as never), [[0], [1]]);
  assert.equal(isToolTraffic(odd as never), false);
});

test("toolGroups() puts every message in exactly one group, in order, whatever the conversation", () => {
  fc.assert(fc.property(conversation, (messages) => {
    const groups = toolGroups(messages);
    assert.deepEqual(groups.flat().sort((a, b) => a - b), messages.map((_, index) => index));
    assert.deepEqual(groups.map(([first]) => first!), groups.map(([first]) => first!).sort((a, b) => a - b));
    for (const group of groups) assert.deepEqual(group, [...group].sort((a, b) => a - b));
  }));
});

test("insertMessage() parts no call from its results: it goes before the call", () => {
  const added = message("new user");
  const messages = [message("u user"), call("a", "c1", "c2"), answer("t1", "c1"), answer("t2", "c2")];
  const at = (index: number) => idsOf(insertMessage(messages, index, added));
  assert.equal(at(0), "new u a t1 t2");
  assert.equal(at(1), "u new a t1 t2");
  assert.equal(at(2), "u new a t1 t2");
  assert.equal(at(3), "u new a t1 t2");
  assert.equal(at(4), "u a t1 t2 new");
  const woven = [call("a", "c1"), call("b", "c2"), answer("t1", "c1"), answer("t2", "c2")];
  assert.equal(idsOf(insertMessage(woven, 3, added)), "new a b t1 t2");
});
