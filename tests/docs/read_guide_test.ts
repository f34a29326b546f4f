import assert from "node:assert/strict";
import { test } from "node:test";
import { checkData } from "./support/check_data.ts";
import { piecesOf } from "./support/plain_commands.ts";
import { readGuide } from "./support/read_guide.ts";
import { needsWorkshop, runBlock, stepsOf } from "./support/run_guide.ts";
import { isShown, shownCommands } from "./support/shown_output.ts";
import type { Workshop } from "./support/workshop.ts";

const fenced = (language: string, text: string) => "```" + `${language}\n${text}\n` + "```\n";

test("readGuide() finds every block, with what the comment before it says", () => {
  const text =
    `# Title\n\n${fenced("ts", "a();")}\n<!-- test: file=a/b.yaml exit=1 -->\n\n${fenced("yaml", "a: 1")}\n` +
    `- item\n\n  ${fenced("sh", "  ls").replace("\n```", "\n  ```")}<!-- test: run\nmkdir x\n-->\n`;
  assert.deepEqual(readGuide("g.md", text), [
    { place: "g.md:3", language: "ts", text: "a();\n", said: {} },
    { place: "g.md:9", language: "yaml", text: "a: 1\n", said: { file: "a/b.yaml", exit: "1" } },
    { place: "g.md:15", language: "sh", text: "ls\n", said: {} },
    { place: "g.md:18", language: "run", text: "mkdir x", said: {} },
  ]);
});

test("readGuide() puts given code and continued blocks together", () => {
  const text = `<!-- test: given\nconst a = 1;\n-->\n\n${fenced("ts", "a;")}text\n\n<!-- test: continues -->\n${
    fenced("ts", "b;")
  }`;
  const [block, ...more] = readGuide("g.md", text);
  assert.deepEqual([block?.text, block?.said.given, more], ["a;\nb;\n", "const a = 1;", []]);
});

test("readGuide() refuses a comment that says nothing of use", () => {
  const comments = {
    "<!-- test: skip -->": /g\.md:1: say the reason/,
    "<!-- test: skpi -->": /unknown word "skpi"/,
    "<!-- test: continues -->": /no sh block to continue/,
  };
  for (const [comment, why] of Object.entries(comments)) {
    assert.throws(() => readGuide("g.md", `${comment}\n\n${fenced("sh", "ls")}`), why);
  }
  assert.throws(() => readGuide("g.md", "<!-- test: exit=1 -->\n\nText\n"), /g\.md:3: .* before no block/);
});

test("isShown() takes … for part of a line, and alone for any lines", () => {
  assert.ok(isShown("a …, b\nc", "a 12, b\nc\n"));
  assert.ok(isShown("a\n…\nd", "a\nb\nc\nd"));
  assert.ok(isShown("a\n…\nd", "a\nd"));
  assert.ok(!isShown("a … b", "a 1\n2 b"));
  assert.ok(!isShown("a.b", "axb"));
  assert.ok(!isShown("a", "a\nb"));
  assert.deepEqual(shownCommands("$ a \\\n  b\nout\n$ c\n"), [
    { command: "a \\\n  b", output: "out" },
    { command: "c", output: null },
  ]);
});

test("a block that nobody can test, or that its test does not name, is an error", async () => {
  const workshop = {} as Workshop;
  const [text, sql] = readGuide(
    "docs/nowhere.md",
    `${fenced("text", "x")}<!-- test: elsewhere=README.md -->\n${fenced("sql", "x")}`,
  );
  await assert.rejects(runBlock(text!, workshop), /nowhere\.md:1: nobody knows how to test a block of "text"/);
  await assert.rejects(runBlock(sql!, workshop), /README\.md does not name docs\/nowhere\.md/);
  const [skipped] = readGuide("g.md", `<!-- test: skip reason="tests/no_such_test.ts" -->\n${fenced("sh", "x")}`);
  await assert.rejects(runBlock(skipped!, workshop), /g\.md:2: there is no tests\/no_such_test\.ts/);
});

test("checkData() reads what a guide shows as the host would", async () => {
  await checkData("yaml", "primary: {}");
  await assert.rejects(checkData("yaml", "primary: { plugin: {} }\nplugins: {}"), { code: "project.invalid" });
  await assert.rejects(checkData("yaml", "kaged_api: 1\nname: x"), { code: "manifest.invalid" });
  await assert.rejects(checkData("toml", "[limit]\nx = 1\n[limits]\nmemory_mb = -1"), { code: "config.invalid" });
  await assert.rejects(checkData("json", "{"), SyntaxError);
  await assert.rejects(checkData("json", '{ "jsonrpc": "2.0", "id": {} }'), /No JSON-RPC/);
});

test("piecesOf() takes plain kaged commands out of a script, and leaves the rest to the shell", () => {
  const script =
    "bin/kaged plugin call p p.m '{\"a\": 1}'  # a comment\n\nls | wc\nkaged plugin list | grep p\nkaged doctor\n";
  assert.deepEqual(piecesOf(script), [
    { kaged: ["plugin", "call", "p", "p.m", '{"a": 1}'] },
    { shell: "ls | wc\nkaged plugin list | grep p" },
    { kaged: ["doctor"] },
  ]);
  const forShell = [
    "cd x\nkaged doctor",
    "kaged x \\\n  y",
    "cat > f <<END\nkaged doctor\nEND",
    "kaged mcp --project x",
  ];
  for (const each of forShell) assert.deepEqual(piecesOf(each), [{ shell: each }], each);
  assert.deepEqual(piecesOf('kaged x "$HOME"'), [{ shell: 'kaged x "$HOME"' }]);
});

test("stepsOf() lets programs that follow one another share a process, and keeps the order where it matters", () => {
  const blocks = readGuide(
    "g.md",
    `${fenced("ts", "a")}${fenced("json", "1")}${fenced("js", "b")}<!-- test: exit=1 -->\n${fenced("ts", "c")}${
      fenced("ts", "d")
    }<!-- test: run\nls\n-->\n${fenced("ts", "e")}`,
  );
  const steps = stepsOf(blocks).map((step) => step.map(({ text }) => text.trim()).join(" "));
  assert.deepEqual(steps, ["a b", "1", "c", "d", "ls", "e"]);
  assert.deepEqual(blocks.filter((block) => !needsWorkshop(block)).map(({ language }) => language), ["json"]);
});
