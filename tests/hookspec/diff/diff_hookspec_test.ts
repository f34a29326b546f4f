import assert from "node:assert/strict";
import { test } from "node:test";
import { diffHookspecs, type KindDiff } from "../../../src/hookspec/diff/diff_hookspec.ts";
import { parseHookspec } from "../../../src/hookspec/parse_hookspec.ts";
import { changed, KIND_TEXT, ownHookspec, SAMPLE, schemaText } from "../sample_hookspec.ts";

const KIND = "kinds/greeter/v1.yaml";
const OUTPUT = "kinds/greeter/schemas/greet.output.json";

async function diffOf(
  before: Readonly<Record<string, string | null>>,
  after: Readonly<Record<string, string | null>>,
): Promise<KindDiff[]> {
  return diffHookspecs(await parseHookspec(changed(before)), await parseHookspec(changed(after)));
}

/** The changes between two schemas of an answer: `effect path: message`. */
async function between(before: unknown, after: unknown): Promise<string[]> {
  const [diff] = await diffOf({ [OUTPUT]: schemaText(before) }, { [OUTPUT]: schemaText(after) });
  return diff!.changes.map(({ path, effect, message }) => `${effect} ${path}: ${message}`);
}

/** The changes between the sample and an edit of its kind, and the version they ask for. */
async function edited(from: string | RegExp, to: string): Promise<string[]> {
  const [diff] = await diffOf({}, { [KIND]: KIND_TEXT.replace(from, to) });
  return [
    ...diff!.changes.map(({ path, effect, message }) => `${effect} ${path}: ${message}`),
    `needs ${diff!.needed}`,
  ];
}

const object = (properties: Record<string, unknown>, more: Record<string, unknown> = {}) => ({
  type: "object",
  properties,
  ...more,
});

test("D-013 nothing has changed between a hookspec and itself, and no version is asked for", async () => {
  const own = await ownHookspec();
  for (const { changes, from, needed, isEnough } of diffHookspecs(own, own)) {
    assert.deepEqual([changes, needed, isEnough], [[], from, true]);
  }
});

test("D-013 an optional field more is compatible; a required one, or one less, is breaking", async () => {
  const [none, a] = [object({}), object({ a: { type: "string" } })];
  assert.deepEqual(await between(none, a), ["compatible greet.output.a: is new and optional"]);
  assert.deepEqual(await between(none, { ...a, required: ["a"] }), ["breaking greet.output.a: is new and required"]);
  assert.deepEqual(await between(a, none), ["breaking greet.output.a: is gone"]);
  assert.deepEqual(await between(a, { ...a, required: ["a"] }), ["breaking greet.output.a: is required, was optional"]);
  assert.deepEqual(await between({ ...a, required: ["a"] }, a), ["breaking greet.output.a: is optional, was required"]);
});

test("D-013 where no other fields are taken, an optional one more is breaking, and so is opening", async () => {
  const closed = (properties: Record<string, unknown>) => object(properties, { additionalProperties: false });
  assert.deepEqual(await between(closed({}), closed({ a: {} })), [
    "breaking greet.output.a: is new, where no other fields were taken",
  ]);
  assert.deepEqual(await between(closed({}), object({})), ["breaking greet.output: takes other fields now"]);
  assert.deepEqual(await between(object({}), closed({})), ["breaking greet.output: takes no other fields now"]);
});

test("D-013 N-039 choices in another order are no change", async () => {
  const [old, now] = [{ enum: ["a", "b"] }, { enum: ["b", "a"] }];
  assert.deepEqual(await between(old, now), []);
  assert.deepEqual(await between({ anyOf: [{ type: "null" }, old] }, { anyOf: [{ type: "null" }, now] }), []);
});

test("D-013 N-039 another format or default is breaking, a first default is not", async () => {
  const text = (more: Record<string, unknown> = {}) => object({ at: { type: "string", ...more } });
  assert.deepEqual(await between(text(), text({ format: "date" })), [
    "breaking greet.output.at: is string (format date), was string",
  ]);
  assert.deepEqual(await between(text(), text({ default: "x" })), ['compatible greet.output.at: has the default "x"']);
  assert.deepEqual(await between(text({ default: "x" }), text({ default: "y" })), [
    'breaking greet.output.at: its default is "y", was "x"',
  ]);
  assert.deepEqual(await between(text({ default: "x" }), text()), [
    'breaking greet.output.at: its default is none, was "x"',
  ]);
});

test("D-013 another type, another choice and another bound are breaking, wider or narrower", async () => {
  const cases: readonly (readonly [unknown, unknown, string])[] = [
    [{ type: "string" }, { type: "integer" }, "is integer, was string"],
    [{ type: "integer" }, { type: "number" }, "is number, was integer"],
    [{ enum: ["a"] }, { enum: ["a", "b"] }, 'is "a" or "b", was "a"'],
    [{ enum: ["a"] }, { type: "string" }, 'is string, was "a"'],
    [{ type: "integer" }, { type: "integer", minimum: 1 }, "is integer (at least 1), was integer"],
    [{ type: "array", maxItems: 2 }, { type: "array" }, "is list, was list (at most 2 items)"],
    [{ type: "string" }, object({}), "is an object with known fields, was string"],
    [{ type: "object" }, object({}), "is an object with known fields, was map"],
    [{ type: "string" }, { type: ["string", "null"] }, "is one of several types, was string"],
    [{ type: ["string", "null"] }, { type: ["boolean", "string", "null"] }, "may also be boolean"],
    [{ type: ["boolean", "string"] }, { type: ["integer", "string"] }, "may no longer be boolean"],
  ];
  for (const [before, after, message] of cases) {
    const [first] = await between(before, after);
    assert.equal(first, `breaking greet.output: ${message}`);
  }
  assert.deepEqual(await between({ type: "array", items: { type: "string" } }, { type: "array", items: {} }), [
    "breaking greet.output[]: is anything, was string",
  ]);
  assert.deepEqual(
    await between({ type: "object" }, { type: "object", additionalProperties: { type: "string" } }),
    ["breaking greet.output.*: is string, was anything"],
  );
});

