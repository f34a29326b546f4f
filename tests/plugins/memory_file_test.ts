import assert from "node:assert/strict";
import { test } from "node:test";
import { formatMemory, idOf, isId, type Memory, parseMemory } from "../../plugins/memory-markdown/src/memory_file.ts";
import { memoryFolder, safeName } from "../../plugins/memory-markdown/src/memory_folder.ts";
import { parse } from "yaml";
import fc from "../support/fast_check.ts";

const TIME = "2026-05-01T08:00:00.000Z";
const read = (text: string): Memory => parseMemory("x", text, new Date(TIME));

test("a memory is written as YAML front matter and text, and read back the same", () => {
  const memory: Memory = {
    id: "x",
    kind: "note",
    content: "---\nLine one\n---\n# Two: [a]",
    tags: ["deploy", "it: \\ odd"],
    created: TIME,
    context: 'said "so": # yes\nand so',
    source: "retain",
    session: "ses_1",
  };
  const text = formatMemory(memory);
  assert.deepEqual(read(text), memory);
  assert.deepEqual(parse(text.split("\n---\n")[0]!.slice(4)), {
    kind: "note",
    created: TIME,
    tags: memory.tags,
    context: memory.context,
    source: "retain",
    session: "ses_1",
  });
});

test("any text and any tags survive the file", () => {
  const pieces = [
    "---",
    "\n",
    ": ",
    "[",
    "]",
    "- ",
    '"',
    "'",
    "#",
    "a",
    " ",
    "\\",
    "\t",
    "\0",
    "\u2028",
    "\u0085",
    "é",
    "🙂",
    "tags",
  ];
  const text = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 60 }).map((each) => each.join("").trim())
    .filter((each) => each !== "");
  fc.assert(fc.property(text, fc.option(text, { nil: undefined }), (content, context) => {
    const memory: Memory = { id: "x", kind: "note", content, tags: [], created: TIME, ...(context ? { context } : {}) };
    assert.deepEqual(read(formatMemory(memory)), memory);
  }));
});

test("a file a person wrote is a memory: without front matter, with lists in any form, with fields nobody knows", () => {
  assert.deepEqual(read("The port is 8080\n"), {
    id: "x",
    kind: "fact",
    content: "The port is 8080",
    tags: [],
    created: TIME,
  });
  const byHand =
    "---\r\n# mine\r\ntags:\r\n  - One\r\n  - 'it''s'\r\nnested: { a: 1 }\r\ncreated: 2025-01-02\r\n---\r\nText";
  assert.deepEqual(read(byHand), {
    id: "x",
    kind: "fact",
    content: "Text",
    tags: ["one", "it s"],
    created: "2025-01-02T00:00:00.000Z",
  });
  assert.deepEqual(read("---\ntags: a, B\n---\nText").tags, ["a", "b"]);
  assert.deepEqual(read("---\ntags: [a, 'b', 1, a]\n---\nText").tags, ["a", "b", "1"]);
});

test("hostile front matter is no memory, or none of its fields", () => {
  assert.throws(() => read("---\nkind: fact\nno end"), /front matter has no end/);
  assert.throws(() => read(`---\n${"a: b\n".repeat(1000)}---\ntext`), /front matter has no end/);
  for (const empty of ["", "---\nkind: fact\n---\n", "\n \n"]) assert.throws(() => read(empty), /holds no text/);
  const odd = read(
    '---\n__proto__: {"x": 1}\nconstructor: y\nkind: evil\ncreated: never\ntags: *a\nsource:\n---\nText',
  );
  assert.deepEqual(odd, { id: "x", kind: "fact", content: "Text", tags: ["*a"], created: TIME });
  assert.equal(({} as { x?: number }).x, undefined);
  const bomb = `---\ntags: [${"[".repeat(10_000)}\n---\nText`;
  assert.equal(read(bomb).content, "Text");
});

test("a text always has one id, which no spelling of its spaces or capitals changes", () => {
  assert.equal(idOf("Uses  Bun 1.x."), idOf("uses bun 1.x"));
  assert.match(idOf("Uses Bun 1.x"), /^uses-bun-1-x-[0-9a-f]{12}$/);
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => isId(idOf(text))));
});

test("K-060 an agent's folder follows its path, and no name leads out of the store", () => {
  const at = (project_id: string, agent_path: string): string => memoryFolder({ project_id, agent_path }, "agent");
  assert.equal(at("music", "primary"), "music/agent");
  assert.equal(at("music", "primary.subagents.researcher"), "music/subagent/researcher");
  assert.equal(at("music", "primary.subagents.a.subagents.b"), "music/subagent/a/subagent/b");
  assert.equal(memoryFolder({ project_id: "music", agent_path: "primary" }, "project"), "music/project");
  for (const name of ["..", "../..", "a/b", "", ".", "A", "é", "a\0b", "x".repeat(500)]) {
    assert.match(safeName(name), /^[a-z0-9-]+\.[0-9a-f]{12}$/, name);
  }
  fc.assert(fc.property(fc.string(), fc.string(), (one, other) => {
    assert.ok(!safeName(one).includes("/") && !safeName(one).startsWith("."));
    assert.equal(safeName(one) === safeName(other), one === other);
  }));
});

test("K-017 a call from no agent has no memory: -32006", () => {
  assert.throws(() => memoryFolder({ project_id: null, agent_path: null }, "agent"), { code: -32006 });
});
