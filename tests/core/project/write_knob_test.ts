import assert from "node:assert/strict";
import { test } from "node:test";
import { Lexer, parse } from "yaml";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { knobProblem } from "../../../src/core/manifest/knob_value.ts";
import { DocumentReport } from "../../../src/core/documents/document_report.ts";
import { readYaml } from "../../../src/core/documents/read_yaml.ts";
import { setYamlValue } from "../../../src/core/documents/edit_yaml.ts";
import { writeKnob } from "../../../src/core/project/write_knob.ts";
import { DIR, manifestOf } from "./project_text.ts";
import fc from "../../support/fast_check.ts";

const KIND = { room: "project", title: "Project", maxBytes: 100_000 };
const knob = (name: string, fields: string) => `  ${name}: { label: L, binds_to: config.${name}, ${fields} }`;
const manifest = await manifestOf(
  "memory-markdown",
  `config_schema:
  type: object
  properties:
    budget: { type: string, enum: [low, mid, high], default: mid }
    turns: { type: integer, maximum: 15 }
    store: { type: string }
    isolation: { type: string, enum: [agent, project], default: agent }
    note: { type: string }
    tags: { type: array }
  additionalProperties: false
knobs:
${knob("budget", "type: enum, values: [low, mid, high], default: mid")}
${knob("turns", "type: int_range, min: 1, max: 20, step: 1, default: 3")}
${knob("store", 'type: path, prefixes: ["config:", "project:"], default: "config:/memory"')}
${knob("isolation", "type: enum, values: [agent, project], default: agent")}
${knob("note", 'type: text, default: "", max_length: 20')}
`,
);

const TEXT = `# My project
id: music

primary:
  model:   large   # odd spacing stays
  plugins:
    memory:
      package: "@kaged/memory-markdown"   # the package
      isolation: project
      config:
        budget: mid      # how much to spend
        # turns come later
        tags: [ a,b ]

    other: { package: other }
  subagents:
    researcher: { plugins: { memory: { hooks: [] } } }
    writer:
      plugins:
        memory:
`;

const write = (name: string, value: unknown, agentPath = "primary", text = TEXT) =>
  writeKnob(text, { agentPath, key: "memory", knob: name, value, manifest, dir: DIR });

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "done";
  } catch (thrown) {
    if (!(thrown instanceof HostError)) throw thrown;
    return thrown.code;
  }
}

test("K-039 a knob's value is written in its place, and not one character besides", async () => {
  const { text, config } = await write("budget", "high");
  assert.equal(text, TEXT.replace("budget: mid ", "budget: high "));
  assert.deepEqual(config, { budget: "high", tags: ["a", "b"] });
});

test("K-039 a field that is not there yet gets a line of its own, after the last one", async () => {
  const { text } = await write("turns", 7);
  assert.equal(text, TEXT.replace("tags: [ a,b ]\n", "tags: [ a,b ]\n        turns: 7\n"));
});

test("K-039 an agent's own block is written, whatever its style; it starts with what it inherits", async () => {
  const flow = await write("turns", 7, "primary.subagents.researcher");
  assert.equal(flow.text, TEXT.replace("{ hooks: [] }", "{ hooks: [], config: { turns: 7 } }"));
  assert.deepEqual(flow.config, { budget: "mid", tags: ["a", "b"], turns: 7 });
  const empty = await write("store", "project:/notes", "primary.subagents.writer");
  assert.equal(empty.text, `${TEXT.trimEnd()} { config: { store: project:/notes } }\n`);
});

test("K-039 the project's text is read once before the change and once after it", async (t) => {
  const { lex } = Lexer.prototype;
  t.after(() => Lexer.prototype.lex = lex);
  let passes = 0;
  Lexer.prototype.lex = function (...args) {
    passes++;
    return lex.apply(this, args);
  };
  const { text, project } = await write("budget", "high");
  // Each read is one pass, and the syntax tree in which the place of the value is found another.
  assert.equal(passes, 3);
  assert.equal(project.document.text, text);
  assert.equal(project.agents[0]?.plugins[0]?.config?.budget, "high");
});

test("K-039 writing the value that stands there changes nothing", async () => {
  assert.equal((await write("budget", "mid")).text, TEXT);
});

