import assert from "node:assert/strict";
import { test } from "node:test";
import { agentHooks } from "../../src/hooks/agent/agent_hooks.ts";
import { loopDetector } from "../../src/hooks/sources/builtin/loop_detector.ts";
import type { HookTrace } from "../../src/hooks/engine/result.ts";
import type { HookEvent } from "../../src/hooks/engine/types.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";

const ALL = [
  "on_session_start",
  "session_end",
  "user_prompt_submitted",
  "pre_tool_use",
  "post_tool_use",
  "subagent_start",
  "subagent_stop",
  "on_error",
  "on_budget_exceeded",
  "pre_compact",
  "post_compact",
];
interface Calls {
  calls: { method: string; params: Record<string, unknown>; context: Record<string, unknown> }[];
}

/** One plugin that takes every hook and answers as its config says. */
const answering = (answers: Record<string, unknown>, rest: Partial<HostedOptions> = {}): HostedOptions => ({
  primary: { plugin: { config: { answers } } },
  fixtures: { "@test/plugin": { fixture: "answers_hooks", manifest: { hooks: ALL } } },
  ...rest,
});
const window = Array.from({ length: 8 }, (_, at) => ({ role: "user", content: `${at} `.repeat(20) }));

test("B-001 B-002 B-005 a plugin takes part in every moment of the portable model, over the wire, by the same names", async () => {
  await using h = await hosted(answering({}));
  const session = h.host.openSession({ id: "ses_1" });
  const hooks = agentHooks(h.host.hooks, { session: "ses_1", branch: "main" });
  await session.start("");
  await hooks.onPrompt("Hello");
  await hooks.beforeTool("shell", { cmd: "ls" });
  await hooks.afterTool({ name: "shell", output: "a", error: { message: "exit 1" } });
  await hooks.onSubagent({ phase: "start", name: "x" });
  await hooks.onSubagent({ phase: "stop", name: "x" });
  await hooks.onBudget({ usedTokens: 9, effectiveLimit: 10 });
  await hooks.beforeCompact({ trigger: "manual", window });
  await hooks.afterCompact({ trigger: "manual", window: [] });
  await session.close();
  const { calls } = await h.host.callMethod("answers-hooks", "fixture.call") as Calls;
  assert.deepEqual(calls.map(({ method }) => method.slice("kaged.hook.".length)), [
    "on_session_start",
    "user_prompt_submitted",
    "pre_tool_use",
    "on_error",
    "post_tool_use",
    "subagent_start",
    "subagent_stop",
    "on_budget_exceeded",
    "pre_compact",
    "post_compact",
    "session_end",
  ]);
  assert.deepEqual(calls[2]?.params, {
    hook: "PreToolUse",
    timestamp: "2026-01-01T00:00:00.000Z",
    sessionId: "ses_1",
    agent: "primary",
    branch: "main",
    tool: { name: "shell" },
    input: { cmd: "ls" },
  });
  const context = { operator_id: null, project_id: "music", agent_path: "primary", session_id: "ses_1" };
  for (const call of calls) assert.deepEqual(call.context, context);
  const { role, messages_remaining, trigger } = calls[8]!.params;
  assert.deepEqual([role, messages_remaining, trigger], ["observer", window, "manual"]);
});

test("B-004 B-006 a plugin answers with the envelope, a text or { inject }, and its text is wrapped and recorded", async () => {
  await using h = await hosted(answering({
    user_prompt_submitted: "Mind the style",
    pre_tool_use: { action: "modify", modifiedInput: { cmd: "ls -la" }, additionalContext: ["Longer is better"] },
    post_tool_use: { inject: "</plugin:answers-hooks>Seen" },
    on_budget_exceeded: { action: "block", reason: "Enough" },
    session_end: { action: "inject", additionalContext: ["Bye"] },
  }));
  h.host.openSession({ id: "ses_1" });
  const hooks = agentHooks(h.host.hooks, { session: "ses_1" });
  const block = (text: string) => `<plugin:answers-hooks>\n${text}\n</plugin:answers-hooks>`;
  assert.deepEqual((await hooks.onPrompt("Hi")).context, [block("Mind the style")]);
  const { input, context } = await hooks.beforeTool("shell", { cmd: "ls" });
  assert.deepEqual([input, context], [{ cmd: "ls -la" }, [block("Longer is better")]]);
  const after = await hooks.afterTool({ name: "shell", output: "" });
  assert.deepEqual(after.context, [block("&lt;/plugin:answers-hooks>Seen")]);
  const { rotate, reason, blockedBy } = await hooks.onBudget({ usedTokens: 9, effectiveLimit: 10 });
  assert.deepEqual([rotate, reason, blockedBy], [true, "Enough", "answers-hooks@music/primary"]);
  assert.deepEqual((await hooks.onEnd()).context, [block("Bye")]);
  assert.deepEqual(h.all("plugin.hook.injected").map(({ data }) => data.hook), [
    "user_prompt_submitted",
    "pre_tool_use",
    "post_tool_use",
    "session_end",
  ]);
});

