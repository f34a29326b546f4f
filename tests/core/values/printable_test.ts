import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { printable, printWarning, quotedLines } from "../../../src/core/values/printable.ts";

test("printable() shows what a terminal would obey, and makes one line of any text", () => {
  assert.equal(printable("\u001b[2J\u0007\u009b31m\rdone\u202e"), "\\u001b[2J\\u0007\\u009b31m\\u000ddone\\u202e");
  assert.equal(printable("one\ntwo\u2028three\u2029four\u0085five"), "one\\ntwo\\u2028three\\u2029four\\u0085five");
});

test("printable() shows characters that nobody sees: zero-width, fillers, tags, selectors, half pairs", () => {
  for (
    const unseen of ["\u200b", "\u200d", "\u2060", "\ufeff", "\u00ad", "\u3164", "\u2800", "\ufe0f", "\ufff9", "\ud800"]
  ) {
    assert.equal(printable(`a${unseen}b`), `a\\u${unseen.charCodeAt(0).toString(16).padStart(4, "0")}b`);
  }
  assert.equal(printable("a\u{e0041}b"), "a\\udb40\\udc41b");
});

test("printable() shows letters of another script that stand among Latin ones", () => {
  assert.equal(printable("p\u0430ypal.com"), "p\\u0430ypal.com");
  assert.equal(printable("/home/\u03bfperator"), "/home/\\u03bfperator");
});

test("printable() leaves what people write as it is", () => {
  const texts = ["plain\ttext", "ünïcödé ✓ naïve", "Привет, мир", "日本語", "10 kΩ, Δt", "⚠️ 👨‍👩‍👧", "עברית"];
  assert.deepEqual(texts.map(printable), texts);
});

test("printable() changes no value of JSON, and nothing that it returned", () => {
  const value = { text: "a\u202e\u{e0041}\u0430b\n", "k\u200b": 1 };
  const once = printable(JSON.stringify(value));
  assert.deepEqual(JSON.parse(once), value);
  assert.equal(printable(once), once);
});

test("quotedLines() puts every line behind a margin", () => {
  assert.deepEqual(quotedLines("one\r\n✓ two\u001b\n"), ["  │ one", "  │ ✓ two\\u001b"]);
});

test("a warning that nobody takes is one line on the console; a stack below it is quoted", (t: TestContext) => {
  const lines: string[] = [];
  t.mock.method(console, "error", (line: string) => lines.push(line));
  printWarning("A plugin wrote \u001b[2K");
  printWarning("It failed: No\n✓ Installed safe 1.0\n    at run");
  assert.deepEqual(lines, ["A plugin wrote \\u001b[2K", "It failed: No\n  │ ✓ Installed safe 1.0\n  │     at run"]);
});
