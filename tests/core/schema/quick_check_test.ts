import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSchema } from "../../../src/core/schema/compile_schema.ts";
import { quickCheck } from "../../../src/core/schema/quick_check.ts";

const text = { type: "string" };
const SCHEMAS = [
  { type: "object" },
  { type: "object", title: "Anything", properties: { a: {} } },
  { type: "object", properties: { a: text, b: { type: "integer", minimum: 2, maximum: 9 } }, required: ["a"] },
  { type: "object", properties: { a: { type: "string", minLength: 2, maxLength: 3 } }, additionalProperties: false },
  { type: "object", properties: { a: { type: "string", enum: ["x", "yy"] }, b: { type: "number" } } },
  { type: "object", properties: { a: { type: "array", items: text, minItems: 1, maxItems: 2 }, b: { type: "null" } } },
  { type: "object", properties: { a: { type: "object", properties: { b: { type: "boolean" } }, required: ["b"] } } },
];
const PARTS = [
  ...["", "x", "yy", "😀", "😀😀😀", "longer", 0, 1, 2, 9.5, 9, 10, NaN, true, null, undefined],
  ...[[], ["x"], ["x", 1], ["x", "x", "x"], {}, { b: true }, { b: 1 }],
];
const VALUES = [
  ...[{}, { c: 1 }, [], "x", null, 7],
  ...PARTS.flatMap((a) => [{ a }, { b: a }, ...PARTS.map((b) => ({ a, b }))]),
];

test("quickCheck() lets nothing pass that the whole check does not, and the usual values pass it", async () => {
  for (const schema of SCHEMAS) {
    const [check, { issues }] = [quickCheck(schema)!, await compileSchema(schema)];
    const passed = VALUES.filter((value) => check(value));
    assert.ok(passed.length > 0, JSON.stringify(schema));
    for (const value of passed) assert.deepEqual(issues(value), [], JSON.stringify({ schema, value }));
  }
});

test("quickCheck() leaves a schema with any other keyword, and a value of many levels, to the whole check", () => {
  const others = [
    { type: "object", patternProperties: { "^a": text } },
    { type: "object", properties: { a: { type: "string", pattern: "^a" } } },
    { type: "object", properties: { a: { anyOf: [text] } } },
    { type: "object", properties: { a: { type: ["string", "null"] } } },
    { type: "object", additionalProperties: text },
    { type: "object", properties: { a: { $ref: "#" } } },
    { properties: { a: text } },
  ];
  for (const schema of others) assert.equal(quickCheck(schema), null, JSON.stringify(schema));
  let deep: unknown = {};
  for (let level = 0; level < 200; level++) deep = { deep };
  assert.equal(quickCheck({ type: "object" })!(deep), false);
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  assert.equal(quickCheck({ type: "object" })!(circle), false);
});