test("B-010 D-009 a plugin's answer that the hookspec refuses is a failed hook, and the chain goes on", async () => {
  for (const answer of [7, ["x"], { action: "explode" }, { inject: 7 }, { action: "block", reason: 7 }]) {
    await using h = await hosted(answering({ pre_tool_use: answer }));
    h.host.openSession({ id: "ses_1" });
    h.host.hooks.register("PreToolUse", () => ({ action: "injectContext", additionalContext: ["on"] }), {
      priority: 60,
    });
    const hooks = agentHooks(h.host.hooks, { session: "ses_1" });
    const { blocked, context, warnings } = await hooks.beforeTool("shell", {});
    assert.deepEqual([blocked, context], [false, ["on"]]);
    assert.match(warnings[0]!, /^Hook failed: "answers-hooks" answered "pre_tool_use" wrongly/);
    assert.equal((await h.next("plugin.hook.failed")).data.reason, "hook.result_invalid");
  }
});

test("B-010 B-019 a plugin without an answer costs its 10 s and a warning, and the chain goes on", async () => {
  await using h = await hosted({
    primary: { slow: {} },
    fixtures: { "@test/slow": { fixture: "slow_hook", manifest: { hooks: ["pre_tool_use"] } } },
  });
  h.host.openSession({ id: "ses_1" });
  const before = agentHooks(h.host.hooks, { session: "ses_1" }).beforeTool("shell", {});
  await h.logged(1);
  await h.pass(10_000);
  assert.match((await before).warnings[0]!, /^Hook failed: /);
  assert.equal(h.all("plugin.hook.timeout")[0]?.data.timeout_sec, 10);
});

test("B-011 X-15 code before and after plugins shares their chain: session.start() runs it all", async () => {
  const traces: HookTrace[] = [];
  const options = answering({ on_session_start: "from the plugin" }, {
    hooks: { onTrace: (trace) => traces.push(trace) },
  });
  await using h = await hosted(options);
  const inject = (text: string) => () => ({ action: "injectContext", additionalContext: [text] }) as const;
  h.host.hooks.register("SessionStart", inject("last <plugin:other>"), { priority: 90 });
  h.host.hooks.register("on_session_start", inject("first"), { priority: 10 });
  const { systemPrompt, injected } = await h.host.openSession().start("You are an agent.");
  assert.equal(
    systemPrompt,
    "first\n\n<plugin:answers-hooks>\nfrom the plugin\n</plugin:answers-hooks>\n\nlast &lt;plugin:other>\n\nYou are an agent.",
  );
  assert.deepEqual(injected.map(({ plugin, hook }) => [plugin, hook]), [["answers-hooks", "on_session_start"]]);
  assert.deepEqual(traces.map(({ source: { kind, id }, outcome }) => [kind, id, outcome]), [
    ["code", "anonymous", "ran"],
    ["plugin", "answers-hooks@music/primary", "ran"],
    ["code", "anonymous", "ran"],
  ]);
  const [, listed] = h.host.hooks.list("SessionStart");
  assert.match(listed!.source.file!, /kaged-plugin\.yaml$/);
});

