import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { createHost, type Host, type Message } from "../../mod.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { scratchDir } from "../support/scratch_dir.ts";

const pluginDir = (name: string): string => fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url));

const bubblewrap = (t: TestContext): Promise<boolean> =>
  requireOrSkip(t, "bubblewrap", existsSync("/usr/bin/bwrap"), "install the package bubblewrap");

/** A host over a project of its own, with both plugins at hand and running. */
async function hostOf(t: TestContext, yaml: string): Promise<AsyncDisposable & { host: Host; dir: string }> {
  const dir = await scratchDir(t);
  await mkdir(join(dir, "music"));
  await writeFile(join(dir, "music/project.yaml"), yaml);
  const plugins = Object.fromEntries(
    ["memory-markdown", "smart-compactor"].map((name) => [`@kaged/${name}`, pluginDir(name)]),
  );
  const host = await createHost({ project: join(dir, "music"), home: join(dir, "home"), plugins });
  assert.deepEqual((await host.start()).failed, []);
  return { host, dir, [Symbol.asyncDispose]: () => host.stop() };
}

const SHARED = `
primary:
  plugins:
    memory: { package: "@kaged/memory-markdown", isolation: project, config: { tags: [primary] } } # shared
  subagents:
    researcher: { plugins: { memory: { hooks: [], config: { tags: [research] } } } }
    loner: { plugins: {} }
`;

test("K-035 K-036 a memory shared by a project is one folder, each agent's tags are its own, others are left out", async (t) => {
  if (!await bubblewrap(t)) return;
  await using hosted = await hostOf(t, SHARED);
  const { host, dir } = hosted;
  const { id: session } = host.openSession();
  const researcher = { agent: "primary.subagents.researcher", session };
  await host.callTool("memory-markdown.retain", { content: "Papers are on arXiv" }, researcher);
  const { memories } = await host.callTool("memory-markdown.recall", { query: "arXiv" }, {
    agent: "primary",
    session,
  }) as {
    memories: { tags: string[] }[];
  };
  assert.deepEqual(memories.map(({ tags }) => tags), [["research"]]);
  assert.deepEqual(await readdir(join(dir, "home/files/memory/music")), ["project"]);
  assert.deepEqual(host.tools("primary.subagents.loner"), []);
  await assert.rejects(
    host.callTool("memory-markdown.recall", { query: "x" }, { agent: "primary.subagents.loner", session }),
  );
  await assert.rejects(host.callTool("memory-markdown.recall", {}, { agent: "primary", session }), { rpc: -32602 });
});

test("K-039 a knob of memory-markdown is turned in project.yaml and at once in the plugin", async (t) => {
  if (!await bubblewrap(t)) return;
  await using hosted = await hostOf(t, SHARED);
  const { host, dir } = hosted;
  const { id: session } = host.openSession();
  await host.callTool("memory-markdown.retain", { content: "Our port is 8080" }, { agent: "primary", session });
  await host.setKnob("primary", "memory", "max_injected", 0);
  const { systemPrompt, injected } = await host.openSession().start("You help.");
  assert.deepEqual([systemPrompt, injected], ["You help.", []]);
  assert.match(await readFile(join(dir, "music/project.yaml"), "utf8"), /max_injected: 0 .*# shared/);
  await host.setKnob("primary", "memory", "max_injected", 1);
  assert.match(
    (await host.openSession().start("You help.")).systemPrompt,
    /^<plugin:memory-markdown>\n.*Our port is 8080/s,
  );
});

const FILLER = "Nothing of weight is said in this sentence here. ".repeat(20);
const spoken = (count: number): Message[] =>
  Array.from(
    { length: count },
    (_, index) => ({ role: "user", content: `We decided to ship part ${index}. ${FILLER}` }),
  );

const BOTH = `
primary:
  plugins:
    memory: { package: "@kaged/memory-markdown" }
    compactor: { package: "@kaged/smart-compactor" }
  compaction: { strategy: drop, delegate: { plugin: compactor }, keep_last: 1 }
`;

test("K-021 K-027 K-068 before smart-compactor makes a window smaller, memory-markdown has kept what is in it", async (t) => {
  if (!await bubblewrap(t)) return;
  await using hosted = await hostOf(t, BOTH);
  const { host } = hosted;
  const { id: session } = host.openSession();
  const request = { agent: "primary", session, trigger: "threshold_crossed" };
  const result = await host.compact({ ...request, messages: [{ role: "system", content: "You help." }, ...spoken(6)] });
  assert.deepEqual([result.by, result.superseded.length, result.fallback], ["compactor", 5, undefined]);
  assert.deepEqual(result.retained.map(({ plugin, text }) => [plugin, text]).slice(0, 2), [
    ["memory-markdown", "We decided to ship part 0."],
    ["memory-markdown", "We decided to ship part 1."],
  ]);
  assert.match(String(result.messages[1]!.content), /^Digest of 5 earlier messages/);
  assert.ok(result.after.tokens * 2 < result.before.tokens);
  const again = await host.compact({ ...request, messages: result.messages });
  assert.deepEqual([again.by, again.fallback?.reason], ["drop", "failed"]); // One message may go: no gain, it declines.
});

test("K-021 a compactor nobody delegated to looks on: the oldest are dropped, and it says what was in them", async (t) => {
  if (!await bubblewrap(t)) return;
  await using hosted = await hostOf(t, BOTH.replace("delegate: { plugin: compactor }, ", ""));
  const { host } = hosted;
  const { id: session } = host.openSession();
  const { by, injected, messages } = await host.compact({
    agent: "primary",
    session,
    trigger: "manual",
    messages: spoken(6),
  });
  assert.equal(by, "drop");
  assert.ok(injected.some(({ plugin, hook }) => plugin === "smart-compactor" && hook === "post_compact"));
  assert.match(String(messages[0]!.content), /<plugin:smart-compactor>\nDigest of \d+ earlier messages/);
});

test("two hosts over one home write to one memory and lose nothing", async (t) => {
  if (!await bubblewrap(t)) return;
  await using hosted = await hostOf(t, BOTH);
  const { host, dir } = hosted;
  await using other = await createHost({
    project: join(dir, "music"),
    home: join(dir, "home"),
    plugins: {
      "@kaged/memory-markdown": pluginDir("memory-markdown"),
      "@kaged/smart-compactor": pluginDir("smart-compactor"),
    },
  });
  await other.start();
  const desks = [host, other].map((each) => ({ each, session: each.openSession().id }));
  await Promise.all(desks.flatMap(({ each, session }, desk) =>
    Array.from({ length: 20 }, (_, index) => {
      const content = index % 2 === 0 ? `Shared fact number ${index}` : `Fact number ${index} of desk ${desk}`;
      return each.callTool("memory-markdown.retain", { content }, { agent: "primary", session });
    })
  ));
  for (const { each, session } of desks) {
    const { memories } = await each.callTool("memory-markdown.list_tags", {}, { agent: "primary", session }) as {
      memories: number;
    };
    assert.equal(memories, 30);
  }
  const files = await readdir(join(dir, "home/files/memory/music/agent"));
  assert.deepEqual([files.length, files.filter((name) => name.startsWith("."))], [31, []]);
});
