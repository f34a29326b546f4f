import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { runKaged } from "../support/run_kaged.ts";
import { requireOrSkip } from "../support/require_or_skip.ts";
import { type Supervised, supervised } from "../support/supervised.ts";

const pluginDir = (name: string): string => fileURLToPath(new URL(`../../plugins/${name}`, import.meta.url));

const bubblewrap = (t: TestContext): Promise<boolean> =>
  requireOrSkip(t, "bubblewrap", existsSync("/usr/bin/bwrap"), "install the package bubblewrap");

const PRIMARY = { project_id: "music", agent_path: "primary", session_id: "ses_1" };
const RESEARCHER = { ...PRIMARY, agent_path: "primary.subagents.researcher" };

/** What a plugin answers: each test knows its shape. */
// deno-lint-ignore no-explicit-any
type Answer = any;

/** Starts memory-markdown as an instance and returns how to call it. */
async function startMemory(
  host: Supervised,
  instance: string,
  config: Record<string, unknown> = {},
): Promise<(method: string, params?: Record<string, unknown>, context?: Record<string, unknown>) => Promise<Answer>> {
  await host.supervisor.register({ dir: pluginDir("memory-markdown"), instance, config });
  await host.supervisor.start(instance);
  return (method, params = {}, context = PRIMARY) => host.supervisor.call(instance, method, params, { context });
}

test("K-060 memory-markdown keeps, finds and forgets in its cage, each agent in a folder of its own", async (t) => {
  if (!await bubblewrap(t)) return;
  await using host = await supervised();
  const call = await startMemory(host, "memory", { tags: ["project"] });
  const { id } = await call("memory-markdown.retain", { content: "The deploy target is Cloudflare Workers" });
  await call("memory-markdown.retain", { content: "Papers are on arXiv" }, RESEARCHER);
  const recalled = await call("memory-markdown.recall", { query: "deployment" });
  assert.deepEqual(recalled.memories.map((memory: { id: string }) => memory.id), [id]);
  assert.deepEqual(await call("memory-markdown.recall", { query: "deployment" }, RESEARCHER), {
    memories: [],
    omitted: 0,
  });
  assert.deepEqual(await call("memory-markdown.list_tags"), { tags: [{ tag: "project", count: 1 }], memories: 1 });

  const store = join(host.home, "files/memory");
  assert.deepEqual((await readdir(store)).sort(), ["README.md", "music"]);
  assert.deepEqual((await readdir(join(store, "music"))).sort(), ["agent", "subagent"]);
  assert.deepEqual((await readdir(join(store, "music/agent"))).sort(), ["facts.md", `${id}.md`].sort());
  assert.equal((await readdir(join(store, "music/subagent/researcher"))).length, 2);

  assert.deepEqual(await call("memory-markdown.forget", { id: "../../README" }), { forgotten: false });
  assert.deepEqual(await call("memory-markdown.forget", { id }), { forgotten: true });
  assert.deepEqual(await readdir(join(store, "music/agent")), ["facts.md"]);
  await assert.rejects(
    call("memory-markdown.list_tags", {}, { project_id: null, agent_path: null, session_id: null }),
    {
      rpc: -32006,
    },
  );
  await host.supervisor.stop("memory");
  assert.equal((await host.next("plugin.stopped")).data.exit_code, 0);
  assert.deepEqual(host.logs, []);
});

