import assert from "node:assert/strict";
import { test } from "node:test";
import { templateMatcher } from "../../src/host/uri_template.ts";

const matches = (template: string, uri: string): boolean | undefined => templateMatcher(template)?.matches(uri);

test("N-030 a URI is found to come of a template of any operator", () => {
  const cases: [string, string[], string[]][] = [
    ["a://{id}", ["a://1", "a://a b", "a://x,y"], ["a://", "a://1/2", "b://1", "a://1?x"]],
    ["a://{id}/data", ["a://1/data"], ["a://1/2/data", "a:///data", "a://1/dat"]],
    ["a://{+path}", ["a://1/2?q#f"], ["a://"]],
    ["a://x{/path*}", ["a://x", "a://x/1/2"], ["a://xy", "a://x?q"]],
    ["a://x{?q,r}", ["a://x", "a://x?q=1&r=2"], ["a://x#f", "a://xq=1"]],
    ["a://x?a=1{&q}", ["a://x?a=1", "a://x?a=1&q=2"], ["a://x"]],
    ["a://x{#part}", ["a://x", "a://x#y/z"], ["a://xy"]],
    ["a://x{.end}{;p}", ["a://x", "a://x.txt", "a://x.txt;p=1"], ["a://xtxt"]],
    ["a://{first}-{last}.{end:3}", ["a://a-b.c", "a://a-b-c.d.e"], ["a://a.b-c", "a://ab"]],
    ["a://fixed", ["a://fixed"], ["a://fixed/", "a://fixe"]],
  ];
  for (const [template, good, bad] of cases) {
    for (const uri of good) assert.equal(matches(template, uri), true, `${template} ${uri}`);
    for (const uri of bad) assert.equal(matches(template, uri), false, `${template} ${uri}`);
  }
});

test("N-030 a template that cannot be read matches nothing", () => {
  for (const template of ["a://{", "a://}", "a://{{x}}", "a://{}", "a://{a b}", "a://{!x}", "{+x}".repeat(65)]) {
    assert.equal(templateMatcher(template), null, template);
  }
});

test("N-030 a template that would take a pattern machine for ever is done in a moment", () => {
  const template = `a://${"{+x}a".repeat(60)}b`;
  assert.equal(matches(template, `a://${"a".repeat(5_000)}`), false);
});
