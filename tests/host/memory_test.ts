import assert from "node:assert/strict";
import { test } from "node:test";
import { hosted } from "../support/hosted.ts";

const RESEARCHER = "primary.subagents.researcher";

test("K-060 a memory service with three tools, three hooks and an isolation key is hosted as it is", async () => {
  const memory = (isolation: string) => ({
    yaml: {
      primary: {
        plugins: { memory: { package: "@test/memory", isolation, config: { isolation } } },
        subagents: { researcher: { plugins: { memory: isolation === "project" ? {} : { package: "@test/memory" } } } },
      },
    },
    fixtures: { "@test/memory": "remembers" },
  });
  for (const [isolation, heard] of [["project", "Uses bun"], ["agent", ""]] as const) {
    await using h = await hosted(memory(isolation));
    assert.deepEqual(h.host.tools("primary").map(({ name }) => name), [
      "remembers.retain",
      "remembers.recall",
      "remembers.reflect",
    ]);
    h.host.openSession({ id: "ses_1" });
    await h.host.callTool("remembers.retain", { text: "Uses bun" }, { agent: "primary", session: "ses_1" });
    const recall = h.host.callTool("remembers.recall", { query: "bun" }, { agent: RESEARCHER, session: "ses_1" });
    assert.deepEqual(await recall, { text: heard }, isolation);
  }
});

test("K-068 recall at the start, retain every N turns at rest, retain and recall around a compaction", async () => {
  await using h = await hosted({
    idleWindowMs: 1_000,
    primary: { memory: { config: { retain_every_n_turns: 2 } } },
    fixtures: { "@test/memory": "remembers" },
  });
  const session = h.host.openSession({ id: "ses_1" });
  assert.deepEqual(await session.start("Go"), { systemPrompt: "Go", injected: [] });
  const rest = async (content: string) => {
    session.record({ role: "user", content });
    h.clock.advance(1_000);
    await h.next("plugin.hook.returned");
  };
  await h.next("plugin.hook.returned"); // Of the start.
  await rest("I like tea");
  const reflect = () => h.host.callTool("remembers.reflect", {}, { agent: "primary", session: "ses_1" });
  assert.deepEqual(await reflect(), { count: 0 });
  await rest("And rain");
  assert.deepEqual(await reflect(), { count: 1 });
  const rest_of_it = "x".repeat(400);
  const messages = Array.from({ length: 8 }, (_, at) => ({
    id: `m${at}`,
    role: "user",
    content: `Fact ${at}`,
    rest_of_it,
  }));
  const { messages: kept, injected } = await h.host.compact({
    agent: "primary",
    session: "ses_1",
    messages,
    trigger: "threshold_crossed",
    targetTokens: 600,
  });
  assert.equal(injected.length, 1);
  assert.match(String(kept[0]?.content), /^<plugin:remembers>\nAnd rain\nFact 0/);
  const { systemPrompt } = await h.host.openSession().start("Go on");
  assert.match(systemPrompt, /^<plugin:remembers>\nAnd rain\nFact 0[^]*<\/plugin:remembers>\n\nGo on$/);
});

test("K-066 no name is reserved: a plugin called memory keeps memory.* for itself, and tags pass untouched", async () => {
  await using h = await hosted({
    primary: { memory: { config: { tags: ["a", { odd: true }] } } },
    fixtures: { "@test/memory": { fixture: "answers_hooks", manifest: { name: "memory" } } },
    start: false,
  });
  assert.deepEqual((await h.host.start()).failed, []);
  assert.deepEqual(h.host.tools("primary").map(({ name }) => name), ["memory.look", "memory.ask"]);
});
