import assert from "node:assert/strict";
import { test } from "node:test";
import { sampleValue } from "../../../src/operator/conformance/sample_value.ts";
import { compileSchema } from "../../../src/core/schema/compile_schema.ts";

test("sampleValue() gives the plainest value that a schema allows", async () => {
  const cases: readonly (readonly [Record<string, unknown>, unknown])[] = [
    [{ type: "object", properties: { a: { type: "string" }, b: { type: "null" } }, required: ["a"] }, { a: "sample" }],
    [{ properties: { a: { type: "boolean" } }, required: ["a"] }, { a: true }],
    [{ type: "array", items: { type: "integer" }, minItems: 2 }, [1, 1]],
    [{ type: "array", items: {} }, []],
    [{ type: "string", minLength: 8, maxLength: 9 }, "samplexx"],
    [{ type: "string", maxLength: 2 }, "sa"],
    [{ type: "string", format: "date-time" }, "2030-01-31T12:00:00Z"],
    [{ type: ["integer", "null"], minimum: 4.5 }, 5],
    [{ type: "number", exclusiveMinimum: 4 }, 5],
    [{ type: "number", maximum: -2 }, -2],
    [{ type: "integer", exclusiveMaximum: 0 }, -1],
    [{ enum: ["low", "high"] }, "low"],
    [{ const: 7 }, 7],
    [{ type: "string", default: "x" }, "x"],
    [{ type: "integer", examples: [42] }, 42],
    [{ anyOf: [{ type: "string", minLength: 1 }, { type: "null" }] }, "sample"],
    [{ type: "null" }, null],
    [{}, null],
  ];
  for (const [schema, expected] of cases) {
    assert.deepEqual(sampleValue(schema), expected, JSON.stringify(schema));
    assert.deepEqual((await compileSchema(schema)).issues(expected), [], JSON.stringify(schema));
  }
});

test("sampleValue() ends, however deep a schema is", () => {
  let schema: unknown = { type: "string" };
  for (let level = 0; level < 100; level++) schema = { type: "object", properties: { a: schema }, required: ["a"] };
  assert.match(JSON.stringify(sampleValue(schema)), /^(\{"a":){1,30}null\}+$/);
});
