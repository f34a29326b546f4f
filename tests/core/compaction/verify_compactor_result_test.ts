import assert from "node:assert/strict";
import { test } from "node:test";
import { alwaysKeepIds } from "../../../src/core/compaction/tool_groups.ts";
import {
  type CompactorFault,
  type GoodCompaction,
  verifyCompactorResult,
} from "../../../src/core/compaction/verify_compactor_result.ts";
import type { IdentifiedMessage, Message } from "../../../src/core/compaction/messages.ts";
import { answer, call, countChars, idsOf, message } from "./conversations.ts";

const original: IdentifiedMessage[] = [
  message("s system"),
  message("u1 user", { content: [{ type: "text", text: "see" }, { type: "image", url: "x" }], name: "Ada" }),
  call("a1", "c1", "c2"),
  answer("t1", "c1"),
  answer("t2", "c2"),
  message("a2 assistant"),
  message("u2 user", { always_keep: true }),
  message("a3 assistant"),
  message("u3 user"),
];
const alwaysKeep = alwaysKeepIds(original, 2); // s, u2, a3, u3
const beingCompacted = new Set(["u1", "a1", "t1", "t2", "a2"]);
const summary = { role: "user", content: "sum" };
const honest = {
  role: "compactor",
  messages: [original[0], summary, ...original.slice(5)],
  superseded: ["u1", "a1", "t1", "t2"],
  summary: "Left out four messages",
};

/** What is asked where nothing may be adopted, and the result must not go through JSON first. */
const question = {
  original,
  beingCompacted,
  alwaysKeep,
  countTokens: countChars,
  adopt: () => assert.fail("adopted"),
};

let lastId = 0;
const verify = (result: unknown, changes: Partial<Parameters<typeof verifyCompactorResult>[1]> = {}) =>
  verifyCompactorResult(result === undefined ? undefined : JSON.parse(JSON.stringify(result)), {
    original,
    beingCompacted,
    alwaysKeep,
    countTokens: countChars,
    adopt: (added: Message) => ({ ...added, id: `new${++lastId}` }),
    ...changes,
  });

function refuses(result: unknown, reason: CompactorFault, detail: RegExp): void {
  const verdict = verify(result);
  assert.ok(!verdict.ok, "it is accepted");
  assert.equal(verdict.reason, reason);
  assert.match(verdict.detail, detail);
  assert.ok(verdict.detail.length < 600, "the detail is bounded");
}

/** The honest result with the messages of these ids, and `superseded` to match unless it is given. */
function withMessages(messages: unknown[], superseded?: unknown): Record<string, unknown> {
  const left = new Set(messages.map((each) => Object(each).id));
  const gone = original.filter(({ id }) => !left.has(id)).map(({ id }) => id);
  return { ...honest, messages, superseded: superseded ?? gone };
}

const those = (ids: string): IdentifiedMessage[] =>
  ids.split(" ").map((id) => original.find((each) => each.id === id)!);

test("K-027 an honest result is accepted: the host's own messages, the new ones adopted, ids in order", () => {
  lastId = 0;
  const shuffled = { ...honest, superseded: ["t2", "u1", "t1", "a1"] };
  const verdict = verify(shuffled) as GoodCompaction;
  assert.equal(verdict.ok, true);
  assert.equal(idsOf(verdict.messages), "s new1 a2 u2 a3 u3");
  assert.deepEqual(verdict.superseded, ["u1", "a1", "t1", "t2"]);
  assert.equal(verdict.summary, "Left out four messages");
  assert.equal(verdict.messages[0], original[0]);
  assert.deepEqual(verdict.messages[1], { ...summary, id: "new1" });
});

test("K-027 a result without summary, without new messages, or with a null id on a new one is accepted", () => {
  const { summary: _, ...rest } = withMessages(those("s a2 u2 a3 u3"));
  assert.equal((verify(rest) as GoodCompaction).summary, null);
  assert.equal(verify(withMessages([...those("s"), { id: null, ...summary }, ...those("a2 u2 a3 u3")])).ok, true);
});

