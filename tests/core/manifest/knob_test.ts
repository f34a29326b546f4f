import assert from "node:assert/strict";
import { test } from "node:test";
import { doubts, issuesOf, manifestOf, manifestText, problems } from "./manifest_text.ts";

/** A manifest with one knob `k` on line 11, bound to `config.field`, whose schema is `field`. */
const withKnob = (knob: string, field = "{}") =>
  manifestText(`config_schema:
  type: object
  properties: { field: ${field} }
knobs:
  k: { label: L, binds_to: config.field, ${knob} }`);

/** The column at which the text of a knob starts. */
const START = 42;

test("K-037 every type of knob has its own fields", async () => {
  const knobs = [
    "type: range, min: 0, max: 1, step: 0.1, default: 0.5",
    "type: int_range, min: 1, max: 20, step: 1, default: 3",
    "type: int_range, min: 1, max: 2, step: 1, default: 1",
    "type: int_range, min: 1, max: 2, step: 1, default: 2",
    "type: enum, values: [low, mid], default: mid, labels: { low: Low }",
    "type: boolean, default: true",
    'type: text, default: x, max_length: 1, pattern: "^x+$"',
    'type: multiline, default: "a\\nb", max_length: 10',
    "type: model_alias, default: null, filter: reasoning",
    "type: model_alias, default: fast-one",
    'type: path, default: "config:/memory", prefixes: ["config:", "project:"], must_exist: true',
  ];
  for (const knob of knobs) assert.deepEqual(await problems(withKnob(knob)), [], knob);
  const { knobs: read } = await manifestOf(withKnob("type: boolean, default: true, description: D"));
  assert.deepEqual(read, {
    k: { type: "boolean", label: "L", description: "D", binds_to: "config.field", default: true },
  });
});

test("K-037 a knob has the fields of its type, and no other", async () => {
  const missing: [string, string[]][] = [
    ["range", ["min", "max", "step", "default"]],
    ["int_range", ["min", "max", "step", "default"]],
    ["enum", ["values", "default"]],
    ["boolean", ["default"]],
    ["text", ["default"]],
    ["multiline", ["default"]],
    ["model_alias", ["default"]],
    ["path", ["default", "prefixes"]],
  ];
  for (const [type, fields] of missing) {
    const issues = await problems(withKnob(`type: ${type}`));
    assert.deepEqual(issues, fields.map((field) => `manifest.missing_field 11:6 knobs.k.${field}`), type);
  }
  assert.deepEqual(await problems(withKnob("type: boolean, default: true, min: 1")), [
    `manifest.unknown_key 11:${START + 30} knobs.k.min`,
  ]);
  const [unknown] = await issuesOf(withKnob("type: int-range", "{ type: string }"));
  assert.deepEqual([unknown?.code, unknown?.path, unknown?.hint], [
    "manifest.unknown_knob_type",
    "knobs.k.type",
    'Did you mean "int_range"?',
  ]);
  const unlisted = await problems(withKnob("type: enum, values: x, default: a", "{ type: string, enum: [a] }"));
  assert.deepEqual(unlisted, [`manifest.wrong_type 11:${START + 20} knobs.k.values`]);
  const untyped = await problems(manifestText("knobs: { k: { label: L, binds_to: config.a } }"));
  assert.deepEqual(untyped, [
    "manifest.missing_field 7:13 knobs.k.type",
    "manifest.unknown_knob_target 7:35 knobs.k.binds_to",
  ]);
});

test("K-038 a knob has a slug, a short label and a short description", async () => {
  const more = `config_schema: { type: object, properties: { a: {} } }
knobs:
  Bad-Name: { type: boolean, default: true, label: L, binds_to: config.a }
  good: { type: boolean, default: true, label: "${"l".repeat(65)}", binds_to: config.a, description: ${
    "d".repeat(281)
  } }`;
  const issues = await issuesOf(manifestText(more));
  assert.deepEqual(issues.map(({ code, line, path }) => `${code} ${line} ${path}`), [
    "manifest.invalid_knob_name 9 knobs.Bad-Name",
    "manifest.invalid_knob_label 10 knobs.good.label",
    "manifest.invalid_knob_description 10 knobs.good.description",
  ]);
});

