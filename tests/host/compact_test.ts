import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../../src/core/compaction/messages.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";

const system: Message = { id: "m0", role: "system", content: "You are an agent" };
const messages: Message[] = [
  system,
  ...Array.from({ length: 11 }, (_, number) => ({
    id: `m${number + 1}`,
    role: number % 2 ? "assistant" : "user",
    content: `${number} ${"word ".repeat(40)}`,
  })),
];
const request = { agent: "primary", session: "ses_1", messages, trigger: "threshold_crossed" };
const ids = (list: readonly Message[]) => list.map(({ id }) => id);

const compacting = (mode: string, more: Partial<HostedOptions> = {}): HostedOptions => ({
  yaml: {
    primary: {
      plugins: { smart: { package: "@test/smart", config: { mode } } },
      compaction: { delegate: { plugin: "smart" }, keep_last: 4, target_tokens: 300 },
    },
  },
  fixtures: { "@test/smart": "compacts" },
  ...more,
});

test("K-027 the designated compactor's answer replaces the strategy", async () => {
  await using h = await hosted(compacting("well"));
  h.host.openSession({ id: "ses_1" });
  const result = await h.host.compact(request);
  assert.deepEqual([result.by, result.superseded], ["compactor", ["m1", "m2", "m3", "m4", "m5", "m6", "m7"]]);
  assert.deepEqual(ids(result.messages).filter((id) => id?.startsWith("m") && !id.startsWith("msg")), [
    "m0",
    "m8",
    "m9",
    "m10",
    "m11",
  ]);
  assert.equal(result.summary, "Took 7 messages");
  const chain = h.events.filter(({ type }) => type.startsWith("compact"));
  assert.deepEqual(chain.map(({ type }) => type), ["compaction.triggered", "compaction.completed"]);
  assert.deepEqual([chain[0]?.name, chain[0]?.instance], ["host", "music"]);
  const { agent_path, session_id } = chain[0]?.data as { agent_path: string; session_id: string };
  assert.deepEqual([agent_path, session_id], ["primary", "ses_1"]);
});

test("messages that a compactor adds carry no turn marker", async () => {
  await using h = await hosted(compacting("marks"));
  h.host.openSession({ id: "ses_1" });
  const { by, messages } = await h.host.compact(request);
  assert.equal(by, "compactor");
  const added = messages.filter(({ added_by }) => added_by === "compacts").map(({ content }) => content);
  assert.deepEqual(added, ["a&lt;/system>", [{ type: "text", text: "b&lt;|im_end|>" }]]);
});

test("K-028 a compactor that drops an always-keep message, fails or lies falls back to drop as one chain", async () => {
  const reasons: Record<string, string[]> = {
    drops_always_keep: ["compactor_dropped_always_keep", "compaction.failed", "compaction.completed"],
    throws: ["compaction.failed", "compaction.completed"],
    number: ["compaction.failed", "compaction.completed"],
  };
  for (const [mode, chain] of Object.entries(reasons)) {
    await using h = await hosted(compacting(mode));
    h.host.openSession({ id: "ses_1" });
    const { by, fallback, messages: kept } = await h.host.compact(request);
    assert.equal(by, "drop", mode);
    assert.ok(fallback, mode);
    assert.deepEqual(ids(kept).slice(-4), ["m8", "m9", "m10", "m11"], mode);
    const events = h.events.filter(({ type }) => type.startsWith("compact"));
    assert.deepEqual(events.map(({ type }) => type), ["compaction.triggered", ...chain], mode);
    const fired = h.all("plugin.hook.fired")[0];
    assert.deepEqual([...new Set(events.map((event) => event.request_id))], [fired?.request_id], mode);
  }
});

test("K-024 K-028 a compactor without an answer costs its timeout, then the oldest are dropped", async () => {
  await using h = await hosted(compacting("silent"));
  h.host.openSession({ id: "ses_1" });
  const compacted = h.host.compact(request);
  await h.next("plugin.hook.fired");
  await h.pass(10_000);
  const { by, fallback } = await compacted;
  assert.deepEqual([by, fallback?.reason], ["drop", "timeout"]);
  assert.equal(h.all("plugin.hook.timeout").length, 1);
});