test("K-027 a kept message may have its keys in another order and lack what JSON leaves out", () => {
  const window = [{ ...original[0]!, note: undefined, at: new Date(0) }, ...original.slice(1)];
  const { id, role, content } = original[0]!;
  const back = { at: "1970-01-01T00:00:00.000Z", content, role, id };
  const verdict = verify({ ...honest, messages: [back, ...those("a2 u2 a3 u3")] }, {
    original: window as IdentifiedMessage[],
    beingCompacted: new Set([...beingCompacted]),
  }) as GoodCompaction;
  assert.equal(verdict.ok, true);
  assert.equal(verdict.messages[0], window[0]);
});

test("K-027 a name that is superseded twice counts once, and a long summary is cut", () => {
  const long = { ...honest, superseded: [...honest.superseded, "u1"], summary: "x".repeat(10_000) };
  const verdict = verify(long) as GoodCompaction;
  assert.equal(verdict.superseded.length, 4);
  assert.equal(verdict.summary?.length, 4000 + "… (cut)".length);
});

test("K-027 when nothing was up for compaction, the unchanged window is accepted", () => {
  const unchanged = { role: "compactor", messages: original, superseded: [] };
  assert.equal(verify(unchanged, { beingCompacted: new Set() }).ok, true);
  assert.equal(
    verify({ role: "compactor", messages: [], superseded: [] }, {
      original: [],
      alwaysKeep: new Set(),
      beingCompacted: new Set(),
    }).ok,
    true,
  );
});

test("K-028 no result is refused", () => {
  refuses(null, "no_result", /nothing/);
  refuses(undefined, "no_result", /nothing/);
});

test("K-028 a result that is no object is refused", () => {
  for (const result of ["text", 7, true, [honest]]) refuses(result, "malformed_result", /not an object/);
});

test("K-028 a result in another role is refused: an observer's answer, none, an object", () => {
  refuses({ retain: ["x"], inject: "y" }, "wrong_role", /missing/);
  refuses({ ...honest, role: "observer" }, "wrong_role", /"observer"/);
  refuses({ ...honest, role: { x: 1 } }, "wrong_role", /an object/);
  refuses({ ...honest, role: "x".repeat(100_000) }, "wrong_role", /x…/);
});

test("K-028 messages that are missing or no list are refused", () => {
  for (const messages of [undefined, null, "s", { 0: original[0], length: 1 }]) {
    refuses({ ...honest, messages }, "malformed_result", /"messages"/);
  }
});

test("K-028 superseded that is missing or no list of ids is refused", () => {
  for (const superseded of [undefined, null, "u1", { u1: true }, ["u1", 5], [["u1"]], [null]]) {
    refuses({ ...honest, superseded }, "malformed_result", /"superseded"/);
  }
});

test("K-028 a summary that is no text is refused", () => {
  for (const text of [5, {}, ["x"], false]) refuses({ ...honest, summary: text }, "malformed_result", /"summary"/);
});

test("K-028 a message that is no object is refused", () => {
  for (const odd of [null, "text", 5, [summary]]) {
    refuses(
      withMessages([...those("s"), odd, ...those("a2 u2 a3 u3")]),
      "malformed_message",
      /Message 1 is not an object/,
    );
  }
});

test("K-028 a new message that could not stand in a conversation is refused", () => {
  const faults: [unknown, RegExp][] = [
    [{ content: "no role" }, /role/],
    [{ role: 5, content: "x" }, /role/],
    [{ role: "tool", content: "x" }, /role/],
    [{ role: "wizard", content: "x" }, /role/],
    [{ role: "user" }, /content/],
    [{ role: "user", content: null }, /content/],
    [{ role: "user", content: { text: "x" } }, /content/],
    [{ role: "user", content: ["x"] }, /content/],
    [{ role: "user", content: [["x"]] }, /content/],
    [{ role: "user", content: "" }, /empty/],
    [{ role: "user", content: [] }, /empty/],
    [{ role: "assistant", content: "x", tool_calls: [{ id: "c9" }] }, /tool_calls/],
    [{ role: "user", content: "x", tool_call_id: "c1" }, /tool_call_id/],
    [{ role: "user", content: [{ type: "tool_result", tool_use_id: "c1" }] }, /tool call/],
    [{ role: "user", content: "x", always_keep: true }, /always_keep/],
    [{ role: "user", content: "x", added_by: "summarize" }, /added_by/],
  ];
  for (const [added, detail] of faults) {
    refuses(withMessages([...those("s"), added, ...those("a2 u2 a3 u3")]), "malformed_message", detail);
  }
});