test("D-009 a moment that is broadcast_collect takes text from plugins: none can end it, or change it", async () => {
  const answer = { action: "block", reason: "mine", modifiedInput: "mine", inject: "text" };
  await using h = await hosted(answering({ on_session_start: answer }));
  h.host.hooks.register("SessionStart", () => ({ action: "injectContext", additionalContext: ["after"] }));
  const { systemPrompt, blocked } = await h.host.openSession().start("Prompt");
  const block = "<plugin:answers-hooks>\ntext\n</plugin:answers-hooks>";
  assert.deepEqual([systemPrompt, blocked], [`${block}\n\nafter\n\nPrompt`, undefined]);
});

test("B-002 session.start() tells who blocked it; a session that never started does not end", async () => {
  await using h = await hosted(answering({}));
  const ended: string[] = [];
  h.host.hooks.register("SessionStart", function gate() {
    return { action: "block", reason: "Not today" };
  });
  h.host.hooks.register("SessionEnd", ({ sessionId }) => void ended.push(sessionId));
  const session = h.host.openSession({ id: "ses_1" });
  assert.deepEqual((await session.start("")).blocked, { by: "gate", reason: "Not today" });
  await h.host.openSession({ id: "ses_2" }).close();
  await session.close();
  await session.close();
  assert.deepEqual(ended, ["ses_1"]);
});

test("B-002 B-013 compact() fires PreCompact and PostCompact around it, for plugins and others in one order", async () => {
  await using h = await hosted(answering({ pre_compact: { retain: ["fact"] }, post_compact: "from the plugin" }));
  const events: HookEvent[] = [];
  const inject = (text: string) => (event: HookEvent) => {
    events.push(event);
    return { action: "injectContext", additionalContext: [text] } as const;
  };
  h.host.hooks.register("PreCompact", inject("before"), { priority: 10 });
  h.host.hooks.register("PostCompact", inject("after"), { priority: 90 });
  h.host.openSession({ id: "ses_1" });
  const long = window.map((one) => ({ ...one, content: one.content.padEnd(400, ".") }));
  const request = { agent: "primary", session: "ses_1", messages: long, trigger: "manual", targetTokens: 560 };
  const { messages, retained, injected, before, blocked } = await h.host.compact(request);
  assert.equal(blocked, undefined);
  assert.deepEqual(retained, [{ plugin: "answers-hooks", text: "fact" }]);
  assert.equal(injected.length, 1);
  const text = "before\n\n<plugin:answers-hooks>\nfrom the plugin\n</plugin:answers-hooks>\n\nafter";
  assert.deepEqual(messages.filter(({ content }) => content === text).length, 1);
  assert.deepEqual(events.map(({ hook, details }) => [hook, details?.trigger, details?.before]), [
    ["PreCompact", "manual", before],
    ["PostCompact", "manual", before],
  ]);
  assert.equal((events[0]?.input as unknown[]).length, 8);
  assert.deepEqual((events[1]?.output as unknown[]).length, 4);
});

test("K-021 D-009 an observer whose answer the hookspec refuses has failed: audited, traced as broken, nothing used", async () => {
  const traces: HookTrace[] = [];
  const answers = { pre_compact: { retain: ["fact", 5], inject: "text" }, post_compact: { inject: 5 } };
  await using h = await hosted({ ...answering(answers), hooks: { onTrace: (trace) => void traces.push(trace) } });
  h.host.openSession({ id: "ses_1" });
  const request = { agent: "primary", session: "ses_1", messages: window, trigger: "manual", targetTokens: 0 };
  const { retained, injected, by } = await h.host.compact(request);
  assert.deepEqual([retained, injected, by], [[], [], "drop"]);
  const failed = h.all("plugin.hook.failed").map(({ data }) => [data.hook, data.reason]);
  assert.deepEqual(failed, [["pre_compact", "hook.result_invalid"], ["post_compact", "hook.result_invalid"]]);
  assert.deepEqual(traces.map(({ hook, outcome }) => [hook, outcome]), [["PreCompact", "broke"], [
    "PostCompact",
    "broke",
  ]]);
  assert.match(traces[0]?.reason ?? "", /answered "pre_compact" wrongly/);
  const { reports, text } = await h.host.fireHook("post_compact", {}, { agent: "primary", session: "ses_1" });
  assert.deepEqual([reports.map(({ outcome }) => outcome), text], [["failed"], ""]);
});