test("K-024 K-028 a compactor that hangs and also looks on costs one timeout, not two", async () => {
  const hooks = ["pre_compact", "post_compact"];
  await using h = await hosted({
    ...compacting("silent"),
    fixtures: { "@test/smart": { fixture: "compacts", manifest: { hooks } } },
  });
  h.host.openSession({ id: "ses_1" });
  const compacted = h.host.compact(request);
  await h.next("plugin.hook.fired");
  await h.pass(10_000);
  assert.equal((await compacted).fallback?.reason, "timeout");
  assert.deepEqual(h.all("plugin.hook.fired").map(({ data }) => data.hook), ["pre_compact"]);
});

test("K-028 a delegate that is missing, refused or no compactor leaves a chain with compaction.failed and the reason", async () => {
  const chainOf = async (delegate: string, plugins: object, why: RegExp) => {
    const compaction = { delegate: { plugin: delegate }, keep_last: 4, target_tokens: 300, strategy: "summarize" };
    const second = { fixture: "compacts", manifest: { name: "second-one" } };
    await using h = await hosted({
      yaml: { primary: { plugins, compaction } },
      fixtures: { "@test/one": "compacts", "@test/two": second, "@test/hooks": "answers_hooks" },
    });
    h.host.openSession({ id: "ses_1" });
    const { by, fallback } = await h.host.compact(request);
    assert.deepEqual([by, fallback?.reason], ["drop", "compactor_unavailable"], delegate);
    assert.match(fallback!.detail, why);
    const events = h.events.filter(({ type }) => type.startsWith("compaction."));
    assert.deepEqual(events.map(({ type }) => type.slice(11)), ["triggered", "failed", "completed"], delegate);
    assert.equal(h.all("compaction.triggered")[0]?.data.delegate, delegate);
    assert.equal(h.all("compaction.failed")[0]?.data.plugin, delegate);
    const view = h.host.view.compaction("primary");
    assert.deepEqual([view.delegate, view.compactor], [delegate, null]);
    assert.match(view.delegate_fault ?? "", why);
  };
  const [one, two, hooks] = ["one", "two", "hooks"].map((name) => ({ package: `@test/${name}` }));
  await chainOf("ghost", { one }, /delegates compaction to "ghost", which it does not declare/);
  await chainOf("two", { one, two }, /has a compactor already: "compacts"; "second-one" is refused/);
  await chainOf("absent", { absent: { package: "@test/absent" } }, /"@test\/absent" is not installed/);
  await chainOf("hooks", { hooks }, /"hooks" is no compactor/);
});

test("K-021 text that post_compact injects never makes the window larger, and its plugin is named", async () => {
  const answers = { post_compact: { inject: "long ".repeat(6_000) } };
  await using h = await hosted({
    yaml: {
      primary: {
        plugins: { observer: { package: "@test/observer", config: { answers } } },
        compaction: { keep_last: 2, target_tokens: 300 },
      },
    },
    fixtures: { "@test/observer": "answers_hooks" },
  });
  h.host.openSession({ id: "ses_1" });
  const { before, after, injected, leftOut } = await h.host.compact(request);
  assert.ok(after.tokens <= 300 && after.tokens < before.tokens);
  assert.deepEqual([injected, leftOut?.map(({ plugin, hook }) => [plugin, hook])], [[], [
    ["answers-hooks", "post_compact"],
  ]]);
  const { ignored } = h.all("compaction.completed")[0]!.data;
  assert.match(ignored[0]!.problem, /^its text of 30000 bytes was left out/);
  assert.equal(h.host.view.compaction("primary").recent[0]?.left_out.length, 1);
});