test("K-037 a knob's bounds and default agree", async () => {
  const wrong: [string, string, string][] = [
    ["type: range, max: 1, min: 1, step: 1, default: 1", "invalid_knob_bounds", "max"],
    ["type: range, max: 1, min: 0, step: 0, default: 1", "invalid_knob_bounds", "step"],
    ["type: range, max: 1, min: 0, step: 2, default: 1", "invalid_knob_bounds", "step"],
    ["type: range, max: 1, min: 0, step: 1, default: 1.1", "invalid_knob_default", "default"],
    ["type: range, max: 1, min: 0, step: 1, default: -0.1", "invalid_knob_default", "default"],
    ["type: range, max: 1, min: 0, step: 1, default: x", "wrong_type", "default"],
    ["type: int_range, max: 9, min: 0.5, step: 1, default: 1", "invalid_knob_bounds", "min"],
    ["type: int_range, max: 9, min: 1, step: 1, default: 10", "invalid_knob_default", "default"],
    ["type: enum, values: [], default: a", "invalid_knob_values", "values"],
    ["type: enum, values: [a, a], default: a", "invalid_knob_values", "values[1]"],
    ['type: enum, values: [a, ""], default: a', "invalid_knob_values", "values[1]"],
    ["type: enum, values: [a, b], default: c", "invalid_knob_default", "default"],
    ["type: enum, values: [a], default: a, labels: { b: B }", "invalid_knob_labels", "labels.b"],
    ["type: enum, values: [a], default: a, labels: [a]", "wrong_type", "labels"],
    ['type: boolean, default: "yes"', "wrong_type", "default"],
    ["type: text, default: abc, max_length: 2", "invalid_knob_default", "default"],
    ["type: text, default: abc, max_length: 0", "invalid_knob_bounds", "max_length"],
    ['type: text, default: "a\\nb"', "invalid_knob_default", "default"],
    ['type: text, default: a, pattern: "("', "invalid_knob_pattern", "pattern"],
    [`type: text, default: a, pattern: "${"(".repeat(200)}"`, "invalid_knob_pattern", "pattern"],
    [`type: text, default: a, pattern: ${"a".repeat(201)}`, "invalid_knob_pattern", "pattern"],
    ["type: multiline, default: abc, max_length: 2", "invalid_knob_default", "default"],
    ["type: model_alias, default: null, filter: slow", "wrong_type", "filter"],
    ["type: path, default: 'config:/a', prefixes: []", "invalid_knob_prefixes", "prefixes"],
    ["type: path, default: 'config:/a', prefixes: ['config:', 'config:']", "invalid_knob_prefixes", "prefixes"],
    ["type: path, default: 'config:/a', prefixes: ['config:', 'home:']", "invalid_knob_prefixes", "prefixes[1]"],
    ["type: path, default: 'config:/a', prefixes: ['project:']", "invalid_knob_default", "default"],
    ["type: path, default: '/etc', prefixes: ['config:']", "invalid_knob_default", "default"],
    ["type: path, default: 'config:/../a', prefixes: ['config:']", "invalid_knob_default", "default"],
  ];
  for (const [knob, code, field] of wrong) {
    const issues = (await issuesOf(withKnob(knob))).filter(({ path }) => path === `knobs.k.${field}`);
    assert.deepEqual(issues.map(({ code }) => code), [`manifest.${code}`], knob);
    const name = /\w+/.exec(field)![0];
    assert.equal(issues[0]!.line, 11);
    assert.ok(issues[0]!.column >= START + knob.indexOf(`${name}:`), knob);
  }
});

