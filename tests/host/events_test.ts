import assert from "node:assert/strict";
import { test } from "node:test";
import type { AnyEvent } from "../../src/events/types.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";

const memory: HostedOptions = { primary: { memory: {} }, fixtures: { "@test/memory": "answers_hooks" } };
const at = { agent: "primary", session: "ses_1" };
const turn = () => new Promise(setImmediate);

test("T-001b T-005 tool calls, hooks and compactions are heard at the level trace", async () => {
  await using h = await hosted({ ...memory, events: { level: "trace" } });
  const heard: AnyEvent[] = [];
  const end = h.host.on("*", (event) => void heard.push(event));
  const session = h.host.openSession({ id: "ses_1" });
  await session.start("");
  await h.host.callTool("answers-hooks.look", { query: "x" }, at);
  const lone = { id: "m1", role: "user", content: "x" };
  await h.host.compact({ ...at, messages: [lone], trigger: "manual" });
  await turn();
  assert.deepEqual(heard.map(({ type }) => type), [
    "hook:execute",
    "tool:execute",
    "hook:execute",
    "hook:execute",
    "compaction:execute",
  ]);
  const [hook, tool, , , compaction] = heard;
  assert.deepEqual(hook, {
    type: "hook:execute",
    agentName: "primary",
    plugin: "answers-hooks",
    hook: "on_session_start",
    outcome: "ok",
    duration: 0,
    conversationId: "ses_1",
    timestamp: "2026-01-01T00:00:00.000Z",
  });
  const { output, ...rest } = tool as Extract<AnyEvent, { type: "tool:execute" }>;
  assert.equal((output as { tool: string }).tool, "look");
  assert.deepEqual(rest, {
    type: "tool:execute",
    agentName: "primary",
    toolName: "answers-hooks.look",
    input: { query: "x" },
    duration: 0,
    conversationId: "ses_1",
    timestamp: "2026-01-01T00:00:00.000Z",
  });
  assert.deepEqual((compaction as { by: string }).by, "none");
  end();
  await session.idle();
  await turn();
  assert.equal(heard.length, 5);
});

test("T-002 at the level summary the steps within a run are not heard, the embedder's own runs are", async () => {
  await using h = await hosted({ ...memory, events: { level: "summary" } });
  const heard: string[] = [];
  h.host.on("*", ({ type }) => void heard.push(type));
  h.host.openSession({ id: "ses_1" });
  await h.host.callTool("answers-hooks.look", { query: "x" }, at);
  h.host.emit("agent:start", { agentName: "primary", input: "Hello", conversationId: "ses_1" });
  await turn();
  assert.deepEqual(heard, ["agent:start"]);
});

test("T-003 without events nothing is heard and nothing breaks", async () => {
  await using h = await hosted(memory);
  const end = h.host.on("*", () => assert.fail("heard something"));
  h.host.openSession({ id: "ses_1" });
  await h.host.callTool("answers-hooks.look", { query: "x" }, at);
  h.host.emit("agent:start", { agentName: "primary", input: "Hello", conversationId: "ses_1" });
  await turn();
  end();
});

test("T-004 a listener that throws is told of and reaches nobody", async () => {
  const warnings: string[] = [];
  await using h = await hosted({ ...memory, events: { level: "trace" }, onWarning: (text) => warnings.push(text) });
  h.host.on("tool:execute", () => {
    throw new Error("oops");
  });
  h.host.openSession({ id: "ses_1" });
  await h.host.callTool("answers-hooks.look", { query: "x" }, at);
  await turn();
  assert.deepEqual(warnings, ['A listener of "tool:execute" failed: Error: oops']);
});

test("a tool call and a hook that fail are heard with what went wrong", async () => {
  await using h = await hosted({
    primary: { bad: {}, memory: {} },
    fixtures: { "@test/bad": "throws_in_hook", "@test/memory": "answers_hooks" },
    events: { level: "trace" },
  });
  const outputs: unknown[] = [];
  h.host.on("tool:execute", ({ output }) => void outputs.push(output));
  h.host.on("hook:execute", ({ outcome }) => void outputs.push(outcome));
  await h.host.openSession({ id: "ses_1" }).start("");
  await h.host.disable("answers-hooks");
  await assert.rejects(h.host.callTool("answers-hooks.look", { query: "x" }, at));
  await turn();
  assert.deepEqual(outputs.slice(0, 2), ["failed", "ok"]);
  assert.equal((outputs[2] as { error: { code: string } }).error.code, "plugin.unavailable");
});

test("K-016 plugins' notifications are heard with their instance", async () => {
  await using h = await hosted({ primary: { e: {} }, fixtures: { "@test/e": "echo" } });
  const heard: unknown[] = [];
  const end = h.host.onNotification((notification) => void heard.push(notification));
  await h.host.callMethod("echo", "echo.notify", { count: 1 });
  assert.deepEqual(heard, [{ instance: "echo@music/primary", method: "echo.happened", params: { number: 0 } }]);
  end();
});
