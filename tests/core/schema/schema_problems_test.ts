import assert from "node:assert/strict";
import { test } from "node:test";
import { compileSchema } from "../../../src/core/schema/compile_schema.ts";
import { schemaProblems } from "../../../src/core/schema/schema_problems.ts";
import { formatPath } from "../../../src/core/documents/document_report.ts";
import fc from "../../support/fast_check.ts";

const problems = async (schema: unknown) =>
  (await schemaProblems(schema)).map(({ path, message }) => `${formatPath(path)}: ${message}`);

test("a schema with references inside itself, anchors and recursion has no problem", async () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "https://example.com/tree",
    type: "object",
    title: "A tree",
    properties: { left: { $ref: "#" }, right: { $ref: "#/$defs/a%25b~1c" }, named: { $ref: "#name" } },
    $defs: { "a%b/c": { type: "null" }, x: { $anchor: "name", type: "string" } },
    "x-note": { anything: ["goes"] },
  };
  assert.deepEqual(await problems(schema), []);
  assert.deepEqual(await problems(true), []);
});

test("a reference that leads out of the schema is refused: nothing is fetched", async () => {
  for (const reference of ["https://example.com/s.json", "other.json#/a", "file:///etc/passwd", "/x", "urn:a:b", ""]) {
    const [problem] = await problems({ properties: { a: { $ref: reference } } });
    assert.match(problem ?? "", /^properties\.a\.\$ref: Reference ".*" leads out of the schema$/);
  }
});

test("a reference that leads to nothing is refused", async () => {
  const dangling = ["#/$defs/none", "#none", "#/properties", "#/title", "#/$defs/a/b", "#/%zz", "#/allOf/1"];
  for (const reference of dangling) {
    const [problem] = await problems({ title: "x", $ref: reference, $defs: { a: {} }, properties: {}, allOf: [{}] });
    assert.match(problem ?? "", /^\$ref: Reference ".*" leads to nothing$/, reference);
  }
  assert.deepEqual(await problems({ $ref: 5 }), ["$ref: A reference is not a text"]);
});

test("names that change what references mean are refused", async () => {
  assert.deepEqual(await problems({ properties: { a: { $id: "https://example.com/a" } } }), [
    "properties.a.$id: Only the root of a schema may have an $id",
  ]);
  assert.deepEqual(await problems({ $defs: { a: { $anchor: "x" }, b: { $anchor: "x" } } }), [
    '$defs.b.$anchor: Anchor "x" stands twice',
  ]);
  for (const keyword of ["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor", "$vocabulary"]) {
    assert.deepEqual(await problems({ [keyword]: "#x" }), [`${keyword}: Keyword "${keyword}" is not taken here`]);
  }
});

test("another dialect is refused", async () => {
  for (const dialect of ["http://json-schema.org/draft-07/schema#", "https://example.com/mine", 7]) {
    assert.equal((await problems({ $schema: dialect })).length, 1, String(dialect));
  }
  assert.equal(
    (await problems({ properties: { a: { $schema: "https://json-schema.org/draft/2020-12/schema" } } })).length,
    1,
  );
});

test("a schema that refers to itself about the same value is refused", async () => {
  const endless = "The schema refers to itself about the same value, without an end";
  assert.deepEqual(await problems({ $ref: "#" }), [`: ${endless}`]);
  assert.deepEqual(await problems({ allOf: [{ anyOf: [{ not: { $ref: "#" } }] }] }), [`: ${endless}`]);
  assert.deepEqual(await problems({ $defs: { a: { $ref: "#/$defs/b" }, b: { if: { $ref: "#/$defs/a" } } } }), [
    `$defs.a: ${endless}`,
  ]);
  assert.deepEqual(await problems({ dependentSchemas: { x: { $ref: "#" } } }), [`: ${endless}`]);
});

test("a chain of references without an end in sight is refused", async () => {
  const $defs: Record<string, unknown> = { d0: {} };
  for (let index = 1; index <= 70; index++) $defs[`d${index}`] = { $ref: `#/$defs/d${index - 1}` };
  assert.equal((await problems({ $defs, $ref: "#/$defs/d70" })).length, 1);
  assert.deepEqual(await problems({ $defs: { a: { $ref: "#/$defs/b" }, b: {} }, $ref: "#/$defs/a" }), []);
});

test("a pattern that cannot be run in linear time is refused, where it stands", async () => {
  for (const source of ["(?=a)", "(?<!a)b", "(a)\\1", "((a{100}){100}){100}", "(", "a".repeat(1001)]) {
    assert.equal((await problems({ properties: { a: { pattern: source } } })).length, 1, source);
    const [problem] = await schemaProblems({ patternProperties: { [source]: {} } });
    assert.deepEqual(problem?.path, ["patternProperties", source]);
  }
});

test("a keyword that is not what it should be is refused", async () => {
  const wrong: Record<string, unknown>[] = [
    { type: "strin" },
    { type: ["string", 3] },
    { enum: "x" },
    { required: "a" },
    { required: [1] },
    { minimum: "1" },
    { multipleOf: 0 },
    { maxLength: -1 },
    { maxLength: 1.5 },
    { minContains: "a" },
    { uniqueItems: 3 },
    { properties: [] },
    { properties: { a: 3 } },
    { items: [] },
    { allOf: {} },
    { anyOf: [] },
    { not: null },
    { additionalProperties: "no" },
    { dependentRequired: 3 },
    { pattern: 3 },
  ];
  for (const schema of wrong) assert.ok((await problems(schema)).length > 0, JSON.stringify(schema));
});

test("a schema that is too large, too deep or too wide is refused before it is walked", async () => {
  const deep = Array.from({ length: 100 }).reduce<unknown>((inner) => ({ items: inner }), {});
  assert.deepEqual(await problems(deep), [": The schema is nested too deeply"]);
  const wide = { properties: Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, {}])) };
  assert.deepEqual(await problems(wide), [": The schema has too many parts"]);
  assert.deepEqual(await problems({ description: "x".repeat(200_000) }), [": The schema is larger than 131072 bytes"]);
});

test("what is no schema at all is refused", async () => {
  for (const schema of [null, 3, "x", [], undefined]) assert.equal((await problems(schema)).length, 1, String(schema));
});

test("any JSON is a schema without problems that compiles, or has problems that say where", async () => {
  const keyword = fc.constantFrom(
    "type",
    "$ref",
    "allOf",
    "items",
    "properties",
    "pattern",
    "$defs",
    "enum",
    "not",
    "if",
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom<unknown>(true, 1, "#", "string", "#/$defs/a", null, "^a+$", {}),
      fc.array(tie("tree"), { maxLength: 3 }),
      fc.dictionary(fc.oneof(keyword, fc.constant("a")), tie("tree"), { maxKeys: 4 }),
    ),
  }));
  await fc.assert(fc.asyncProperty(tree, async (schema) => {
    const found = await schemaProblems(schema);
    for (const { message } of found) assert.ok(message.length > 0);
    if (found.length > 0 || typeof schema !== "object") return;
    const { issues, withDefaults } = await compileSchema(schema as Record<string, unknown>);
    issues(withDefaults({ a: [{ a: 1 }] }));
  }));
});