test("D-013 a description is wording, at whatever depth", async () => {
  const about = (description: string) => object({ a: object({ b: { type: "string", description } }) });
  assert.deepEqual(await between(about("One."), about("Two.")), ["wording greet.output.a.b: has another description"]);
  assert.deepEqual(await between({ description: "One." }, { description: "Two." }), [
    "wording greet.output: type GreetOutput has another description",
  ]);
});

test("D-013 a type written elsewhere and unchanged is no breaking change", async () => {
  const inline = { $ref: "#/$defs/A", $defs: { A: { type: "string" } } };
  assert.deepEqual(await between({ type: "string" }, inline), []);
  assert.deepEqual(await between(inline, { type: "string" }), []);
  assert.deepEqual(await between(inline, { $ref: "#/$defs/B", $defs: { B: { type: "string" } } }), [
    "compatible greet.output: its type is called B, was A",
  ]);
});

test("D-013 changes of a hook say what they do to those who know the old one", async () => {
  assert.deepEqual(await edited("singleton", "chain"), [
    "breaking greet: is dispatched as chain, was singleton",
    "needs 2.0.0",
  ]);
  assert.deepEqual(await edited("mcp_exposed: false", "mcp_exposed: true"), [
    "compatible greet: is now an MCP tool",
    "needs 1.3.0",
  ]);
  assert.deepEqual(await edited("Says hello.", "Says hi."), ["wording greet: has another description", "needs 1.2.4"]);
  assert.deepEqual(await edited("greet\n", "welcome\n"), [
    "breaking greet: is gone",
    "compatible welcome: is new",
    "needs 2.0.0",
  ]);
  assert.deepEqual(await edited("    mcp", "    scope: primary\n    mcp"), [
    "breaking greet: fires for primary agents, was any",
    "needs 2.0.0",
  ]);
  assert.deepEqual(await edited("    mcp", "    portable_name: Hi\n    aliases: { vscode: [hi] }\n    mcp"), [
    "compatible greet: is also called Hi",
    "compatible greet: is also called hi on vscode",
    "needs 1.3.0",
  ]);
  assert.deepEqual(await edited("hooks:", 'wire_method_template: "a.{hook}"\nhooks:'), [
    "compatible greeter: is called a.{hook} on the wire, was null",
    "needs 1.3.0",
  ]);
});

test("D-004 a breaking change needs a major version, a compatible one a minor, and wording a patch", async () => {
  const verdict = async (from: string, to: string, edit: [string, string]) => {
    const file = (version: string) => `kinds/greeter/v${version.split(".")[0]}.yaml`;
    const text = (version: string) => KIND_TEXT.replace("1.2.3", version);
    const [diff] = await diffOf(
      { [KIND]: null, [file(from)]: text(from) },
      { [KIND]: null, [file(to)]: text(to).replace(...edit) },
    );
    return [diff!.needed, diff!.isEnough];
  };
  const breaking: [string, string] = ["singleton", "chain"];
  const wording: [string, string] = ["Says hello.", "Says hi."];
  assert.deepEqual(await verdict("1.2.3", "1.3.0", breaking), ["2.0.0", false]);
  assert.deepEqual(await verdict("1.2.3", "2.0.0", breaking), ["2.0.0", true]);
  assert.deepEqual(await verdict("1.2.3", "2.0.0-rc.1", breaking), ["2.0.0", true]);
  assert.deepEqual(await verdict("0.2.3", "0.2.4", breaking), ["0.3.0", false]);
  assert.deepEqual(await verdict("0.2.3", "0.3.0", breaking), ["0.3.0", true]);
  assert.deepEqual(await verdict("1.2.3", "1.2.3", wording), ["1.2.4", false]);
  assert.deepEqual(await verdict("1.2.3", "1.10.0", wording), ["1.2.4", true]);
  assert.deepEqual(await verdict("1.2.3", "1.2.2", ["x", "x"]), ["1.2.3", false]);
});

test("D-004 a new kind or version asks for nothing, and a kind that is gone has no version that makes up for it", async () => {
  const second = { "kinds/greeter/v2.yaml": KIND_TEXT.replace("1.2.3", "2.0.0") };
  const [, added] = await diffOf({}, second);
  assert.deepEqual([added?.from, added?.to, added?.isEnough], [null, "2.0.0", true]);
  const other = Object.fromEntries(
    Object.entries(SAMPLE).map((
      [path, text],
    ) => [path.replace("greeter", "other"), text.replace("kind: greeter", "kind: other")]),
  );
  const [gone] = await diffOf({}, { ...other, [KIND]: null });
  assert.deepEqual([gone?.kind, gone?.to, gone?.isEnough], ["greeter", null, false]);
  const [moved] = await diffOf({}, { [KIND]: null, ...second });
  assert.deepEqual([moved?.from, moved?.to, moved?.changes], ["1.2.3", "2.0.0", []]);
});