test("K-038 a knob's pattern runs in linear time, and its default matches it", async () => {
  const hostile = (start: string) => withKnob(`type: text, default: "${start}", pattern: "^(a+)+$"`);
  assert.deepEqual(await problems(hostile("a".repeat(10_000))), []);
  const [problem] = await problems(hostile(`${"a".repeat(10_000)}!`));
  assert.match(problem ?? "", /^manifest\.invalid_knob_default \S+ knobs\.k\.default$/);
});

test("K-038 a knob's pattern that cannot run in linear time is refused", async () => {
  for (const pattern of ["(?=a)", "(a)\\\\1", "(", "((a{100}){100}){100}"]) {
    const [problem] = await problems(withKnob(`type: text, default: a, pattern: "${pattern}"`));
    assert.match(problem ?? "", /^manifest\.invalid_knob_pattern \S+ knobs\.k\.pattern$/, pattern);
  }
});

test("K-038 a knob binds to a field of config_schema", async () => {
  const bound = (target: string) => `  k: { label: L, type: boolean, default: true, binds_to: ${target} }`;
  const text = (target: string) =>
    manifestText(`config_schema: { type: object, properties: { a: { type: boolean }, "b.c": {} } }
system_config_schema: { type: object, properties: { token: {} } }
knobs:
${bound(target)}`);
  for (const target of ["config.a", "config.b.c"]) assert.deepEqual(await problems(text(target)), [], target);
  for (const target of ["config.z", "config.a.b", "config.", "config", "a", "config.constructor", "project.a"]) {
    assert.deepEqual(await problems(text(target)), ["manifest.unknown_knob_target 10:58 knobs.k.binds_to"], target);
  }
  for (const target of ["system_config.token", "config.token", "system_config.a"]) {
    const issues = await problems(text(target));
    assert.deepEqual(issues, ["manifest.knob_binds_to_system_config 10:58 knobs.k.binds_to"], target);
  }
});

test("K-038 a knob and a field that disagree on their type are a warning", async () => {
  const at = "11:28 knobs.k.binds_to";
  const range = "type: range, min: 0, max: 1, step: 1, default: 0";
  const whole = "type: int_range, min: 0, max: 1, step: 1, default: 0";
  const choice = "type: enum, values: [low, mid], default: low";
  const alias = "type: model_alias, default: null";
  const agreeing: [string, string][] = [
    [range, "{ type: number }"],
    [range, "{}"],
    [range, "true"],
    [whole, "{ type: integer }"],
    [whole, "{ type: number }"],
    [choice, "{ type: string, enum: [mid, low] }"],
    [alias, "{ type: [string, 'null'] }"],
    ["type: text, default: x", "{ type: string }"],
  ];
  for (const [knob, field] of agreeing) assert.deepEqual(await doubts(withKnob(knob, field)), [], `${knob} ${field}`);
  const disagreeing: [string, string][] = [
    [range, "{ type: integer }"],
    [range, "{ type: [string, 'null'] }"],
    [whole, "{ type: string }"],
    [choice, "{ type: string }"],
    [choice, "{ type: string, enum: [low] }"],
    [choice, "{ type: string, enum: [low, mid, high] }"],
    [alias, "{ type: string }"],
    ["type: boolean, default: true", "{ type: string }"],
    ["type: text, default: x", "{ type: number }"],
  ];
  for (const [knob, field] of disagreeing) {
    const warnings = await doubts(withKnob(knob, field));
    assert.deepEqual(warnings, [`manifest.knob_schema_mismatch ${at}`], `${knob} ${field}`);
  }
});

test("two knobs on one field are a warning", async () => {
  const knob = "{ label: L, type: boolean, default: true, binds_to: config.a }";
  const text = manifestText(
    `config_schema: { type: object, properties: { a: {} } }\nknobs:\n  a: ${knob}\n  b: ${knob}`,
  );
  assert.deepEqual(await doubts(text), ["manifest.duplicate_knob_target 10:58 knobs.b.binds_to"]);
});