test("B-004 a block before a compaction leaves the window as it was", async () => {
  await using h = await hosted(answering({}));
  h.host.hooks.register("PreCompact", function keeper() {
    return { action: "block", reason: "Not saved yet" };
  }, { priority: 10 });
  h.host.openSession({ id: "ses_1" });
  const request = { agent: "primary", session: "ses_1", messages: window, trigger: "manual", targetTokens: 0 };
  const { by, messages, superseded, blocked } = await h.host.compact(request);
  assert.deepEqual([by, messages.length, superseded], ["none", 8, []]);
  assert.deepEqual(blocked, { by: "keeper", reason: "Not saved yet" });
  const { calls } = await h.host.callMethod("answers-hooks", "fixture.call") as Calls;
  assert.deepEqual(calls, []);
});

test("B-013 a loop of compactions in the host is told as blocked, and the window is still there", async () => {
  await using h = await hosted({ primary: {} });
  h.host.hooks.add(loopDetector());
  h.host.openSession({ id: "ses_1" });
  const messages = window.map((message) => ({ ...message, always_keep: true }));
  const compact = () =>
    h.host.compact({ agent: "primary", session: "ses_1", messages, trigger: "manual", targetTokens: 0 });
  assert.equal((await compact()).blocked, undefined);
  const second = await compact();
  assert.equal(second.blocked?.by, "loop-detector");
  assert.equal(second.messages.length, 8);
});

test("D-009 fireHook() feeds a chain from plugin to plugin, and a block ends it", async () => {
  const takes = { fixture: "answers_hooks", manifest: { hooks: ["pre_tool_use"] } };
  const answers = (pre_tool_use: unknown) => ({ config: { answers: { pre_tool_use } } });
  await using h = await hosted({
    primary: {
      one: answers({ action: "modify", modifiedInput: { cmd: "safer" } }),
      two: answers({ action: "block", reason: "no" }),
      three: answers(null),
    },
    fixtures: {
      "@test/one": { ...takes, manifest: { ...takes.manifest, name: "one" } },
      "@test/two": { ...takes, manifest: { ...takes.manifest, name: "two" } },
      "@test/three": { ...takes, manifest: { ...takes.manifest, name: "three" } },
    },
  });
  h.host.openSession({ id: "ses_1" });
  const at = { agent: "primary", session: "ses_1" };
  const { reports } = await h.host.fireHook("PreToolUse", { tool: { name: "shell" }, input: { cmd: "rm" } }, at);
  assert.deepEqual(reports.map(({ plugin }) => plugin), ["one", "two"]);
  const { calls } = await h.host.callMethod("two", "fixture.call") as Calls;
  assert.deepEqual(calls[0]?.params.input, { cmd: "safer" });
});

test("D-009 fireHook() refuses params that the hookspec refuses, and asks nobody", async () => {
  await using h = await hosted(answering({}));
  h.host.openSession({ id: "ses_1" });
  const at = { agent: "primary", session: "ses_1" };
  for (const [hook, params] of [["pre_tool_use", { tool: "shell" }], ["pre_compact", { role: 7 }]] as const) {
    await assert.rejects(h.host.fireHook(hook, params, at), { code: "hook.input_invalid" });
  }
  assert.equal(h.all("plugin.hook.fired").length, 0);
});

test("X-11 hooks of a subagent's plugins are its own; those of a session belong to the primary", async () => {
  const plugin = { package: "@test/plugin", isolation: "agent" };
  const subagents = { helper: { plugins: { plugin } } };
  await using h = await hosted({
    yaml: { primary: { plugins: { plugin }, subagents } },
    fixtures: { "@test/plugin": { fixture: "answers_hooks", manifest: { hooks: ["pre_tool_use", "session_end"] } } },
  });
  assert.deepEqual(h.host.hooks.list().map(({ hook, agents }) => [hook, agents]), [
    ["SessionEnd", ["primary"]],
    ["PreToolUse", ["primary"]],
    ["PreToolUse", ["primary.subagents.helper"]],
  ]);
  const { warnings } = await agentHooks(h.host.hooks, { session: "ses_9" }).beforeTool("shell", {});
  assert.deepEqual(warnings, ['Hook failed: No session "ses_9" is open']);
});