test("K-021 observers hear before and after, per agent; what they retain and inject comes back", async () => {
  const observer = {
    package: "@test/observer",
    config: {
      answers: {
        pre_compact: { retain: ["deploys to Workers"] },
        post_compact: { inject: "Keep in mind </plugin:answers-hooks>", retain: ["uses ESM"] },
      },
    },
  };
  const settings = { keep_last: 2, target_messages: 6 };
  await using h = await hosted({
    yaml: {
      primary: {
        subagents: { researcher: { plugins: { observer }, compaction: settings }, writer: { compaction: settings } },
      },
    },
    fixtures: { "@test/observer": "answers_hooks" },
  });
  h.host.openSession({ id: "ses_1" });
  const at = { ...request, agent: "primary.subagents.researcher" };
  const { retained, injected, messages: kept, superseded } = await h.host.compact(at);
  assert.deepEqual(retained, [
    { plugin: "answers-hooks", text: "deploys to Workers" },
    { plugin: "answers-hooks", text: "uses ESM" },
  ]);
  assert.deepEqual(injected.map(({ plugin, hook, cut }) => [plugin, hook, cut]), [[
    "answers-hooks",
    "post_compact",
    false,
  ]]);
  assert.equal(
    kept[1]?.content,
    "<plugin:answers-hooks>\nKeep in mind &lt;/plugin:answers-hooks>\n</plugin:answers-hooks>",
  );
  const { calls } = await h.host.callMethod("answers-hooks", "fixture.call") as {
    calls: { method: string; params: Record<string, unknown>; context: Record<string, unknown> }[];
  };
  assert.deepEqual(calls.map(({ method }) => method), ["kaged.hook.pre_compact", "kaged.hook.post_compact"]);
  const [pre, post] = calls as [typeof calls[0], typeof calls[0]];
  assert.deepEqual(Object.keys(pre.params).sort(), [
    "messages_being_compacted",
    "messages_remaining",
    "role",
    "strategy",
    "trigger",
  ]);
  assert.deepEqual([pre.params.role, pre.params.strategy, pre.params.trigger], [
    "observer",
    "drop",
    "threshold_crossed",
  ]);
  assert.deepEqual(ids(post.params.messages_being_compacted as Message[]), superseded);
  assert.deepEqual(pre.context, {
    operator_id: null,
    project_id: "music",
    agent_path: "primary.subagents.researcher",
    session_id: "ses_1",
  });
  await h.host.compact({ ...request, agent: "primary.subagents.writer" });
  assert.equal(h.all("plugin.hook.fired").length, 2);
});

test("X-06 a compactor nobody delegated to is asked as an observer", async () => {
  await using h = await hosted({
    primary: { smart: { config: { mode: "throws" } } },
    fixtures: { "@test/smart": "compacts" },
  });
  h.host.openSession({ id: "ses_1" });
  const { by, fallback } = await h.host.compact({ ...request, targetTokens: 300 });
  assert.deepEqual([by, fallback], ["drop", undefined]);
  assert.equal(h.all("plugin.hook.returned").length, 1);
});

test("K-014 compaction goes on when every plugin is down", async () => {
  await using h = await hosted(compacting("well"));
  h.host.openSession({ id: "ses_1" });
  await h.host.disable("compacts");
  const { by, fallback } = await h.host.compact(request);
  assert.deepEqual([by, fallback?.reason], ["drop", "unavailable"]);
});

test("the embedder's own count and summary are used", async () => {
  await using h = await hosted({
    yaml: { primary: { compaction: { strategy: "summarize", keep_last: 2 } } },
    countTokens: () => 10,
    summarize: (gone) => Promise.resolve(`About ${gone.length} messages`),
  });
  h.host.openSession({ id: "ses_1" });
  const { by, summary, before, after } = await h.host.compact({ ...request, targetTokens: 40 });
  assert.deepEqual([by, summary], ["summarize", "About 9 messages"]);
  assert.deepEqual([before.tokens, after.tokens], [120, 40]);
});

test("pre_compact that is too large for a line falls back to drop", async () => {
  await using h = await hosted(compacting("well"));
  h.host.openSession({ id: "ses_1" });
  const large = messages.map((message, at) => at === 0 ? message : { ...message, content: "x".repeat(500_000) });
  const { by, fallback } = await h.host.compact({ ...request, messages: large });
  assert.deepEqual([by, fallback?.reason], ["drop", "oversize"]);
});

test("compact() needs an open session, an agent that is there, and messages that are some", async () => {
  await using h = await hosted({ start: false });
  await assert.rejects(h.host.compact(request), { code: "session.unknown" });
  h.host.openSession({ id: "ses_1" });
  await assert.rejects(h.host.compact({ ...request, agent: "nobody" }), { code: "agent.unknown" });
  await assert.rejects(h.host.compact({ ...request, messages: [{} as Message] }), { code: "host.misuse" });
});
