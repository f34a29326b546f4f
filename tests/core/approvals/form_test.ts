import assert from "node:assert/strict";
import { test } from "node:test";
import { contentProblem, formFields, typedValue } from "../../../src/core/approvals/form.ts";

const form = (properties: object, required: string[] = []) => ({
  message: "?",
  requestedSchema: { type: "object", properties, required },
});

test("N-030 formFields() reads every kind of field that MCP has, and refuses any other form", () => {
  const fields = formFields(form({
    a: { type: "string", minLength: 2, maxLength: 4, default: "abc" },
    b: { type: "string", oneOf: [{ const: "x", title: "Ex" }, { const: "y" }], default: "z" },
    c: { type: "array", items: { anyOf: [{ const: "x", title: "Ex" }] }, minItems: 1 },
    d: { type: "array", items: { type: "string", enum: ["x"] } },
  }, ["a"]));
  assert.deepEqual(fields?.map(({ name, kind, isRequired, initial }) => [name, kind, isRequired, initial]), [
    ["a", "text", true, "abc"],
    ["b", "choice", false, null],
    ["c", "choices", false, null],
    ["d", "choices", false, null],
  ]);
  assert.deepEqual(fields?.[1]?.options, [{ value: "x", title: "Ex" }, { value: "y", title: "y" }]);
  const many = Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`f${at}`, { type: "boolean" }]));
  for (const properties of [{ a: { type: "object" } }, { a: { type: "array" } }, { a: 1 }, { a: {} }, many]) {
    assert.equal(formFields(form(properties)), null);
  }
  assert.equal(formFields({ message: "?" }), null);
  assert.deepEqual(formFields(form({})), []);
});

test("N-030 contentProblem() names the field and the bound that a value breaks", () => {
  const asked = form({
    text: { type: "string", minLength: 2, maxLength: 3 },
    uri: { type: "string", format: "uri" },
    day: { type: "string", format: "date" },
    time: { type: "string", format: "date-time" },
    some: { type: "array", items: { type: "string", enum: ["a", "b", "c"] }, minItems: 1, maxItems: 2 },
    size: { type: "number", minimum: 0.5, maximum: 1.5 },
  });
  const good = {
    text: "ab",
    uri: "https://a.b/c",
    day: "2026-01-31",
    time: "2026-01-31T10:00:00Z",
    some: ["a"],
    size: 1,
  };
  assert.equal(contentProblem(asked, good), null);
  assert.equal(contentProblem(asked, {}), null);
  const bad: [object, string][] = [
    [{ text: "a" }, "text: It is less than 2 characters"],
    [{ text: "\u{1F600}\u{1F600}" }, ""],
    [{ text: "abcd" }, "text: It is more than 3 characters"],
    [{ text: 1 }, "text: It is no text"],
    [{ uri: "here" }, "uri: It is no address"],
    [{ day: "2026-02-99" }, "day: It is no date: 2026-01-31"],
    [{ time: "10:00" }, "time: It is no date and time"],
    [{ some: ["d"] }, "some: It is none of: a, b, c"],
    [{ some: ["a", "a"] }, "some: It is no list of different choices"],
    [{ some: [] }, "some: It is less than 1 choices"],
    [{ size: 2 }, "size: It is more than 1.5"],
    [{ size: Infinity }, "size: It is no number"],
    [{ __proto__: null, constructor: 1 }, 'The form has no field "constructor"'],
  ];
  for (const [content, problem] of bad) {
    assert.equal(contentProblem(asked, content as Record<string, unknown>), problem === "" ? null : problem);
  }
});

test("N-030 typedValue() reads what a person typed, and leaves an empty field out", () => {
  assert.equal(typedValue({ kind: "text" }, " "), undefined);
  assert.equal(typedValue({ kind: "integer" }, "12"), 12);
  assert.equal(typedValue({ kind: "number" }, "a lot"), "a lot");
  assert.deepEqual(typedValue({ kind: "choices" }, "a, b,"), ["a", "b"]);
});