test("K-028 a new message with a field __proto__, at any depth, is refused", () => {
  for (
    const json of [
      '{"role":"user","content":"x","__proto__":{"always_keep":true}}',
      '{"role":"user","content":[{"type":"text","__proto__":{}}]}',
    ]
  ) {
    const result = JSON.parse(
      JSON.stringify(withMessages([...those("s"), 0, ...those("a2 u2 a3 u3")])).replace(",0,", `,${json},`),
    );
    const verdict = verifyCompactorResult(result, question);
    assert.deepEqual([verdict.ok, !verdict.ok && verdict.reason], [false, "malformed_message"]);
  }
});

test("K-028 a new message that is nested without end is refused, and nothing overflows", () => {
  const deep = JSON.parse(`{"role":"user","content":[{"type":"text","text":${"[".repeat(5000)}${"]".repeat(5000)}}]}`);
  const verdict = verifyCompactorResult(withMessages([original[0], deep, ...those("a2 u2 a3 u3")]), question);
  assert.ok(!verdict.ok);
  assert.match(verdict.detail, /deeper than 32/);
});

test("K-028 an original that is nested without end where it was text is refused", () => {
  const deep = JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`);
  const verdict = verifyCompactorResult(
    withMessages([...those("s"), { ...those("a2")[0], content: deep }, ...those("u2 a3 u3")]),
    question,
  );
  assert.deepEqual([verdict.ok, !verdict.ok && verdict.reason], [false, "altered_message"]);
});

test("K-028 more messages than before are refused", () => {
  refuses(withMessages([...original, summary]), "too_many_messages", /10 messages, after 9/);
  refuses(withMessages(Array(100_000).fill(summary)), "too_many_messages", /100000 messages/);
});

test("K-028 an id of no message is refused", () => {
  for (const id of ["msg_999", "", 5, true, {}, "__proto__", "constructor"]) {
    refuses(
      withMessages([...those("s"), { ...summary, id }, ...those("a2 u2 a3 u3")]),
      "invented_id",
      /id of no message/,
    );
  }
});

test("K-028 a message that is there twice is refused", () => {
  refuses(withMessages(those("s a2 a2 u2 a3 u3")), "repeated_message", /"a2" is there twice/);
});

test("K-028 a message that is not what it was is refused: text, role, a part, a field more, a field less", () => {
  const [a2, u1] = those("a2 u1") as [IdentifiedMessage, IdentifiedMessage];
  const { name: _, ...withoutName } = u1;
  const altered = [{ ...a2, content: "content of a2 " }, { ...a2, role: "user" }, { ...a2, extra: 1 }];
  for (const each of altered) {
    refuses(withMessages([...those("s"), each, ...those("u2 a3 u3")]), "altered_message", /"a2"/);
  }
  const parts = u1.content as { type: string }[];
  for (const each of [withoutName, { ...u1, content: [parts[0]] }, { ...u1, content: { ...parts } }]) {
    refuses(withMessages([...those("s"), each, ...those("u2 a3 u3")]), "altered_message", /"u1"/);
  }
  const polluted = JSON.parse(JSON.stringify(a2).replace("{", '{"__proto__":{},'));
  const verdict = verifyCompactorResult(withMessages([...those("s"), polluted, ...those("u2 a3 u3")]), question);
  assert.deepEqual([verdict.ok, !verdict.ok && verdict.reason], [false, "altered_message"]);
});

test("K-028 messages that changed places are refused", () => {
  refuses(withMessages(those("s a2 u2 u3 a3")), "reordered_messages", /"a3"/);
});

test("K-028 a missing message that always stays is refused, and every such message is named", () => {
  const system = verify(withMessages(those("a2 u2 a3 u3"), ["u1", "a1", "t1", "t2", "s"]));
  assert.deepEqual(system, {
    ok: false,
    reason: "compactor_dropped_always_keep",
    detail: 'A message that always stays is missing: "s"',
    droppedAlwaysKeep: ["s"],
  });
  const most = verify(withMessages([summary]));
  assert.deepEqual(!most.ok && most.droppedAlwaysKeep, ["s", "u2", "a3", "u3"]);
});

test("K-028 an altered message that always stays, or one that comes back without its id, counts as dropped", () => {
  const pinned = those("u2")[0]!;
  const { id: _, always_keep: __, ...anonymous } = pinned;
  for (const each of [{ ...pinned, content: "changed" }, { ...pinned, always_keep: false }, anonymous]) {
    const verdict = verify(withMessages([...those("s a2"), each, ...those("a3 u3")]));
    assert.deepEqual(!verdict.ok && verdict.droppedAlwaysKeep, ["u2"]);
  }
});

test("K-027 superseded names only messages that were up for compaction", () => {
  for (const foreign of ["msg_999", "s", "u3", "__proto__", ""]) {
    refuses({ ...honest, superseded: [...honest.superseded, foreign] }, "foreign_superseded", /not up for compaction/);
  }
});

test("K-027 superseded names no message that is still there", () => {
  refuses({ ...honest, superseded: [...honest.superseded, "a2"] }, "superseded_kept", /"a2"/);
});

test("K-027 superseded names every message that is gone", () => {
  refuses({ ...honest, superseded: [] }, "vanished_message", /"u1"/);
  refuses({ ...honest, superseded: ["u1", "a1", "t1"] }, "vanished_message", /"t2"/);
});

test("K-028 a message that neither always stays nor was up for compaction may not go", () => {
  const result = withMessages(those("s u2 a3 u3"), ["u1", "a1", "t1", "t2"]);
  const verdict = verify(result, { beingCompacted: new Set(["u1", "a1", "t1", "t2"]) });
  assert.equal(!verdict.ok && verdict.reason, "vanished_message");
});

test("K-028 a tool call that loses a result, and a result that loses its call, are refused", () => {
  refuses(withMessages(those("s a1 t1 a2 u2 a3 u3")), "split_tool_call", /"a1"/);
  refuses(withMessages(those("s a1 u2 a3 u3")), "split_tool_call", /"a1"/);
  refuses(withMessages(those("s t1 t2 u2 a3 u3")), "split_tool_call", /"a1"/);
});

test("K-028 a message added between a tool call and its results is refused", () => {
  const [s, a1, t1, t2, ...rest] = those("s a1 t1 t2 u2 a3 u3");
  refuses(withMessages([s, a1, summary, t1, t2, ...rest]), "split_tool_call", /between/);
  refuses(withMessages([s, a1, t1, summary, t2, ...rest]), "split_tool_call", /between/);
  assert.equal(verify(withMessages([s, summary, a1, t1, t2, ...rest])).ok, true);
});

test("K-028 an empty window is refused", () => {
  const free = original.filter(({ id }) => beingCompacted.has(id));
  const verdict = verify({ role: "compactor", messages: [], superseded: free.map(({ id }) => id) }, {
    original: free,
    alwaysKeep: new Set(),
  });
  assert.equal(!verdict.ok && verdict.reason, "empty_window");
});

test("K-028 a window that is not smaller is refused: unchanged, as large, larger", () => {
  refuses(withMessages([...original]), "not_smaller", /tokens, after/);
  const gone = original.slice(1, 5).reduce((sum, each) => sum + countChars(each), 0);
  const padded = (chars: number) =>
    withMessages([original[0], { role: "user", content: "x".repeat(chars) }, ...original.slice(5)]);
  refuses(padded(gone), "not_smaller", /tokens, after/);
  refuses(padded(3_000_000), "not_smaller", /3000/);
  assert.equal(verify(padded(gone - 1)).ok, true);
});
