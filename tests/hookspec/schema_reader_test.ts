import assert from "node:assert/strict";
import { test } from "node:test";
import { issuesOf, kindOf, problems, schemaText, withInput, withOutput } from "./sample_hookspec.ts";

const shapeOf = async (schema: unknown) => (await kindOf(withOutput(schema))).types.at(-1)?.shape;

test("D-001 payloads are JSON Schema: every supported form becomes a type", async () => {
  assert.deepEqual(await shapeOf({}), { type: "any" });
  assert.deepEqual(await shapeOf(true), { type: "any" });
  assert.deepEqual(await shapeOf({ type: "string", minLength: 1, maxLength: 9, format: "date" }), {
    type: "string",
    minLength: 1,
    maxLength: 9,
    format: "date",
  });
  assert.deepEqual(await shapeOf({ enum: ["a", "b"] }), { type: "string", values: ["a", "b"] });
  assert.deepEqual(await shapeOf({ const: "a", type: "string" }), { type: "string", values: ["a"] });
  assert.deepEqual(await shapeOf({ type: ["integer", "null"], minimum: 0, maximum: 9 }), {
    type: "union",
    options: [{ type: "integer", minimum: 0, maximum: 9 }, { type: "null" }],
  });
  assert.deepEqual(await shapeOf({ type: "array", items: { type: "boolean" }, maxItems: 3 }), {
    type: "list",
    items: { type: "boolean" },
    maxItems: 3,
  });
  assert.deepEqual(await shapeOf({ type: "object", additionalProperties: { type: "number" } }), {
    type: "map",
    values: { type: "number" },
  });
  assert.deepEqual(await shapeOf({ anyOf: [{ type: "null" }, { anyOf: [{ type: "string" }, { type: "boolean" }] }] }), {
    type: "union",
    options: [{ type: "null" }, { type: "string" }, { type: "boolean" }],
  });
});

test("D-001 an object within an object gets a name of its own, before the type it is part of", async () => {
  const { types } = await kindOf(withOutput({
    type: "object",
    additionalProperties: false,
    properties: { tool: { type: "object", description: "A\n  tool.", properties: { id: { type: "integer" } } } },
  }));
  assert.deepEqual(types.slice(1), [
    {
      name: "GreetOutputTool",
      description: "A tool.",
      shape: {
        type: "record",
        isOpen: true,
        fields: [{ name: "id", description: "", isRequired: false, type: { type: "integer" } }],
      },
    },
    {
      name: "GreetOutput",
      description: "",
      shape: {
        type: "record",
        isOpen: false,
        fields: [{
          name: "tool",
          description: "A tool.",
          isRequired: false,
          type: { type: "named", name: "GreetOutputTool" },
        }],
      },
    },
  ]);
});

test("D-001 a reference leads to a file or a definition of the hookspec, and one type has one name", async () => {
  const person = schemaText({ $defs: { full_name: { type: "string" } }, type: "object", properties: {} });
  const { types } = await kindOf(withOutput({
    type: "object",
    properties: {
      first: { $ref: "person.json", description: "One." },
      second: { $ref: "./../schemas/person.json#" },
      name: { $ref: "person.json#/$defs/full_name" },
      own: { $ref: "#/$defs/Own" },
    },
    $defs: { Own: { type: "boolean" } },
  }, { "kinds/greeter/schemas/person.json": person }));
  assert.deepEqual(types.map(({ name }) => name), ["GreetInput", "Person", "FullName", "Own", "GreetOutput"]);
});

test("D-001 a schema that is missing, outside, dangling or endless is refused with its place", async () => {
  const cases: readonly (readonly [string, string])[] = [
    ["nobody.json", "hookspec.schema_missing greet.output.json:2:11 $ref"],
    ["../v1.yaml", "hookspec.schema_missing greet.output.json:2:11 $ref"],
    ["../../../../outside.json", "hookspec.schema_outside greet.output.json:2:11 $ref"],
    ["https://example.com/a.json", "hookspec.schema_outside greet.output.json:2:11 $ref"],
    ["file:///etc/passwd", "hookspec.schema_outside greet.output.json:2:11 $ref"],
    ["/etc/passwd", "hookspec.schema_outside greet.output.json:2:11 $ref"],
    ["#/$defs/none", "hookspec.reference_dangling greet.output.json:2:11 $ref"],
    ["#/properties/a", "hookspec.reference_dangling greet.output.json:2:11 $ref"],
    ["greet.output.json", "hookspec.recursive_schema greet.output.json:1:1"],
    ["#", "hookspec.recursive_schema greet.output.json:1:1"],
  ];
  for (const [$ref, expected] of cases) assert.deepEqual(await problems(withOutput({ $ref })), [expected], $ref);
  const circle = withOutput({ $ref: "a.json" }, {
    "kinds/greeter/schemas/a.json": schemaText({ type: "array", items: { $ref: "b.json" } }),
    "kinds/greeter/schemas/b.json": schemaText({ type: "array", items: { $ref: "a.json" } }),
  });
  assert.match((await problems(circle)).join(), /hookspec.recursive_schema a.json:1:1/);
});

