import assert from "node:assert/strict";
import { test } from "node:test";
import { DocumentReport } from "../../../src/core/documents/document_report.ts";
import { readJson } from "../../../src/core/documents/read_json.ts";
import fc from "../../support/fast_check.ts";

const KIND = { room: "hook", title: "The file", maxBytes: 100_000 };

function read(text: string, options: { comments?: boolean } = {}) {
  const report = new DocumentReport("a.json", KIND);
  const document = readJson(text, report, options);
  const issues = report.errors.map(({ code, line, column }) => `${code} ${line}:${column}`);
  return { data: document?.data, report, issues };
}

test("JSON is read with the place of every key and value", () => {
  const { data, report } = read('{\n  "a": [1, { "b": null }]\n}\n');
  assert.deepEqual(data, { a: [1, { b: null }] });
  assert.deepEqual(report.placeOf(["a", 1, "b"], "key"), { line: 2, column: 14 });
  assert.deepEqual(report.placeOf(["a", 1, "b"], "value"), { line: 2, column: 19 });
  // A path that is not there has the place of the nearest value above it.
  assert.deepEqual(report.placeOf(["a", 1, "c", "d"], "key"), { line: 2, column: 12 });
});

test("comments and a comma behind the last item are refused, unless the caller allows them", () => {
  const text = '// servers\n{ /* one */ "a": [1, 2,], // two\n  "b": "// no comment",\n}\n/* end */';
  assert.deepEqual(read(text).issues, ["hook.json_comment 1:1"]);
  assert.deepEqual(read(text, { comments: true }).data, { a: [1, 2], b: "// no comment" });
  assert.deepEqual(read("[1,]").issues, ["hook.json_syntax 1:4"]);
  for (const wrong of ["[,]", "[1,,]", "{,}", "/* open", "# shell", "[1] /", '{"a":1,} x']) {
    const { data, issues } = read(wrong, { comments: true });
    assert.equal(data, undefined, wrong);
    assert.match(issues[0] ?? "", /^hook\.json_syntax 1:/, wrong);
  }
});

test("a byte order mark in front of JSON is no mistake", () => {
  assert.deepEqual(read('\ufeff{ "a": 1 }').data, { a: 1 });
});

test("a file that is too large or too deep is refused", () => {
  assert.deepEqual(read(`"${"x".repeat(100_000)}"`).issues, ["hook.too_large 1:1"]);
  assert.deepEqual(read("[".repeat(1000)).issues, ["hook.too_deep 1:66"]);
  assert.deepEqual(read("[".repeat(50_000)).issues, ["hook.too_deep 1:66"]);
});

test("any JSON text is read as JSON.parse() reads it, with or without comments allowed", () => {
  const json = fc.json().filter((text) => !text.includes("__proto__"));
  fc.assert(fc.property(json, fc.boolean(), (text, comments) => {
    assert.deepEqual(read(text, { comments }).data, JSON.parse(text));
  }));
});