test("K-038 a value is checked against the knob's bounds and against the schema", async () => {
  for (
    const [name, value] of [["budget", "huge"], ["turns", 0], ["turns", 1.5], ["store", "/etc"], [
      "note",
      "a\nb",
    ]] as const
  ) {
    assert.equal(await codeOf(write(name, value)), "knob.value_invalid", `${name} ${value}`);
  }
  // Within the knob's bounds, and above the schema's.
  assert.equal(await codeOf(write("turns", 20)), "knob.value_invalid");
  await assert.rejects(write("turns", 20), { message: /turns" of "memory-markdown" .*: Is above 15$/ });
});

test("a knob bound to isolation cannot contradict the declaration", async () => {
  assert.equal(await codeOf(write("isolation", "agent")), "knob.value_invalid");
  assert.equal(await codeOf(write("isolation", "project")), "done");
});

test("an unknown knob, agent or plugin is refused by name", async () => {
  await assert.rejects(write("bugdet", "mid"), { code: "knob.unknown", hint: 'Did you mean "budget"?' });
  assert.equal(await codeOf(write("budget", "mid", "primary.subagents.nobody")), "knob.unknown");
  assert.equal(await codeOf(write("constructor", 1)), "knob.unknown");
});

test("a change that would reach further than its place is refused", async () => {
  const shared = TEXT.replace("budget: mid ", "budget: &b mid ").replace("id: music\n", "id: music\n").replace(
    "    other: { package: other }",
    "    other: { package: other, config: { x: *b } }",
  );
  assert.equal(await codeOf(write("budget", "high", "primary", shared)), "knob.edit_refused");
  const aliased = `x-c: &c { budget: mid }
primary:
  plugins:
    memory: { package: a, isolation: project, config: *c }
`;
  assert.equal(await codeOf(write("budget", "high", "primary", aliased)), "knob.edit_refused");
});

test("K-037 every type of knob takes what it says", async () => {
  const cases: [Parameters<typeof knobProblem>[0], unknown[], unknown[]][] = [
    [of({ type: "range", min: 0, max: 1, step: 0.1 }), [0, 0.3, 0.7, 1], [-0.1, 1.1, 0.25, "1", NaN, null]],
    [of({ type: "int_range", min: 1, max: 9, step: 2 }), [1, 3, 9], [2, 10, 1.5, "3"]],
    [of({ type: "enum", values: ["a", "b"] }), ["a"], ["c", 1, null]],
    [of({ type: "boolean" }), [true, false], ["true", 0]],
    [of({ type: "text", max_length: 3, pattern: "^a" }), ["a", "abc"], ["abcd", "b", "a\nb", 1]],
    [of({ type: "multiline", max_length: 3 }), ["a\nb", ""], ["abcd", null]],
    [of({ type: "model_alias" }), ["fast", null], ["", "a b", 1]],
    [of({ type: "path", prefixes: ["config:"] }), ["config:/a/b"], ["project:/a", "config:a", "config:/../x", "/etc"]],
  ];
  for (const [one, good, bad] of cases) {
    for (const value of good) assert.equal(await knobProblem(one, value), null, `${one.type} ${value}`);
    for (const value of bad) assert.equal(typeof await knobProblem(one, value), "string", `${one.type} ${value}`);
  }
});

function of(fields: Partial<Parameters<typeof knobProblem>[0]>): Parameters<typeof knobProblem>[0] {
  return { type: "boolean", label: "L", binds_to: "config.x", ...fields };
}

test("any value in any layout is written so that it is read back, or refused", async () => {
  const layouts = [
    "a:\n  config:\n    x: 1 # c\n    y: 2\n",
    "a: { config: { x: 'q', y: 2 } }\n",
    "a:\n  config:\n    x: |\n      text\n    y: 2\n",
    "a:\n  config:\n    x: >-\n      text\n      more\n\n    y: 2\n# end",
    'a:\n  config: { x: "q" } # c\n',
    "a:\n  config:\n    y: [1,\n      2]\n",
    "a:\n  config: {}\n",
    "a:\n  config:\n",
    "a:\nb: 1\n",
    "a: {}\r\nb: 1\r\n",
    "a:\n  - 1\n",
  ];
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
  );
  await fc.assert(fc.asyncProperty(fc.constantFrom(...layouts), value, async (text, value) => {
    const document = await readYaml(text, new DocumentReport("p.yaml", KIND));
    const written = (await setYamlValue(document!, ["a", "config", "x"], value))?.text;
    if (written === undefined) return;
    const before = parse(text);
    assert.equal(JSON.stringify(parse(written).a.config.x), JSON.stringify(value));
    assert.deepEqual(parse(written).a.config.y, before.a?.config?.y);
    for (const comment of text.match(/#.*/g) ?? []) assert.ok(written.includes(comment));
  }));
});
