import assert from "node:assert/strict";
import { test } from "node:test";
import { Lexer } from "yaml";
import { issuesOf, manifestOf, manifestText, problems } from "../manifest/manifest_text.ts";

test("every syntax error of the YAML is reported with its place", async () => {
  assert.deepEqual(await problems('name: "notes\nversion: [1\n'), ["manifest.yaml_syntax 3:1"]);
  assert.deepEqual(await problems(manifestText("env: {a: 1")), ["manifest.yaml_syntax 8:1"]);
  const [issue] = await issuesOf("a: b: c");
  assert.equal(issue?.message, "Nested mappings are not allowed in compact mappings");
});

test("a text is taken apart into lexemes once, and those are counted before they are parsed", async (t) => {
  const { lex } = Lexer.prototype;
  t.after(() => Lexer.prototype.lex = lex);
  let passes = 0;
  Lexer.prototype.lex = function (...args) {
    passes++;
    return lex.apply(this, args);
  };
  assert.equal((await manifestOf(manifestText())).name, "notes");
  assert.equal(passes, 1);
});

test("a key that stands twice is reported where it stands again", async () => {
  const text = manifestText("env: { A: x, A: y }\nname: other");
  assert.deepEqual(await problems(text), ["manifest.yaml_duplicate_key 7:14", "manifest.yaml_duplicate_key 8:1"]);
});

test("a manifest is one document, and a map", async () => {
  assert.deepEqual(await problems(`${manifestText()}---\nname: second\n`), ["manifest.yaml_documents 8:1"]);
  for (const text of ["", "# only a comment\n", "- name: notes", "notes", "42", "null", "~"]) {
    assert.deepEqual((await issuesOf(text)).map(({ code }) => code), ["manifest.not_a_map"], text);
  }
  assert.equal((await manifestOf(`---\n${manifestText()}...\n`)).name, "notes");
});

test("a tag other than those of plain JSON types is refused", async () => {
  const text = manifestText("env:\n  A: !secret x\n  B: !!binary aGk=\n  C: !!str 1");
  assert.deepEqual(await problems(text), ["manifest.yaml_tag 8:14 env.A", "manifest.yaml_tag 9:15 env.B"]);
});

test("a key is a string", async () => {
  const text = manifestText("env:\n  1: x\n  ? [a]\n  : y\n  : z");
  assert.deepEqual(await problems(text), [
    "manifest.yaml_key 8:3",
    "manifest.yaml_key 9:5",
    "manifest.yaml_key 11:1",
  ]);
});

test("what is wrong with the YAML does not hide what is wrong with the manifest", async () => {
  const text = manifestText("env: { A: !x 1, A: y, LD_X: z }\nhooks: *nothing\nhook_timeout_sec: .inf\ncolour: red");
  assert.deepEqual(await problems(text), [
    "manifest.yaml_tag 7:14 env.A",
    "manifest.yaml_duplicate_key 7:17",
    "manifest.forbidden_env_name 7:23 env.LD_X",
    "manifest.yaml_alias 8:8 hooks",
    "manifest.yaml_number 9:19 hook_timeout_sec",
    "manifest.unknown_key 10:1 colour",
  ]);
});

test("a number is one that JSON can hold", async () => {
  const text = manifestText("health_interval_sec: .inf\nhook_timeout_sec: .nan");
  assert.deepEqual(await problems(text), [
    "manifest.yaml_number 7:22 health_interval_sec",
    "manifest.yaml_number 8:19 hook_timeout_sec",
  ]);
});

test("an alias stands for a copy of what it points at", async () => {
  const schema = "{ type: object, properties: { q: { type: string } } }";
  const manifest = await manifestOf(manifestText(`config_schema: &s ${schema}
tools:
  - { name: find, description: Finds, parameters_schema: *s }`));
  assert.deepEqual(manifest.tools[0]?.parameters_schema, manifest.config_schema);
  assert.notEqual(manifest.tools[0]?.parameters_schema, manifest.config_schema);
});

test("an alias that points at nothing, or at itself, is refused", async () => {
  assert.deepEqual(await problems(manifestText("env: *nothing")), ["manifest.yaml_alias 7:6 env"]);
  assert.deepEqual(await problems(manifestText("env: &e { A: *e }")), ["manifest.yaml_alias 7:14 env.A"]);
  assert.deepEqual(await problems(manifestText("hooks: &h [*h, *h]")), [
    "manifest.yaml_alias 7:12 hooks[0]",
    "manifest.yaml_alias 7:16 hooks[1]",
  ]);
});

