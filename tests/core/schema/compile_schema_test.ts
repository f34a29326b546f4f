import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSchema } from "../../../src/core/schema/compile_schema.ts";
import fc from "../../support/fast_check.ts";

const issuesOf = async (schema: Record<string, unknown>, value: unknown) => (await compileSchema(schema)).issues(value);
const messageOf = async (schema: Record<string, unknown>, value: unknown) =>
  (await issuesOf(schema, value))[0]?.message;

test("an issue has the path people write, whatever the keys are called", async () => {
  const schema = {
    properties: {
      tags: { items: { type: "string" } },
      "a/b": { properties: { "c d": { type: "string" } } },
      "~": { type: "string" },
    },
  };
  assert.deepEqual(await issuesOf(schema, { tags: ["x", 7], "a/b": { "c d": 1 }, "~": 0, a: { b: 1 } }), [
    { path: "tags[1]", message: "Expected string, got number" },
    { path: '["a/b"]["c d"]', message: "Expected string, got number" },
    { path: '["~"]', message: "Expected string, got number" },
  ]);
});

test("every kind of issue says what the schema wants", async () => {
  const cases: [Record<string, unknown>, unknown, string][] = [
    [{ type: ["string", "null"] }, [], "Expected string or null, got array"],
    [{ enum: ["low", "mid"] }, "x", 'Is not one of ["low","mid"]'],
    [{ const: 1 }, 2, "Is not 1"],
    [{ pattern: "^a" }, "b", 'Does not match the pattern "^a"'],
    [{ minimum: 1 }, 0, "Is below 1"],
    [{ maximum: 1 }, 2, "Is above 1"],
    [{ exclusiveMinimum: 1 }, 1, "Is not above 1"],
    [{ exclusiveMaximum: 1 }, 1, "Is not below 1"],
    [{ multipleOf: 2 }, 3, "Is no multiple of 2"],
    [{ minLength: 3 }, "ab", "Is shorter than 3"],
    [{ minLength: 1 }, "", "Is empty"],
    [{ maxLength: 1 }, "ab", "Is longer than 1"],
    [{ minItems: 2 }, [1], "Has fewer than 2 items"],
    [{ minItems: 1 }, [], "Has no items"],
    [{ maxItems: 1 }, [1, 2], "Has more than 1 items"],
    [{ uniqueItems: true }, [{ a: 1, b: 2 }, { b: 2, a: 1 }], "Stands twice in its list"],
    [{ minProperties: 1 }, {}, "Has fewer than 1 fields"],
    [{ maxProperties: 0 }, { a: 1 }, "Has more than 0 fields"],
    [{ required: ["a"] }, {}, 'Field "a" is missing'],
    [{ properties: { a: {} }, additionalProperties: false }, { b: 1 }, "Unknown field; fields here: a"],
    [{ anyOf: [{ type: "string" }, { type: "number" }] }, null, "Fits none of the alternatives"],
    [{ oneOf: [{}, {}] }, 1, "Fits more than one of the alternatives"],
    [{ not: {} }, 1, "Is what the schema forbids"],
    [{ properties: { a: false } }, { a: 1 }, "May not be set"],
    [{ contains: { type: "string" } }, [1], "Lacks items the schema asks for"],
  ];
  for (const [schema, value, expected] of cases) assert.equal(await messageOf(schema, value), expected);
});

test("no issue holds anything of the value", async () => {
  const secret = "s3cr3t-value";
  const schemas: Record<string, unknown>[] = [
    { type: "number" },
    { enum: [1] },
    { const: 1 },
    { pattern: "^x$" },
    { maxLength: 1 },
    { not: {} },
    { anyOf: [{ type: "number" }] },
    { oneOf: [{ type: "number" }] },
    { allOf: [{ minLength: 99 }] },
    { errorMessages: { "type-error": "{{value}}" }, type: "number" },
    { $ref: "#/$defs/a", $defs: { a: { type: "boolean" } } },
    { if: true, then: { type: "array" } },
  ];
  for (const schema of schemas) {
    const issues = await issuesOf({ properties: { token: schema } }, { token: secret });
    assert.ok(issues.length > 0);
    assert.ok(!JSON.stringify(issues).includes(secret), JSON.stringify(schema));
  }
});

