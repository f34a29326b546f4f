import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { detectRuntime } from "../../src/adapters/default.ts";
import { hosted, type HostedOptions } from "../support/hosted.ts";
import { recordSpans } from "../support/recorded_spans.ts";
import { until } from "../support/until.ts";

const memory: HostedOptions = { primary: { memory: {} }, fixtures: { "@test/memory": "answers_hooks" } };
const at = { agent: "primary", session: "ses_1" };
const told = { agentName: "primary", conversationId: "ses_1", input: "What do you know?" };

interface Seen {
  readonly params: { readonly _context: { readonly traceparent?: string } };
}

test("T-005 a run, its tools, hooks and compactions become one trace, and the caged plugin can go on with it", async () => {
  using recorded = recordSpans();
  await using h = await hosted({ ...memory, tracing: true });
  await h.host.openSession({ id: "ses_1" }).start("");
  h.host.emit("agent:start", told);
  const { params } = await h.host.callTool("answers-hooks.look", { query: "my secret" }, at) as Seen;
  const messages = [{ id: "m1", role: "user", content: "x" }];
  await h.host.compact({ ...at, messages, trigger: "manual" });
  const usage = { promptTokens: 1, completionTokens: 1, totalTokens: 2 };
  h.host.emit("agent:end", { ...told, output: "all of it", toolsUsed: [], usage, duration: 1 });
  assert.deepEqual(recorded.shape, [
    "hook on_session_start",
    "run primary > tool answers-hooks.look",
    "compaction primary > hook pre_compact",
    "compaction primary > hook post_compact",
    "run primary > compaction primary",
    "run primary",
  ]);
  const { traceId, spanId } = recorded.named("tool answers-hooks.look").spanContext();
  assert.equal(params._context.traceparent, `00-${traceId}-${spanId}-01`);
  const all = JSON.stringify(recorded.spans.map(({ name, attributes, events }) => [name, attributes, events]));
  assert.doesNotMatch(all, /secret|What do you know|all of it/);
});

test("T-005 each hook a plugin gets carries the trace of its own span", async () => {
  using recorded = recordSpans();
  await using h = await hosted({ ...memory, tracing: true });
  const session = h.host.openSession({ id: "ses_1" });
  await session.start("");
  await session.idle();
  const { calls } = await h.host.callMethod("answers-hooks", "fixture.call", {}) as {
    calls: { method: string; context: { traceparent?: string } }[];
  };
  for (const hook of ["on_session_start", "on_session_idle"]) {
    const { traceId, spanId } = recorded.named(`hook ${hook}`).spanContext();
    const call = calls.find(({ method }) => method === `kaged.hook.${hook}`);
    assert.equal(call?.context.traceparent, `00-${traceId}-${spanId}-01`);
  }
});

test("a tool call and a hook that fail end their spans with the reason", async () => {
  using recorded = recordSpans();
  await using h = await hosted({
    primary: { bad: {}, memory: {} },
    fixtures: { "@test/bad": "throws_in_hook", "@test/memory": "answers_hooks" },
    tracing: true,
  });
  await h.host.openSession({ id: "ses_1" }).start("");
  await h.host.disable("answers-hooks");
  await assert.rejects(h.host.callTool("answers-hooks.look", { query: "x" }, at));
  assert.deepEqual(recorded.spans.map(({ name, status }) => [name, status.message]), [
    ["hook on_session_start", "failed"],
    ["hook on_session_start", undefined],
    ["tool answers-hooks.look", "plugin.unavailable"],
  ]);
});

test("T-005 a background job, its run and the tools of the run become one trace", async () => {
  using recorded = recordSpans();
  await using h = await hosted({ ...memory, tracing: true, events: { level: "trace" } });
  h.host.agent("primary", async ({ tools }) => {
    const { params } = await tools.call("answers-hooks.look", { query: "x" }) as Seen;
    return params._context.traceparent ?? "none";
  });
  const { id } = await h.host.jobs.start({ agentName: "primary", input: "my secret" });
  const { result } = await h.host.jobs.finished(id);
  await until(() => recorded.spans.length >= 3, "three spans", "turn");
  assert.deepEqual(recorded.shape, [
    "run primary > tool answers-hooks.look",
    "job primary > run primary",
    "job primary",
  ]);
  const { traceId, spanId } = recorded.named("tool answers-hooks.look").spanContext();
  assert.equal(result, `00-${traceId}-${spanId}-01`);
});

test("without tracing a plugin's context has no traceparent, even where the program traces", async () => {
  using recorded = recordSpans();
  await using h = await hosted(memory);
  h.host.openSession({ id: "ses_1" });
  const { params } = await h.host.callTool("answers-hooks.look", { query: "x" }, at) as Seen;
  assert.equal("traceparent" in params._context, false);
  assert.deepEqual(recorded.spans, []);
});

test("T-003 OpenTelemetry is loaded when tracing is asked for, and not before", async () => {
  const { executable, name } = await detectRuntime();
  const program = fileURLToPath(new URL("fixtures/loaded_modules.ts", import.meta.url));
  const flags = name === "deno" ? ["run", "-A", "--no-check", "--quiet"] : [];
  const { stdout } = await promisify(execFile)(executable, [...flags, program]);
  assert.deepEqual(JSON.parse(stdout), { before: 0, afterPlainHost: 0, afterTracingHost: true });
});
