import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "@opentelemetry/api";
import { HostError } from "../../src/core/errors/host_error.ts";
import { loadTracing } from "../../src/otel/load_tracing.ts";
import { createTracing, withSpan } from "../../src/otel/tracing.ts";
import { recordSpans } from "../support/recorded_spans.ts";

const at = { agent: "primary", session: "ses_1" };
const told = { agentName: "primary", conversationId: "ses_1" };

test("T-005 work in a span is a child of the work around it, in the same trace", async () => {
  using recorded = recordSpans();
  const tracing = createTracing(api);
  await tracing.span("job", { name: "primary" }, () =>
    tracing.span("run", { name: "primary" }, async () => {
      await tracing.span("tool", { name: "a.b" }, () => Promise.resolve());
    }));
  assert.deepEqual(recorded.shape, ["run primary > tool a.b", "job primary > run primary", "job primary"]);
  assert.equal(new Set(recorded.spans.map((span) => span.spanContext().traceId)).size, 1);
});

test("a span names the agent, the session and the tool as OpenTelemetry does", async () => {
  using recorded = recordSpans();
  const facts = { name: "a.b", ...at, attributes: { "kaged.plugin": "a" } };
  await createTracing(api).span("tool", facts, () => Promise.resolve());
  assert.deepEqual(recorded.named("tool a.b").attributes, {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "a.b",
    "gen_ai.agent.name": "primary",
    "gen_ai.conversation.id": "ses_1",
    "kaged.plugin": "a",
  });
});

test("the carrier of a span names that very span", async () => {
  using recorded = recordSpans();
  const tracing = createTracing(api);
  const [given, active] = await tracing.span(
    "tool",
    { name: "x" },
    ({ carrier }) => Promise.resolve([carrier, tracing.carrier()]),
  );
  const { traceId, spanId } = recorded.named("tool x").spanContext();
  assert.deepEqual(given, { traceparent: `00-${traceId}-${spanId}-01` });
  assert.deepEqual(active, given);
});

test("where no SDK is registered the carrier is empty and the work is done", async () => {
  const tracing = createTracing(api);
  assert.deepEqual(await tracing.span("tool", { name: "x" }, ({ carrier }) => Promise.resolve(carrier)), {});
  assert.deepEqual(tracing.carrier(), {});
});

test("work that throws ends its span with the code and never with the message", async () => {
  using recorded = recordSpans();
  const tracing = createTracing(api);
  const refusal = new HostError("tool.unknown", "the secret question");
  await assert.rejects(tracing.span("tool", { name: "x" }, () => Promise.reject(refusal)), refusal);
  await assert.rejects(tracing.span("tool", { name: "y" }, () => Promise.reject(new RangeError("secret"))));
  await tracing.span("hook", { name: "z" }, ({ fail }) => Promise.resolve(fail("timeout")));
  assert.deepEqual(recorded.spans.map(({ status, attributes }) => [status, attributes["error.type"]]), [
    [{ code: 2, message: "tool.unknown" }, "tool.unknown"],
    [{ code: 2, message: "RangeError" }, "RangeError"],
    [{ code: 2, message: "timeout" }, "timeout"],
  ]);
  assert.doesNotMatch(JSON.stringify(recorded.spans.map(({ events, attributes }) => [events, attributes])), /secret/);
});

test("T-005 a run told of by events stands between the span it began in and the tools of its session", async () => {
  using recorded = recordSpans();
  const tracing = createTracing(api);
  const tool = (session: string, name: string) =>
    tracing.span("tool", { name, ...at, session }, () => Promise.resolve());
  await tracing.span("job", { name: "request" }, async () => {
    tracing.hear("agent:start", { ...told, jobId: "job_1" });
    await tool("ses_1", "inside");
    await tool("ses_2", "elsewhere");
    await tracing.span("job", { name: "step" }, () => tool("ses_1", "in a step"));
    tracing.hear("agent:end", { ...told, jobId: "job_1" });
    await tool("ses_1", "after");
  });
  assert.deepEqual(recorded.shape, [
    "run primary > tool inside",
    "job request > tool elsewhere",
    "job step > tool in a step",
    "job request > job step",
    "job request > run primary",
    "job request > tool after",
    "job request",
  ]);
  assert.equal(recorded.named("run primary").attributes["kaged.job"], "job_1");
});

test("a run that fails is marked, an end without a start is ignored, other events are none of its business", () => {
  using recorded = recordSpans();
  const tracing = createTracing(api);
  tracing.hear("agent:end", told);
  tracing.hear("tool:execute", told);
  tracing.hear("agent:start", told);
  tracing.hear("agent:error", told);
  assert.deepEqual(recorded.spans.map(({ name, status }) => [name, status.message]), [["run primary", "agent_error"]]);
});

test("runs that are never told to end are let go of, the oldest first", () => {
  using recorded = recordSpans();
  const tracing = createTracing(api);
  for (let run = 0; run <= 1000; run++) tracing.hear("agent:start", { ...told, conversationId: `ses_${run}` });
  assert.deepEqual(
    recorded.spans.map(({ status, attributes }) => [status.message, attributes["gen_ai.conversation.id"]]),
    [["never_ended", "ses_0"]],
  );
});

test("tracing that is not asked for loads nothing", async () => {
  const importApi = () => assert.fail("loaded");
  assert.equal(await loadTracing(undefined, importApi), null);
  assert.equal(await loadTracing(false, importApi), null);
  assert.equal(
    await withSpan(null, "tool", { name: "x" }, ({ carrier }) => Promise.resolve(carrier.traceparent)),
    undefined,
  );
});

test("tracing that is asked for without OpenTelemetry says what to install", async () => {
  const missing = () => Promise.reject(new Error("Cannot find package '@opentelemetry/api'"));
  await assert.rejects(loadTracing(true, missing), {
    code: "host.tracing_missing",
    message: "Cannot trace without \"@opentelemetry/api\": Cannot find package '@opentelemetry/api'",
    hint: 'Run "npm install @opentelemetry/api", or leave the option "tracing" out',
  });
});

test("an API that the program hands over is used in place of the installed one", async () => {
  using recorded = recordSpans();
  const tracing = await loadTracing({ api }, () => assert.fail("loaded"));
  await tracing!.span("hook", { name: "x" }, () => Promise.resolve());
  assert.deepEqual(recorded.shape, ["hook x"]);
});