test("aliases that unfold to millions of values are cut short", async () => {
  const names = [..."abcdefghij"];
  const lines = names.map((name, index) => {
    const below = index === 0 ? "x" : `*${names[index - 1]}`;
    return `${name}: &${name} [${Array(9).fill(below).join(", ")}]`;
  });
  const [issue, ...others] = await issuesOf(lines.join("\n"));
  assert.deepEqual([issue?.code, others.length], ["manifest.too_large", 0]);
});

test("a text with more levels than a manifest needs is refused before it is parsed", async () => {
  const deep = 100_000;
  const nestings = ["[", "{", "- ", "? ", ": ", "{a: ", "[? ", "a: b: "];
  for (const nesting of nestings) {
    const [issue, ...others] = await issuesOf(nesting.repeat(deep / nesting.length));
    assert.deepEqual([issue?.code, others.length], ["manifest.too_deep", 0], nesting);
  }
  const stairs = Array.from({ length: 400 }, (_, indent) => `${" ".repeat(indent)}a:`).join("\n");
  assert.deepEqual(await problems(stairs), ["manifest.too_deep 128:129"]);
  const schema = (levels: number) => `${"{ not: ".repeat(levels)}true${" }".repeat(levels)}`;
  const config = (levels: number) =>
    manifestText(`config_schema: { type: object, properties: { a: ${schema(levels)} } }`);
  assert.deepEqual(await problems(config(61)), []);
  const [tooDeep] = await issuesOf(config(62));
  assert.equal(tooDeep?.code, "manifest.too_deep");
});

test("a long manifest is not a deep one", async () => {
  const tools = Array.from({ length: 100 }, (_, index) =>
    `  - name: tool_${index}
    description: |
      Does ${index}
    parameters_schema:
      type: object
      properties:
        a: { type: array, items: { enum: [${Array(40).fill("x").join(", ")}] } }`);
  const { tools: read } = await manifestOf(manifestText(`tools:\n${tools.join("\n")}`));
  assert.equal(read.length, 100);
  const methods = Array.from({ length: 300 }, (_, index) => `  - a.m${index} # ${"- ".repeat(200)}`);
  assert.equal((await manifestOf(manifestText(`methods:\n${methods.join("\n")}`))).methods.length, 300);
});

test("brackets and dashes inside texts are no levels", async () => {
  const noise = "[{- ".repeat(200);
  const text = manifestText(
    `env:\n  A: "${noise}"\n  B: '${noise}'\n  C: |\n    ${noise}\n    - - - -\n  D: x${noise}x`,
  );
  assert.deepEqual(await problems(text), []);
});

test("a text with more parts than a manifest needs is refused before it is parsed", async () => {
  for (const part of ["\n", "a\n", "#\n", ",", "]", '"', "&a ", "*a : x\n"]) {
    const text = part.repeat(Math.floor(250_000 / part.length));
    const codes = (await issuesOf(text)).map(({ code }) => code);
    assert.equal(codes.length, 1, part);
    assert.ok(
      ["manifest.too_large", "manifest.not_a_map", "manifest.yaml_syntax"].includes(codes[0]!),
      `${part} ${codes}`,
    );
  }
});

test("a manifest is plain data, whatever its keys are called", async () => {
  const text = manifestText(
    "config_schema:\n  type: object\n  properties:\n    constructor: { type: string }\n    a: {}",
  );
  const { config_schema: schema } = await manifestOf(text);
  const properties = schema?.properties as object;
  assert.ok(Object.hasOwn(properties, "constructor"));
  assert.equal(Object.getPrototypeOf(properties), Object.prototype);
  const trap = manifestText("env:\n  __proto__: x\nknobs:\n  constructor: {}\n__proto__: { polluted: true }");
  assert.deepEqual(await problems(trap), [
    "manifest.forbidden_key 8:3 env.__proto__",
    "manifest.forbidden_key 10:3 knobs.constructor",
    "manifest.forbidden_key 11:1 __proto__",
  ]);
  assert.deepEqual(await problems(manifestText("env: { constructor: x, prototype: y }")), [
    "manifest.forbidden_key 7:8 env.constructor",
    "manifest.forbidden_key 7:24 env.prototype",
  ]);
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

test("places count from 1, past byte order marks and carriage returns", async () => {
  assert.deepEqual(await problems(manifestText("colour: red").replaceAll("\n", "\r\n")), [
    "manifest.unknown_key 7:1 colour",
  ]);
  const [issue] = await issuesOf(`\ufeff${manifestText("colour: red")}`);
  assert.deepEqual([issue?.code, issue?.line, issue?.column], ["manifest.unknown_key", 7, 1]);
});