test("K-019 K-020 memory-markdown starts the next session with what the last one said, also after a restart", async (t) => {
  if (!await bubblewrap(t)) return;
  await using host = await supervised();
  const first = await startMemory(host, "first");
  assert.equal(await first("kaged.hook.on_session_start"), null);
  const transcript = [{ role: "user", content: "A word on Harbor. Our deploy target is Cloudflare Workers." }];
  assert.equal(await first("kaged.hook.on_session_idle", { transcript }), null);
  await host.supervisor.stop("first");
  const second = await startMemory(host, "second");
  const { inject } = await second("kaged.hook.on_session_start", {}, { ...PRIMARY, session_id: "ses_2" });
  assert.match(
    inject,
    /^Known from earlier sessions:\n- Last session .*\n- Our deploy target is Cloudflare Workers\.$/s,
  );
  const facts = await readFile(join(host.home, "files/memory/music/agent/facts.md"), "utf8");
  assert.match(facts, /- Our deploy target is Cloudflare Workers\. \(\[/);
});

test("K-021 memory-markdown saves what a compaction is about to lose, and says it again", async (t) => {
  if (!await bubblewrap(t)) return;
  await using host = await supervised();
  const call = await startMemory(host, "memory");
  const gone = [{ id: "m1", role: "user", content: "Our port is 8080." }];
  const remaining = [{ id: "m2", role: "user", content: "Go on." }];
  const params = { role: "observer", messages_being_compacted: gone, messages_remaining: remaining };
  assert.deepEqual(await call("kaged.hook.pre_compact", { ...params, strategy: "drop" }), {
    retain: ["Our port is 8080."],
  });
  assert.deepEqual(await call("kaged.hook.post_compact", { ...params, strategy: "drop" }), {
    inject: "Remembered from before:\n- Our port is 8080.",
  });
});

test("K-035 K-036 memory-markdown shared by a project takes each agent's overrides from its call", async (t) => {
  if (!await bubblewrap(t)) return;
  await using host = await supervised();
  const call = await startMemory(host, "memory", { isolation: "project", tags: ["primary"] });
  await call("memory-markdown.retain", { content: "One thing", _config: { tags: ["researcher"] } }, RESEARCHER);
  await call("memory-markdown.retain", { content: "Other thing" });
  const { tags } = await call("memory-markdown.list_tags");
  assert.deepEqual(tags, [{ tag: "primary", count: 1 }, { tag: "researcher", count: 1 }]);
  assert.deepEqual(await readdir(join(host.home, "files/memory/music")), ["project"]);
});

test("K-068 memory-markdown keeps at shutdown what it held back", async (t) => {
  if (!await bubblewrap(t)) return;
  await using host = await supervised();
  const call = await startMemory(host, "memory", { retain_every_n_turns: 3 });
  await call("kaged.hook.on_session_idle", { transcript: [{ role: "user", content: "We use bun for scripts." }] });
  assert.equal((await call("memory-markdown.list_tags")).memories, 0);
  await host.supervisor.stop("memory");
  assert.match(
    await readFile(join(host.home, "files/memory/music/agent/facts.md"), "utf8"),
    /- We use bun for scripts\./,
  );
});

test("K-033 memory-markdown refuses a store it was not granted, and says why", async (t) => {
  if (!await bubblewrap(t)) return;
  await using host = await supervised();
  for (const [index, store] of ["project:/memory", "config:/other", "config:/memory/../x", "/tmp"].entries()) {
    const start = startMemory(host, `memory-${index}`, { store });
    await assert.rejects(start, { rpc: -32004 }, store);
  }
});

test("K-027 smart-compactor answers in its cage, and declines with -32006", async (t) => {
  if (!await bubblewrap(t)) return;
  await using host = await supervised();
  await host.supervisor.register({ dir: pluginDir("smart-compactor"), config: { digest_tokens: 100 } });
  await host.supervisor.start("smart-compactor");
  const compact = (old: unknown[]): Promise<Answer> =>
    host.supervisor.call("smart-compactor", "kaged.hook.pre_compact", {
      role: "compactor",
      messages_being_compacted: old,
      messages_remaining: [{ id: "s", role: "system", content: "You help." }],
      strategy: "drop",
      trigger: "threshold_crossed",
    }, { context: PRIMARY });
  const chatter = "Nothing of weight is said in this sentence here. ".repeat(20);
  const old = ["m1", "m2"].map((id) => ({ id, role: "user", content: `We decided to ship ${id}. ${chatter}` }));
  const { role, messages, superseded } = await compact(old);
  assert.deepEqual([role, superseded, messages.length], ["compactor", ["m1", "m2"], 2]);
  assert.match(messages[1].content, /## Decided\n- We decided to ship m1\.\n- We decided to ship m2\./);
  await assert.rejects(compact([]), { rpc: -32006 });
});

for (const name of ["memory-markdown", "smart-compactor"]) {
  test(`kaged plugin check finds nothing wrong with ${name}`, async (t) => {
    if (!await bubblewrap(t)) return;
    const { code, stdout, stderr } = await runKaged(["plugin", "check", pluginDir(name), "--json"]);
    const { ok, checks } = JSON.parse(stdout);
    assert.deepEqual([code, stderr, ok], [0, "", true], stdout);
    assert.deepEqual(checks.filter((check: { ok: boolean | null }) => check.ok !== true), []);
  });
}
