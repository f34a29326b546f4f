import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostError } from "../../src/core/errors/host_error.ts";
import { hosted } from "../support/hosted.ts";

const at = { agent: "primary", session: "ses_1" };
const RESEARCHER = "primary.subagents.researcher";

test("K-029 K-031 a declared plugin's tools are on for that agent alone, with their schemas", async () => {
  await using h = await hosted({
    yaml: {
      primary: {
        plugins: { memory: { package: "@test/memory" } },
        subagents: { researcher: {} },
      },
    },
    fixtures: { "@test/memory": "answers_hooks" },
  });
  assert.deepEqual(h.host.tools("primary").map(({ name, description, plugin }) => [name, description, plugin]), [
    ["answers-hooks.look", "Tells what it was asked", "answers-hooks"],
    ["answers-hooks.ask", "Takes anything", "answers-hooks"],
  ]);
  assert.deepEqual(h.host.tools("primary")[1]?.parametersSchema, { type: "object" });
  assert.deepEqual(h.host.tools(RESEARCHER), []);
  assert.throws(() => h.host.tools("secondary"), { code: "agent.unknown", http: 404 });
  assert.deepEqual(h.all("plugin.tool_registered").map(({ name, data }) => [name, data]), [
    ["answers-hooks", { tool: "answers-hooks.look", agent_path: "primary" }],
    ["answers-hooks", { tool: "answers-hooks.ask", agent_path: "primary" }],
  ]);
});

test("K-031 an agent's tools: block switches a tool off", async () => {
  await using h = await hosted({
    yaml: {
      primary: {
        plugins: { memory: { package: "@test/memory" } },
        tools: { "answers-hooks.look": { enabled: false } },
      },
    },
    fixtures: { "@test/memory": "answers_hooks" },
  });
  h.host.openSession({ id: "ses_1" });
  assert.deepEqual(h.host.tools("primary").map(({ name }) => name), ["answers-hooks.ask"]);
  await assert.rejects(h.host.callTool("answers-hooks.look", { query: "x" }, at), {
    code: "tool.unknown",
    rpc: -32601,
  });
});

test("K-015 a tool call carries its arguments and the whole context; a subagent's carries the primary's session", async () => {
  const memory = { package: "@test/memory" };
  await using h = await hosted({
    operatorId: "operator",
    yaml: { primary: { plugins: { memory }, subagents: { researcher: { plugins: { memory } } } } },
    fixtures: { "@test/memory": "answers_hooks" },
  });
  h.host.openSession({ id: "ses_1" });
  for (const agent of ["primary", RESEARCHER]) {
    const result = await h.host.callTool("answers-hooks.look", { query: "x" }, { agent, session: "ses_1" });
    const { params: { _context: { request_id, ...context }, ...args } } = result as {
      params: { _context: Record<string, string> };
    };
    assert.deepEqual(args, { query: "x" });
    assert.match(String(request_id), /^req_/);
    assert.deepEqual(context, { operator_id: "operator", project_id: "music", agent_path: agent, session_id: "ses_1" });
  }
});

test("a tool call with wrong arguments is refused with -32602 and the failing path, and never sent", async () => {
  await using h = await hosted({ primary: { memory: {} }, fixtures: { "@test/memory": "answers_hooks" } });
  h.host.openSession({ id: "ses_1" });
  const wrong = h.host.callTool("answers-hooks.look", { query: "x", tags: ["a", 7] }, at);
  await assert.rejects(wrong, (error: HostError) => {
    assert.deepEqual([error.code, error.rpc, (error.data as { path: string }).path], [
      "tool.arguments_invalid",
      -32602,
      "tags[1]",
    ]);
    return true;
  });
  await assert.rejects(h.host.callTool("answers-hooks.look", { query: "x", _config: {} }, at), {
    code: "tool.arguments_invalid",
  });
  assert.equal(h.all("plugin.method_called").length, 0);
});

test("a tool call needs a session that is open and an agent that is there", async () => {
  await using h = await hosted({ primary: { memory: {} }, fixtures: { "@test/memory": "answers_hooks" } });
  const call = h.host.callTool("answers-hooks.look", { query: "x" }, at);
  await assert.rejects(call, { code: "session.unknown" });
  h.host.openSession({ id: "ses_1" });
  const stranger = h.host.callTool("answers-hooks.look", { query: "x" }, { ...at, agent: "primary.subagents.x" });
  await assert.rejects(stranger, { code: "agent.unknown" });
  await assert.rejects(h.host.callTool("answers-hooks.lok", { query: "x" }, at), {
    code: "tool.unknown",
    hint: 'Did you mean "answers-hooks.look"?',
  });
});

test("a tool call ends at its signal and at its timeout", async () => {
  const tools = [{ name: "wait", description: "Waits", parameters_schema: { type: "object" } }];
  await using h = await hosted({
    primary: { slow: {} },
    fixtures: { "@test/slow": { fixture: "slow_hook", manifest: { tools } } },
  });
  h.host.openSession({ id: "ses_1" });
  const stop = new AbortController();
  const aborted = h.host.callTool("slow-hook.wait", {}, { ...at, signal: stop.signal });
  const slow = h.host.callTool("slow-hook.wait", {}, { ...at, timeoutMs: 50 });
  await h.logged(2);
  stop.abort();
  await assert.rejects(aborted, { code: "protocol.cancelled" });
  await h.pass(50);
  await assert.rejects(slow, { code: "protocol.timeout" });
});

test("K-014 a tool of a plugin that is down is [BLOCKED], and of one that stays down no tool at all", async () => {
  await using h = await hosted({
    primary: { memory: {}, other: {} },
    fixtures: {
      "@test/memory": "answers_hooks",
      "@test/other": { fixture: "answers_hooks", manifest: { name: "other" } },
    },
  });
  h.host.openSession({ id: "ses_1" });
  await h.host.disable("answers-hooks");
  await assert.rejects(h.host.callTool("answers-hooks.look", { query: "x" }, at), {
    code: "plugin.unavailable",
    http: 502,
    message: /^\[BLOCKED\]/,
  });
  assert.deepEqual(h.host.tools("primary").map(({ name }) => name), ["other.look", "other.ask"]);
  await h.host.enable("answers-hooks");
  await h.host.callTool("answers-hooks.look", { query: "x" }, at);
  assert.equal(h.host.tools("primary").length, 4);
});

test("K-030 the second plugin of one name is refused with tool_name_collision, and the first keeps its tools", async () => {
  await using h = await hosted({
    primary: { first: {}, second: {} },
    fixtures: { "@test/first": "answers_hooks", "@test/second": "answers_hooks" },
    start: false,
  });
  const { running, failed } = await h.host.start();
  assert.deepEqual(running, ["answers-hooks@music/primary"]);
  assert.deepEqual(failed.map(({ error }) => error.code), ["project.duplicate_plugin"]);
  assert.deepEqual(h.all("plugin.tool_name_collision").map(({ data }) => data.tool), [
    "answers-hooks.look",
    "answers-hooks.ask",
  ]);
  assert.deepEqual(h.host.plugins("primary").map(({ key, state, instance }) => [key, state, instance]), [
    ["first", "running", "answers-hooks@music/primary"],
    ["second", "refused", "answers-hooks@music/primary#second"],
  ]);
});
