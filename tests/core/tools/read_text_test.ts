import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesIn, rangeOf } from "../../../src/core/tools/read_text.ts";
import { byteLength } from "../../../src/core/values/cut_text.ts";
import fc from "../../support/fast_check.ts";

/** Every kind of character: ASCII, what JSON escapes, two and three bytes, surrogate pairs, halves of a pair. */
const anyText = fc.string({
  unit: fc.oneof(
    fc.constantFrom("a", "\n", '"', "\0", "é", "İ", "漢", "😀", "👩‍👩‍👧", "\ud83d", "\ude00"),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 120,
});

test("N-036 ranges read one after the other give back the whole text, none larger than it may be", () => {
  const sizes = fc.record({ limit: fc.integer({ min: 1, max: 40 }), maxBytes: fc.integer({ min: 1, max: 200 }) });
  fc.assert(fc.property(anyText, sizes, (text, { limit, maxBytes }) => {
    const pieces: string[] = [];
    let offset: number | null = 0;
    while (offset !== null) {
      const read: ReturnType<typeof rangeOf> = rangeOf(text, { offset, limit, maxBytes });
      assert.equal(read.offset, offset);
      assert.equal(read.total, text.length);
      const isOne = [...read.text].length <= 1;
      assert.ok(isOne || read.text.length <= limit);
      assert.ok(isOne || byteLength(JSON.stringify(read.text)) <= maxBytes);
      assert.ok(read.next_offset === null || read.next_offset > offset, "it goes on");
      pieces.push(read.text);
      offset = read.next_offset;
    }
    assert.equal(pieces.join(""), text);
    // Without a half of a pair in the text, no piece ends in one.
    if (text.isWellFormed()) assert.ok(pieces.every((piece) => piece.isWellFormed()));
  }));
});

test("N-036 a range that is asked for within a character begins with it, and one beyond the end is empty", () => {
  assert.deepEqual(rangeOf("a😀b", { offset: 2, limit: 1, maxBytes: 100 }), {
    offset: 1,
    text: "😀",
    next_offset: 3,
    total: 4,
  });
  assert.deepEqual(rangeOf("a😀b", { offset: 1, limit: 3, maxBytes: 100 }).text, "😀b");
  assert.deepEqual(rangeOf("ab", { offset: 9, maxBytes: 100 }), { offset: 2, text: "", next_offset: null, total: 2 });
  assert.deepEqual(rangeOf("", { maxBytes: 100 }), { offset: 0, text: "", next_offset: null, total: 0 });
});

const LOG = "start\nError: one\nokay\nan ERROR and an error\n\nlast error";

test("N-036 a search returns the lines that have the words, in large or small letters, each once and with its offset", () => {
  const { matches, next_offset, total } = matchesIn(LOG, { search: "error", maxBytes: 10_000 });
  assert.deepEqual(matches.map(({ text }) => text), ["Error: one", "an ERROR and an error", "last error"]);
  for (const { offset, text } of matches) assert.equal(LOG.slice(offset, offset + text.length), text);
  assert.deepEqual([next_offset, total], [null, LOG.length]);
  assert.deepEqual(matchesIn(LOG, { search: "none", maxBytes: 10_000 }).matches, []);
  assert.deepEqual(matchesIn(LOG, { search: ".*", maxBytes: 10_000 }).matches, [], "words are no pattern");
  assert.deepEqual(matchesIn(LOG, { search: "okay\nAN", maxBytes: 10_000 }).matches.map(({ text }) => text), [
    "okay\nan ERROR and an error",
  ]);
});

test("N-036 a search shows lines around a match, and never a line twice", () => {
  const around = (context: number) => matchesIn(LOG, { search: "error", context, maxBytes: 10_000 }).matches;
  assert.deepEqual(around(1).map(({ text }) => text), [
    "start\nError: one\nokay",
    "\nan ERROR and an error\n",
    "\nlast error",
  ]);
  assert.deepEqual(around(20).map(({ text }) => text), [LOG]);
  assert.deepEqual(matchesIn("\nx", { search: "x", context: 1, maxBytes: 1_000 }).matches[0], {
    offset: 0,
    text: "\nx",
  });
});

test("N-036 a search stops at its limit and goes on where it stopped", () => {
  const first = matchesIn(LOG, { search: "error", limit: 1, maxBytes: 10_000 });
  assert.equal(first.matches.length, 1);
  const rest = matchesIn(LOG, { search: "error", offset: first.next_offset!, maxBytes: 10_000 });
  assert.deepEqual(rest.matches.map(({ text }) => text), ["an ERROR and an error", "last error"]);
});

test("N-036 of a line without end the part around each match is shown", () => {
  const line = `${"x".repeat(5_000)}needle${"y".repeat(5_000)}NEEDLE${"z".repeat(5_000)}`;
  const { matches } = matchesIn(line, { search: "needle", maxBytes: 100_000 });
  assert.deepEqual(matches.map(({ text }) => /needle/i.exec(text)?.[0]), ["needle", "NEEDLE"]);
  assert.ok(matches.every(({ text }) => text.length <= 1_000));
});

test("N-036 a letter whose small form is longer shifts no offset", () => {
  const text = `${"İ".repeat(20)}\nNeedle\nother\nlines\nfollow`;
  const { matches } = matchesIn(text, { search: "nEEDLE", maxBytes: 10_000 });
  assert.deepEqual(matches, [{ offset: 21, text: "Needle" }]);
});

test("N-036 matches are places of the text, in their order, and stay within the bytes allowed", () => {
  const asked = fc.record({
    search: fc.constantFrom("a", "é", "\n", "😀", "漢a", "A", "\ude00"),
    limit: fc.integer({ min: 1, max: 5 }),
    context: fc.integer({ min: 0, max: 3 }),
    maxBytes: fc.integer({ min: 768, max: 2_000 }),
  });
  fc.assert(fc.property(anyText, asked, (text, how) => {
    let end = 0;
    let offset: number | null = 0;
    while (offset !== null) {
      const read: ReturnType<typeof matchesIn> = matchesIn(text, { ...how, offset });
      assert.ok(read.matches.length <= how.limit);
      assert.ok(byteLength(JSON.stringify(read.matches)) <= how.maxBytes + 2 + how.limit);
      for (const match of read.matches) {
        assert.ok(match.offset + 1 >= end);
        assert.equal(text.slice(match.offset, match.offset + match.text.length), match.text);
        assert.ok(match.text.length > 0);
        end = match.offset + match.text.length;
      }
      assert.ok(read.next_offset === null || read.next_offset >= offset + (read.matches.length > 0 ? 1 : 0));
      offset = read.next_offset;
    }
  }));
});
