import assert from "node:assert/strict";
import { test } from "node:test";
import { digestOf, mergeDigests, readDigest, writeDigest } from "../../plugins/shared/digest.ts";
import { looksSecret, proseOf, type WireMessage } from "../../plugins/shared/message_text.ts";
import { decisionsOf, distinct, factsOf, pathsOf, questionsOf } from "../../plugins/shared/statements.ts";

const user = (content: unknown): WireMessage => ({ role: "user", content });
const model = (content: string): WireMessage => ({ role: "assistant", content });

test("factsOf() keeps what a person states for good, and nothing a model says about itself", () => {
  const messages = [
    user("Hi there! Our deploy target is Cloudflare Workers. What time is it?"),
    model("I prefer tea. The sky is blue."),
    user("Please remember that the port is 8080.\n- Always write tests first."),
    user("thanks a lot. Do we use bun?"),
  ];
  assert.deepEqual(factsOf(messages), [
    "Our deploy target is Cloudflare Workers.",
    "the port is 8080.",
    "Always write tests first.",
  ]);
});

test("factsOf() never keeps what looks like a key or a password", () => {
  const kept = factsOf([
    user("Remember that my password is hunter2."),
    user("We use the key sk-abcdefghijklmnop1234 for it."),
    user("We use Qm9Xc3k4ZGZqaGtzZGZoa2pzZGhma2pzZGhm as the id."),
    user("We use bun for scripts."),
  ]);
  assert.deepEqual(kept, ["We use bun for scripts."]);
  assert.equal(looksSecret("see src/core/compaction/verify_compactor_result.ts and tests/core/compaction"), false);
});

test("factsOf() reads parts, and passes over code and what plugins said", () => {
  const message = user([{ type: "text", text: "We use Deno here." }, { type: "image", url: "x" }, null]);
  const injected = user(
    "<plugin:memory-markdown>\nWe use Perl here.\n</plugin:memory-markdown>\n```\nWe use C here.\n```",
  );
  assert.deepEqual(factsOf([message, injected]), ["We use Deno here."]);
  assert.equal(proseOf(injected).trim(), "");
});

test("decisionsOf() hears both sides, once", () => {
  const messages = [
    user("Let's use SQLite for it."),
    model("Agreed, we will use SQLite."),
    user("let's use sqlite for it"),
  ];
  assert.deepEqual(decisionsOf(messages), ["Let's use SQLite for it.", "Agreed, we will use SQLite."]);
});

test("pathsOf() finds files in words and in arguments of tool calls, and takes no address or phrase for one", () => {
  const messages: WireMessage[] = [
    user("Look at `src/a.ts:12:3`, ./bin/run and README.md; and/or ask https://example.com/x/y.html."),
    { role: "assistant", content: "", tool_calls: [{ id: "c", function: { arguments: '{"path":"docs/b.md"}' } }] },
  ];
  assert.deepEqual(pathsOf(messages), ["src/a.ts", "./bin/run", "README.md", "docs/b.md"]);
});

test("questionsOf() keeps a question until an answer shares a word of weight with it", () => {
  const asked = user("Which database should we take? And who reviews the release?");
  assert.deepEqual(questionsOf([asked, model("A good database is SQLite.")]), ["And who reviews the release?"]);
  assert.deepEqual(questionsOf([asked]).length, 2);
  assert.deepEqual(questionsOf([asked], [model("Ada reviews every release, and the database is SQLite.")]), []);
});

test("reading hostile text takes time by its length only", () => {
  // Were it by the square of it, this would outlast the runner's patience.
  const patterns = ["a", ". ", "- ", "<plugin:a>", "```\n", "a/", "a.", "x? ", "remember "];
  for (const hostile of patterns.map((pattern) => pattern.repeat(300_000 / pattern.length))) {
    assert.deepEqual(factsOf([user(hostile)]), []);
    assert.deepEqual(pathsOf([user(hostile)]), []);
    assert.deepEqual(questionsOf([user(hostile), model(hostile)]), []);
  }
});

test("writeDigest() and readDigest() are each other's way back", () => {
  const digest = digestOf([
    user("Please fix src/a.ts. Let's use SQLite for it. Who reviews the release?"),
    model("Working on it now."),
  ]);
  assert.deepEqual(digest, {
    asked: ["Please fix src/a.ts."],
    decided: ["Let's use SQLite for it."],
    files: ["src/a.ts"],
    open: ["Who reviews the release?"],
  });
  const text = writeDigest(digest, { maxBytes: 1000, maxItems: 10 });
  assert.deepEqual(readDigest(text), digest);
  assert.deepEqual(mergeDigests(digest, readDigest(text)), digest);
});

test("writeDigest() keeps within its bytes and gives up requests first and decisions last", () => {
  const many = (name: string): string[] => Array.from({ length: 50 }, (_, index) => `${name} number ${index} ü`);
  const digest = { asked: many("request"), decided: many("decision"), files: many("file"), open: many("question") };
  for (const maxBytes of [0, 40, 100, 1000, 3000, 20_000]) {
    const text = writeDigest(digest, { maxBytes, maxItems: 50 });
    assert.ok(new TextEncoder().encode(text).length <= maxBytes, `${maxBytes}`);
  }
  const small = readDigest(writeDigest(digest, { maxBytes: 200, maxItems: 5 }));
  assert.deepEqual([small.decided.length, small.asked.length], [5, 0]);
  assert.equal(small.decided.at(-1), "decision number 49 ü");
});

test("distinct() knows a sentence again by its words", () => {
  assert.deepEqual(distinct(["Use  Bun.", "use bun", '"Use Bun!"', ""]), ["Use  Bun."]);
});
