import assert from "node:assert/strict";
import { test } from "node:test";
import { coversPattern, namePattern } from "../../../src/core/rules/name_pattern.ts";
import fc from "../../support/fast_check.ts";

/** Few letters, so that patterns and names meet often. */
const letters = (...all: string[]) => fc.array(fc.constantFrom(...all), { maxLength: 6 }).map((some) => some.join(""));
const names = fc.array(letters("a", "b"), { minLength: 1, maxLength: 3 }).map((segments) => segments.join("."));
const patterns = fc.array(letters("a", "b", "*"), { minLength: 1, maxLength: 3 }).map((all) => all.join("."));

test("`*` of a pattern stands for any text within one segment, also for none", () => {
  const cases: readonly [pattern: string, fits: string[], not: string[]][] = [
    ["mail.send", ["mail.send"], ["mail.sends", "mail.Send", "mail", "mailxsend"]],
    ["mail.*", ["mail.send", "mail."], ["mail", "mails.send", "mail.send.now"]],
    ["*.*", ["mail.send"], ["mail", "a.b.c"]],
    ["*.send_*", ["mail.send_all", "x.send_"], ["mail.resend_all"]],
    ["a*b*c.x", ["abc.x", "aXbYbZc.x"], ["acb.x", "ab.x", "abcd.x"]],
    ["ab*ba.x", ["abba.x", "abXba.x"], ["aba.x"]],
    ["primary.subagents.*", ["primary.subagents.a"], ["primary", "primary.subagents.a.subagents.b"]],
  ];
  for (const [pattern, fits, not] of cases) {
    for (const name of fits) assert.ok(namePattern(pattern)(name), `${pattern} ${name}`);
    for (const name of not) assert.ok(!namePattern(pattern)(name), `${pattern} ${name}`);
  }
});

test("any pattern fits the names that a regular expression of it does", () => {
  fc.assert(
    fc.property(patterns, names, (pattern, name) => {
      const expected = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", "[^.]*")}$`);
      assert.equal(namePattern(pattern)(name), expected.test(name), `${pattern} ${name}`);
    }),
    { numRuns: 2_000 },
  );
});

test("a pattern covers another exactly where no name fits only the other", () => {
  fc.assert(
    fc.property(patterns, patterns, names, (outer, inner, name) => {
      if (coversPattern(outer, inner)) assert.ok(!namePattern(inner)(name) || namePattern(outer)(name));
      // A letter that neither pattern has can only be taken by a star: one such name tells.
      else assert.ok(!namePattern(outer)(inner.replaceAll("*", "z")), `${outer} ${inner}`);
    }),
    { numRuns: 2_000 },
  );
});

test("a pattern of many stars is judged in no time: its work does not multiply", () => {
  const fits = namePattern(`${"a*".repeat(90)}.x`);
  assert.equal(fits(`${"a".repeat(100_000)}b.y`), false);
  assert.equal(fits(`${"a".repeat(100_000)}.x`), true);
});