test("D-001 a hook that names no schema, or one outside, is refused where it is named", async () => {
  const named = (path: string) => {
    const texts = withOutput({ type: "string" });
    texts.set("kinds/greeter/v1.yaml", texts.get("kinds/greeter/v1.yaml")!.replace("schemas/greet.input.json", path));
    return problems(texts);
  };
  assert.deepEqual(await named("schemas/none.json"), ["hookspec.schema_missing v1.yaml:8:19 hooks[0].input_schema"]);
  assert.deepEqual(await named("../../../x.json"), ["hookspec.schema_outside v1.yaml:8:19 hooks[0].input_schema"]);
});

test("D-001 a keyword that some language cannot carry is refused, never dropped", async () => {
  for (
    const keyword of [
      "oneOf",
      "allOf",
      "not",
      "if",
      "pattern",
      "patternProperties",
      "uniqueItems",
      "multipleOf",
      "$id",
      "$anchor",
    ]
  ) {
    const [issue] = await issuesOf(withOutput({ [keyword]: [] }));
    assert.deepEqual([issue?.code, issue?.line, issue?.path], ["hookspec.unsupported_keyword", 2, keyword]);
  }
  const [issue] = await issuesOf(withOutput({ oneOf: [] }));
  assert.equal(issue?.hint, "Use anyOf");
});

test("D-001 a schema that says nothing clear is refused", async () => {
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ $schema: "http://json-schema.org/draft-07/schema#" }, /invalid_schema.* \$schema/],
    [{ type: "text" }, /invalid_schema.* type/],
    [{ properties: {} }, /invalid_schema.* properties/],
    [{ type: "string", minimum: 1 }, /invalid_schema.* minimum/],
    [{ type: "string", minLength: -1 }, /invalid_schema.* minLength/],
    [{ type: "string", minLength: "1" }, /invalid_schema.* minLength/],
    [{ type: "integer", minimum: 5, maximum: 4 }, /invalid_schema.* minimum/],
    [{ type: "string", minLength: 2, maxLength: 1 }, /invalid_schema.* minLength/],
    [{ type: "array", minItems: 2, maxItems: 1 }, /invalid_schema.* minItems/],
    [{ type: "string", format: 7 }, /invalid_schema.* format/],
    [{ type: "boolean", format: "date" }, /invalid_schema.* format/],
    [{ anyOf: [{ type: "string" }], format: "date" }, /invalid_schema.* format/],
    [{ type: "object", properties: {}, required: ["name"] }, /invalid_schema.* required/],
    [{ type: "object", properties: {}, additionalProperties: {} }, /invalid_schema.* additionalProperties/],
    [{ type: ["object", "null"], properties: {} }, /invalid_schema.* type/],
    [{ type: "object", properties: [] }, /invalid_schema.* properties/],
    [{ type: [] }, /invalid_schema.* type/],
    [{ type: ["string", "string"] }, /invalid_schema.* type/],
    [{ enum: ["a", 1] }, /invalid_schema/],
    [{ enum: ["\ud800"] }, /invalid_schema/],
    [{ enum: [] }, /invalid_schema/],
    [{ enum: ["a", "a"] }, /invalid_schema/],
    [{ const: 1 }, /invalid_schema/],
    [{ anyOf: [] }, /invalid_schema.* anyOf/],
    [{ $ref: "a.json", type: "string" }, /invalid_schema.* type/],
    [{ $ref: 7 }, /invalid_schema.* \$ref/],
    [{ description: 7 }, /invalid_schema.* description/],
    [false, /invalid_schema/],
    ["string", /invalid_schema/],
    [null, /invalid_schema/],
  ];
  for (const [schema, expected] of cases) {
    const found = await problems(withOutput(schema));
    assert.match(found.join(), expected, JSON.stringify(schema));
  }
});

