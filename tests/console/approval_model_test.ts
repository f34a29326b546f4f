import assert from "node:assert/strict";
import { test } from "node:test";
import { argumentChanges } from "../../console/model/argument_changes.ts";
import { draftOfArguments, readDraft } from "../../console/model/argument_draft.ts";
import { endWords, timeLeft } from "../../console/model/approval_words.ts";
import { fieldsOf, folded, jsonOf, previewOf, printableLines } from "../../console/model/shown_values.ts";
import { timeOfDay } from "../../console/model/words.ts";
import type { Approval } from "../../src/http/answers.ts";

test("arguments are shown with their type and size; names and texts of others can be seen character by character", () => {
  const fields = fieldsOf({ to: "a\nb", "\u202eeman": "", n: 5, on: true, none: null, list: [1, 2], map: { a: {} } });
  assert.deepEqual(fields.map(({ label, form, text }) => [label, form, text]), [
    ["to", "text, 3 characters", "a\nb"],
    ["\\u202eeman", "empty text", ""],
    ["n", "number", "5"],
    ["on", "boolean", "true"],
    ["none", "null", "null"],
    ["list", "list, 2 items", "[\n  1,\n  2\n]"],
    ["map", "object, 1 field", '{\n  "a": {}\n}'],
  ]);
  assert.equal(
    printableLines("red \u001b[31m\nexe.\u202egnp\np\u0430ypal"),
    "red \\u001b[31m\nexe.\\u202egnp\np\\u0430ypal",
  );
  assert.equal(fieldsOf({ ["k".repeat(500)]: 1 })[0]!.label.length, 121);
});

test("a long text is folded behind its first lines or characters, never in the middle of a character", () => {
  assert.equal(folded("short\ntext"), "short\ntext");
  assert.equal(folded("x".repeat(1_000_000)).length, 600);
  assert.equal(folded(`${"\n".repeat(500)}the end`), "\n".repeat(11));
  assert.equal(folded(`${"x".repeat(599)}😀 and more`), "x".repeat(599));
});

test("a value that is nested without end is shown on one line, and costs no more than it holds", () => {
  const nested = (depth: number): unknown[] => {
    let value: unknown[] = [];
    for (let at = 1; at < depth; at++) value = [value];
    return value;
  };
  assert.equal(jsonOf(nested(1000)).length, 2000);
  const bottomless = nested(1_000_000);
  assert.equal(jsonOf(bottomless), "(nested too deeply to be shown)");
  assert.equal(previewOf({ bottomless }), "bottomless: (nested too deeply to be shown)");
});

test("the first argument tells calls of one tool apart, on one line", () => {
  assert.deepEqual([previewOf({}), previewOf({ to: "a\nb", x: 1 }), previewOf({ n: { a: 1 } })], [
    "no arguments",
    "to: a\\nb",
    'n: {"a":1}',
  ]);
});

test("changed arguments are compared field by field, texts by their lines, and a text is never taken for a number", () => {
  const before = { body: "one\ntwo\nthree", n: 5, gone: true, same: { a: [1] } };
  const after = { body: "one\n2\nthree", n: "5", same: { a: [1] }, cc: "x" };
  const shown = argumentChanges(before, after).map(({ label, how, lines }) =>
    [label, how, lines.map(({ mark, text }) => mark + text).join("|")].join(" ")
  );
  assert.deepEqual(shown, [
    "body changed  one|-two|+2| three",
    'n changed -5|+"5"',
    "cc added +x",
    "gone removed -true",
  ]);
});

test("a draft of arguments keeps its meaning, shows every character, and is sent only when it says something else", () => {
  const asked = { to: "p\u0430ypal\u202e", list: [1] };
  const draft = draftOfArguments(asked);
  assert.match(draft, /"p\\u0430ypal\\u202e"/);
  assert.deepEqual(readDraft(draft, asked), { args: null, problem: null });
  assert.deepEqual(readDraft('{"to":"b"}', asked), { args: { to: "b" }, problem: null });
  assert.match(readDraft("{", asked).problem!, /^This is not JSON: /);
  for (const text of ["[]", "null", "5", '"x"']) {
    assert.equal(readDraft(text, asked).problem, "Arguments are an object: { … }", text);
  }
});

test("the time left and the end of a request are written for people", () => {
  const at = (left: number): string => timeLeft(new Date(1_000_000 + left * 1000).toISOString(), 1_000_000);
  assert.deepEqual([at(600), at(65), at(0.2), at(-5), at(4320)], ["10:00", "1:05", "0:01", "0:00", "1 h 12 min"]);
  const ended = (end: Partial<NonNullable<Approval["end"]>>, kind: Approval["source"]["kind"] = "rule"): Approval => {
    const known = { state: "allowed", at: "2026-01-01T12:00:00Z", by: "\u001b[31mcli", answer: null, reason: null };
    return { end: { ...known, ...end }, source: { kind, id: "config.toml:1" } } as Approval;
  };
  const noon = timeOfDay("2026-01-01T12:00:00Z");
  assert.equal(endWords(ended({})), `allowed by \\u001b[31mcli at ${noon}`);
  const answer = { decision: "allow", scope: "session", arguments: {} } as const;
  assert.equal(
    endWords(ended({ answer }), true),
    `You allowed it for this session at ${noon}, with edited arguments`,
  );
  const connected = endWords(ended({ answer: { decision: "allow", scope: "session" } }, "network"), true);
  assert.equal(connected, `You allowed it while it runs at ${noon}`);
  assert.equal(endWords(ended({ state: "expired", by: null })), `expired at ${noon}`);
});
