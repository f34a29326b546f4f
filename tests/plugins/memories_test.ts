import assert from "node:assert/strict";
import { readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import {
  listTags,
  openingText,
  recall,
  recordSession,
  reminderText,
  retain,
  retainFacts,
} from "../../plugins/memory-markdown/src/memories.ts";
import { Transcripts } from "../../plugins/memory-markdown/src/transcripts.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { deskIn, later } from "./memory_desk.ts";

const user = (content: string) => ({ role: "user", content });
const bytesOf = (value: unknown): number => new TextEncoder().encode(JSON.stringify(value)).length;

test("K-060 retain() keeps a text as a markdown file with front matter, and lists it in facts.md", async (t) => {
  const dir = join(await scratchDir(t), "deep/agent");
  const desk = deskIn(dir, { tags: ["Project"] });
  const { id, known, tags } = retain({ content: " Uses bun 1.x ", context: "setup", tags: ["Tooling"] }, desk);
  assert.deepEqual([known, tags], [false, ["project", "tooling"]]);
  assert.equal(
    await readFile(join(dir, `${id}.md`), "utf8"),
    `---\nkind: fact\ncreated: 2026-05-01T08:00:00.000Z\ntags: ["project","tooling"]\ncontext: "setup"\n` +
      `source: "retain"\nsession: "ses_1"\n---\n\nUses bun 1.x\n`,
  );
  assert.match(await readFile(join(dir, "facts.md"), "utf8"), /^- Uses bun 1\.x #project #tooling \(\[/m);
  assert.deepEqual((await readdir(dir)).sort(), ["facts.md", `${id}.md`].sort());
  assert.equal((await stat(join(dir, `${id}.md`))).mode & 0o777, 0o600);
});

test("retain() keeps a text once: said again it only gains tags", async (t) => {
  const desk = deskIn(await scratchDir(t));
  const first = retain({ content: "Uses bun 1.x", tags: ["a"] }, desk);
  const second = retain({ content: "uses  BUN 1.x.", tags: ["b"] }, later(desk, "2026-06-01T00:00:00.000Z"));
  assert.deepEqual([second.id, second.known, second.tags], [first.id, true, ["a", "b"]]);
  assert.deepEqual(desk.store.all().map(({ content, created }) => [content, created]), [
    ["Uses bun 1.x", "2026-05-01T08:00:00.000Z"],
  ]);
  assert.throws(() => retain({ content: " \n" }, desk), { code: -32602 });
});

test("recall() ranks by what fits best, over text and tags, and forgives a slip of the key", async (t) => {
  const desk = deskIn(await scratchDir(t));
  retain({ content: "The deploy target is Cloudflare Workers" }, desk);
  retain({ content: "Tests are run by the three runtimes", tags: ["deploy"] }, desk);
  retain({ content: "Ada likes green tea" }, desk);
  const found = (query: string, tags?: string[]): string[] =>
    recall({ query, ...(tags ? { tags } : {}) }, desk).memories.map(({ content }) => content.split(" ")[0]!);
  assert.deepEqual(found("what is our deploy target?"), ["The", "Tests"]);
  assert.deepEqual(found("cloudfare"), ["The"]);
  assert.deepEqual(found("deploy", ["Deploy"]), ["Tests"]);
  assert.deepEqual(found("kubernetes"), []);
  assert.deepEqual(found("the of and"), []);
});

test("recall() stays under its budget whatever is remembered, and says how much it left out", async (t) => {
  const desk = deskIn(await scratchDir(t), { recall_budget: 50 });
  for (const size of [10, 60, 90, 4000]) retain({ content: `deploy ${'ü"\n'.repeat(size)}` }, desk);
  for (const query of ["deploy", "deployment of something"]) {
    const result = recall({ query, limit: 100 }, desk);
    assert.ok(result.memories.length > 0 && bytesOf(result) <= 200, `${bytesOf(result)}`);
    assert.equal(result.memories.length + result.omitted, 4);
  }
});

test("recall() cuts the one memory it finds to its budget, also where JSON makes it longer", async (t) => {
  const desk = deskIn(await scratchDir(t), { recall_budget: 80 });
  retain({ content: `deploy ${"\u0001".repeat(4000)}`, context: "c".repeat(500) }, desk);
  const result = recall({ query: "deploy" }, desk);
  // deno-lint-ignore no-control-regex
  assert.match(result.memories[0]!.content, /^deploy \u0001+…$/);
  assert.ok(bytesOf(result) <= 320, `${bytesOf(result)}`);
});

test("recall() finds words of scripts without spaces", async (t) => {
  const desk = deskIn(await scratchDir(t));
  retain({ content: "デプロイ先は東京リージョンです" }, desk);
  assert.equal(recall({ query: "東京" }, desk).memories.length, 1);
});

test("forget removes one memory by its id, and an id leads to no other file", async (t) => {
  const dir = await scratchDir(t);
  const desk = deskIn(join(dir, "agent"));
  const { id } = retain({ content: "Uses bun 1.x" }, desk);
  await writeFile(join(dir, "outside.md"), "stay");
  assert.equal(recall({ query: "bun" }, desk).memories.length, 1);
  for (const bad of ["../outside", "facts", "README", "", ".", "no-such", `${id}.md`]) {
    assert.equal(desk.store.remove(bad), false, bad);
  }
  assert.equal(desk.store.remove(id), true);
  assert.deepEqual(recall({ query: "bun" }, desk).memories, []);
  assert.deepEqual((await readdir(join(dir, "agent"))).sort(), ["facts.md"]);
  assert.equal(await readFile(join(dir, "outside.md"), "utf8"), "stay");
});

test("list_tags counts tags, the most used first", async (t) => {
  const desk = deskIn(await scratchDir(t));
  retain({ content: "one thing", tags: ["b", "a"] }, desk);
  retain({ content: "two things", tags: ["b", "c"] }, desk);
  assert.deepEqual(listTags(desk), {
    tags: [{ tag: "b", count: 2 }, { tag: "a", count: 1 }, { tag: "c", count: 1 }],
    memories: 2,
  });
});

test("two stores over one folder see each other's memories and their end", async (t) => {
  const dir = await scratchDir(t);
  const [one, two] = [deskIn(dir), deskIn(dir)];
  assert.deepEqual(recall({ query: "bun" }, two).memories, []);
  const { id } = retain({ content: "Uses bun 1.x" }, one);
  assert.deepEqual(recall({ query: "bun" }, two).memories.map((memory) => memory.id), [id]);
  retain({ content: "Uses deno too" }, two);
  assert.equal(one.store.all().length, 2);
  assert.equal(two.store.remove(id), true);
  assert.deepEqual(recall({ query: "bun" }, one).memories, []);
});

test("a folder that changes twice in one tick of its clock is read again", async (t) => {
  const dir = await scratchDir(t);
  const desk = deskIn(dir);
  const tick = new Date(Date.now() + 3_600_000);
  await utimes(dir, tick, tick);
  assert.deepEqual(recall({ query: "bun" }, desk).memories, []);
  await writeFile(join(dir, "mine.md"), "Uses bun");
  await utimes(dir, tick, tick);
  assert.equal(recall({ query: "bun" }, desk).memories.length, 1);
});

test("files that are no memory are left out with a word in the log, once, and the rest is found", async (t) => {
  const dir = await scratchDir(t);
  const desk = deskIn(dir);
  retain({ content: "Uses bun 1.x" }, desk);
  await writeFile(join(dir, "torn.md"), "---\nkind: fact\ncre");
  await writeFile(join(dir, "latin1.md"), new Uint8Array([0x66, 0xfc, 0x72]));
  await writeFile(join(dir, "huge.md"), "bun ".repeat(100_000));
  await writeFile(join(dir, "empty.md"), "");
  await writeFile(join(dir, "not a name!.md"), "bun");
  await writeFile(join(dir, "notes.txt"), "bun");
  await symlink("/etc/hostname", join(dir, "link.md"));
  for (let round = 0; round < 3; round++) {
    assert.equal(recall({ query: "bun" }, desk).memories.length, 1);
    assert.equal(openingText(desk), "Known from earlier sessions:\n- Uses bun 1.x");
  }
  assert.deepEqual([desk.store.get("link"), desk.store.get("torn")], [null, null]);
  assert.deepEqual(desk.complaints.map((text) => text.split(":")[0]).sort(), [
    "empty.md",
    "huge.md",
    "latin1.md",
    "torn.md",
  ]);
});

test("a file edited in place is known by its new text when the next session starts", async (t) => {
  const dir = await scratchDir(t);
  const desk = deskIn(dir);
  const { id } = retain({ content: "Uses bun 1.x" }, desk);
  assert.equal(recall({ query: "bun" }, desk).memories.length, 1);
  await writeFile(join(dir, `${id}.md`), "Uses deno 2.9 now");
  assert.equal(openingText(desk), "Known from earlier sessions:\n- Uses deno 2.9 now");
  assert.equal(recall({ query: "deno" }, desk).memories.length, 1);
  assert.equal(recall({ query: "bun" }, desk).memories.length, 0);
});

test("K-019 openingText() starts with the last session and what has to do with it, within number and budget", async (t) => {
  const dir = await scratchDir(t);
  const desk = deskIn(dir, { tags: ["own"] });
  assert.equal(openingText(desk), null);
  const plain = deskIn(dir);
  retain({ content: "Ada likes green tea" }, plain);
  retain({ content: "The importer reads CSV files" }, plain);
  retain({ content: "The team meets on Mondays", tags: ["own"] }, plain);
  recordSession([user("Please fix the importer today.")], later(plain, "2026-05-02T00:00:00.000Z", "ses_0"));
  assert.equal(
    openingText(desk),
    [
      "Known from earlier sessions:",
      "- Last session (2026-05-02):",
      "  ## Asked",
      "  - Please fix the importer today.",
      "- The team meets on Mondays",
      "- The importer reads CSV files",
      "- Ada likes green tea",
    ].join("\n"),
  );
  retain({ content: "please fix the importer today" }, plain); // The record says so already.
  assert.equal(openingText(desk)?.split("importer today").length, 2);
  assert.equal(openingText(deskIn(dir, { max_injected: 0 })), null);
  assert.equal(
    openingText(deskIn(dir, { max_injected: 2 }))?.split("\n").filter((line) => line.startsWith("- ")).length,
    2,
  );
  retain({ content: "x".repeat(390) }, desk);
  const small = openingText(deskIn(dir, { recall_budget: 50, max_injected: 100 }));
  assert.ok(small !== null && new TextEncoder().encode(small).length <= 200, small ?? "");
});

test("K-020 an idle session's facts are kept once, its record grows and is one file", async (t) => {
  const desk = deskIn(await scratchDir(t));
  const first = [user("Our deploy target is Cloudflare Workers."), { role: "assistant", content: "Noted, thank you." }];
  assert.deepEqual(retainFacts(first, "idle", desk), ["Our deploy target is Cloudflare Workers."]);
  recordSession(first, desk);
  assert.deepEqual(retainFacts([...first, user("We use bun for scripts.")], "idle", desk), ["We use bun for scripts."]);
  recordSession([user("Please fix src/a.ts next.")], desk);
  const sessions = desk.store.all().filter(({ kind }) => kind === "session");
  assert.deepEqual(sessions.map(({ content }) => content), [
    "## Asked\n- Our deploy target is Cloudflare Workers.\n- Please fix src/a.ts next.\n\n## Files\n- src/a.ts",
  ]);
  assert.equal(desk.store.all().length, 3);
});

test("K-021 after a compaction what was just lost comes first, then what fits, and nothing that is in sight", async (t) => {
  const desk = deskIn(await scratchDir(t));
  const gone = [user("Our port is 8080. We use bun for scripts.")];
  retain({ content: "The importer reads CSV files" }, desk);
  retain({ content: "Ada likes green tea" }, desk);
  retainFacts(gone, "compaction", desk);
  const remaining = [user("Now the importer, please. We use bun for scripts.")];
  assert.equal(
    reminderText({ gone, remaining }, desk),
    "Remembered from before:\n- Our port is 8080.\n- The importer reads CSV files",
  );
  const told = { role: "system", content: "<plugin:memory-markdown>\n- Our port is 8080.\n</plugin:memory-markdown>" };
  assert.equal(
    reminderText({ gone, remaining: [told, ...remaining] }, desk),
    "Remembered from before:\n- The importer reads CSV files",
  );
  assert.equal(reminderText({ gone: [], remaining: [] }, desk), null);
});

test("K-068 transcripts wait until the user has had enough turns, and none is lost at the end", () => {
  const held = new Transcripts<string>();
  const add = (text: string): unknown => held.add("s", { owner: "me", messages: [user(text)], turns: 3 });
  assert.deepEqual([add("a"), add("b"), add("c")], [null, null, [user("a"), user("b"), user("c")]]);
  add("d");
  assert.deepEqual(held.takeAll(), [{ owner: "me", messages: [user("d")] }]);
  assert.deepEqual(held.takeAll(), []);
});