test("N-039 a default stands at a field, is of its type, and is refused anywhere else", async () => {
  const fieldsOf = async (properties: unknown) => {
    const shape = await shapeOf({ type: "object", properties });
    return shape?.type === "record" ? shape.fields.map((field) => field.default) : [];
  };
  const given = { a: { type: "integer", default: 0 }, b: { type: ["string", "null"], default: null }, c: {} };
  assert.deepEqual(await fieldsOf(given), [0, null, undefined]);
  const wrong: readonly (readonly [Record<string, unknown>, unknown])[] = [
    [{ type: "integer" }, 1.5],
    [{ type: "integer", minimum: 1 }, 0],
    [{ type: "boolean" }, 1],
    [{ type: "string", minLength: 1 }, ""],
    [{ enum: ["a"] }, "b"],
    [{ type: "array", items: { type: "string" } }, [1]],
    [{ type: "object", additionalProperties: { type: "number" } }, { a: "1" }],
    [{ anyOf: [{ type: "null" }, { type: "number" }] }, "x"],
    [{ type: "object", properties: { x: {} }, required: ["x"], additionalProperties: false }, { y: 1 }],
    [{ $ref: "greet.input.json" }, {}],
  ];
  for (const [schema, value] of wrong) {
    const found = await problems(withOutput({ type: "object", properties: { a: { ...schema, default: value } } }));
    assert.match(found.join(), /^hookspec.invalid_schema .* properties.a.default$/, JSON.stringify(schema));
  }
  for (const schema of [{ type: "string", default: "x" }, { type: "array", items: { default: 1 } }]) {
    assert.match((await problems(withOutput(schema))).join(), /hookspec.unsupported_keyword .*default$/);
  }
});

test("D-001 what a hook takes is an object with known fields, as params are", async () => {
  for (const schema of [{ type: "string" }, { type: "object" }, {}, { anyOf: [{ type: "null" }] }]) {
    assert.match((await problems(withInput(schema))).join(), /hookspec.invalid_schema v1.yaml:8:19/);
  }
});

test("D-007 a field that no language could call by its name is refused", async () => {
  const field = (name: string) => problems(withInput({ type: "object", properties: { [name]: {} } }));
  for (const name of ["from", "schema", "json", "copy", "constructor", "toString", "str", "model_dump"]) {
    assert.match((await field(name)).join(), /hookspec.reserved_name greet.input.json:4:/, name);
  }
  for (const name of ["Name", "a-b", "a b", "_context", "a__b", "", "größe", "1a"]) {
    assert.match((await field(name)).join(), /hookspec.invalid_name/, name);
  }
  const twice = withInput({ type: "object", properties: { session_id: {}, sessionId: {} } });
  assert.deepEqual(await problems(twice), ["hookspec.name_taken greet.input.json:5:18 properties.sessionId"]);
});

test("D-007 a type that would hide another name is refused", async () => {
  const named = (name: string) =>
    problems(withOutput({ $ref: `#/$defs/${name}`, $defs: { [name]: { type: "string" } } }));
  for (const name of ["None", "list", "hook_metadata", "greeter_plugin", "Kind"]) {
    assert.match((await named(name)).join(), /hookspec.reserved_name greet.output.json/, name);
  }
  assert.match((await named("greet_input")).join(), /hookspec.name_taken greet.output.json/);
});

test("D-001 a schema file holds JSON, whatever its indentation, and nothing else", async () => {
  const text = (json: string) => {
    const texts = withOutput({});
    return texts.set("kinds/greeter/schemas/greet.output.json", json);
  };
  assert.deepEqual(await problems(text('{\n\t"type":\t"string"\r\n}\n')), []);
  assert.deepEqual(await problems(text("type: string\n")), ["hookspec.json_syntax greet.output.json:1:1"]);
  assert.match((await problems(text('{ "type": "string" '))).join(), /hookspec.json_syntax greet.output.json:1:/);
  assert.match((await problems(text('{"type": "string",\n "type": "null"}'))).join(), /hookspec.duplicate_key/);
  assert.match((await problems(text(`${"[".repeat(500)}${"]".repeat(500)}`))).join(), /hookspec.too_deep/);
});