test("a pattern that stalls other engines is as quick as any: a long text meets it and fails", async () => {
  const schema = { items: { pattern: "^(a+)+$" }, patternProperties: { "^(b+)+$": false } };
  assert.equal(await messageOf(schema, [`${"a".repeat(20_000)}!`]), 'Does not match the pattern "^(a+)+$"');
  assert.deepEqual(await issuesOf(schema, ["a".repeat(20_000)]), []);
  assert.deepEqual(await issuesOf(schema, { [`${"b".repeat(20_000)}!`]: 1 }), []);
  assert.equal((await issuesOf(schema, { [`${"b".repeat(200)}`]: 1 })).length, 1);
});

test("patterns mean what they mean in JavaScript", async () => {
  for (
    const source of ["^\\d+$", "\\s", "^[\\s]$", "\\S", "^\\p{Letter}+$", "\\p{Lu}", "^a.c$", "[^a]", "a|b$", "^$"]
  ) {
    const expected = new RegExp(source, "u");
    for (const text of ["", "1", "a", "É", " ", "\u00a0", "\u2003", "\u000b", "abc", "a\nc", "1२", "xb"]) {
      const fits = (await issuesOf({ pattern: source }, text)).length === 0;
      assert.equal(fits, expected.test(text), `${source} on ${JSON.stringify(text)}`);
    }
  }
});

test("fields with the names of object methods are fields like others", async () => {
  const names = ["constructor", "toString", "hasOwnProperty", "__proto__", "valueOf", "_id", "length"];
  for (const name of names) {
    const value = JSON.parse(`{ ${JSON.stringify(name)}: 1 }`);
    const closed = { properties: { a: {} }, patternProperties: { "^z": {} }, additionalProperties: false };
    assert.equal((await issuesOf(closed, value)).length, 1, name);
    assert.equal((await issuesOf({ additionalProperties: { type: "string" } }, value)).length, 1, name);
    assert.equal((await issuesOf({ properties: {}, unevaluatedProperties: false }, value)).length, 1, name);
    assert.deepEqual(await issuesOf({ properties: { a: {} }, dependentSchemas: { b: false } }, value), [], name);
    assert.equal((await issuesOf({ required: [name] }, {})).length, 1, name);
  }
});

test("a property called __proto__ is checked like any other", async () => {
  const schema = JSON.parse(`{
    "properties": { "__proto__": { "type": "number" }, "a": {} }, "additionalProperties": false, "required": ["__proto__"]
  }`);
  const wrong = [{ path: "__proto__", message: "Expected number, got string" }];
  assert.deepEqual(await issuesOf(schema, JSON.parse('{ "__proto__": "foo" }')), wrong);
  assert.deepEqual(await issuesOf(schema, JSON.parse('{ "__proto__": 1, "a": 2 }')), []);
  assert.equal((await issuesOf(schema, {})).length, 1);
  const both = { ...schema, patternProperties: { "^__proto__$": { minimum: 5 } } };
  assert.equal((await issuesOf(both, JSON.parse('{ "__proto__": 1 }'))).length, 1);
});

test("a schema that doubles its work at every level is given up, and so is a value that does", async () => {
  const $defs: Record<string, unknown> = { d0: { type: "string" } };
  for (let index = 1; index < 40; index++) {
    $defs[`d${index}`] = { allOf: [{ $ref: `#/$defs/d${index - 1}` }, { $ref: `#/$defs/d${index - 1}` }] };
  }
  assert.deepEqual(await issuesOf({ $ref: "#/$defs/d39", $defs }, 1), [{
    path: "",
    message: "Takes too long to check",
  }]);
  const twice = { properties: { a: { allOf: [{ $ref: "#" }, { $ref: "#" }] } } };
  const nested = Array.from({ length: 60 }).reduce<unknown>((value) => ({ a: value }), 1);
  assert.deepEqual(await issuesOf(twice, nested), [{ path: "", message: "Takes too long to check" }]);
});

test("a value nested beyond any use is refused and not walked", async () => {
  const deep = Array.from({ length: 5000 }).reduce<unknown>((value) => [value], 1);
  assert.deepEqual(await issuesOf({ items: { $ref: "#" } }, deep), [{ path: "", message: "Is nested too deeply" }]);
});

test("a long list is checked whole: the work grows with the list and not with its square", async () => {
  const list = Array.from({ length: 20_000 }, (_, index) => ({ id: index }));
  const properties = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, { type: "string" }]));
  const item = { required: ["id"], properties };
  const schema = { uniqueItems: true, items: { $ref: "#/$defs/item" }, $defs: { item } };
  assert.deepEqual(await issuesOf(schema, list), []);
  assert.deepEqual(await issuesOf(schema, [...list, { id: 0 }]), [
    { path: "[20000]", message: "Stands twice in its list" },
  ]);
});

test("defaults fill what is not set, in maps that are there, and make nothing up", async () => {
  const { withDefaults, issues } = await compileSchema({
    properties: {
      budget: { default: "mid" },
      deep: { properties: { n: { default: 1 } } },
      list: { items: { properties: { on: { default: true } } } },
      shared: { $ref: "#/$defs/shared" },
      needed: { type: "string" },
    },
    allOf: [{ properties: { also: { default: [1] } } }],
    required: ["needed"],
    $defs: { shared: { properties: { x: { default: 0 } } } },
  });
  assert.deepEqual(withDefaults({}), { budget: "mid", also: [1] });
  assert.deepEqual(withDefaults({ budget: null, deep: {}, list: [{}, 3], shared: {} }), {
    budget: null,
    deep: { n: 1 },
    list: [{ on: true }, 3],
    shared: { x: 0 },
    also: [1],
  });
  assert.deepEqual(issues(withDefaults({})), [{ path: "needed", message: 'Field "needed" is missing' }]);
});

test("a default is a copy: what one value gets, another does not see", async () => {
  const { withDefaults } = await compileSchema({ properties: { tags: { default: ["a"] } } });
  (withDefaults({}) as { tags: string[] }).tags.push("b");
  assert.deepEqual(withDefaults({}), { tags: ["a"] });
});

test("keywords of the library's own mean nothing", async () => {
  const own = {
    errorMessages: { "type-error": 5 },
    oneOfProperty: "a",
    regexFlags: "q",
    patternExample: 7,
    $dynamicRef: "#",
  };
  assert.deepEqual(await issuesOf({ ...own, type: "string", pattern: "^a" }, 1), [
    { path: "", message: "Expected string, got number" },
  ]);
  assert.deepEqual(await issuesOf({ ...own, oneOf: [{ type: "object" }, { type: "string" }] }, {}), []);
});

test("one schema is compiled once", () => {
  const schema = { type: "object" };
  assert.equal(compileSchema(schema), compileSchema(schema));
});

test("any value meets any of these schemas without a throw", async () => {
  const schema = await compileSchema({
    type: ["object", "array", "string"],
    properties: { a: { $ref: "#" }, b: { enum: [1, "x"] } },
    patternProperties: { "^x": { type: "number" } },
    additionalProperties: { anyOf: [{ type: "null" }, { $ref: "#" }] },
    items: { $ref: "#" },
    uniqueItems: true,
    unevaluatedProperties: false,
  });
  fc.assert(fc.property(fc.jsonValue(), (value) => {
    for (const { path, message } of schema.issues(value)) {
      assert.equal(typeof path, "string");
      assert.ok(message.length > 0);
    }
  }));
});
