import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import {
  createInsightsExporter,
  type InsightsExporterOptions,
  readConnectionString,
} from "../../../src/addons/insights/exporter.ts";
import { createEmitter } from "../../../src/events/emitter.ts";
import { agentHooks } from "../../../src/hooks/agent/agent_hooks.ts";
import { telemetry } from "../../../src/hooks/sources/builtin/telemetry.ts";
import { stage } from "../../hooks/engine/stage.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { receiver } from "../../support/receiver.ts";

const KEY = "00000000-1111-2222-3333-444444444444";
const CONNECTION = `InstrumentationKey=${KEY};IngestionEndpoint=https://westeurope.example/`;
const SECRET = "Fire Bob (bob@example.com) on Monday";
const metric = { agentName: "primary", conversationId: "ses_1", correlationId: "ses_1", hook: "PostToolUse" };

/** An exporter whose requests are answered with `answers` in turn, the last one from then on. */
function exporting(answers: (number | Response | Error)[] = [200], options: InsightsExporterOptions = {}) {
  const clock = createFakeClock();
  const emitter = createEmitter({ level: "trace", clock });
  const requests: { url: string; items: { data: { baseData: { name: string } } }[] }[] = [];
  const warnings: string[] = [];
  const exporter = createInsightsExporter(emitter, {
    connectionString: CONNECTION,
    clock,
    onWarning: (text) => void warnings.push(text),
    async fetch(request) {
      requests.push({ url: request.url, items: await request.json() });
      const answer = answers.length > 1 ? answers.shift()! : answers[0]!;
      if (answer instanceof Error) throw answer;
      return typeof answer === "number" ? new Response(null, { status: answer }) : answer.clone();
    },
    ...options,
  });
  const emit = async (count = 1): Promise<void> => {
    for (let at = 0; at < count; at++) emitter.emit("hook:metric", { ...metric, figures: { durationMs: at } });
    await Promise.resolve(); // Listeners hear later.
  };
  return { clock, emitter, exporter, requests, warnings, emit };
}

test("B-015 without a connection string nothing is heard and nothing sent", async () => {
  for (const connectionString of [null, "", undefined]) {
    assert.equal(process.env["APPINSIGHTS_CONNECTION_STRING"], undefined);
    const given = connectionString === undefined ? {} : { connectionString };
    let heard = 0;
    const exporter = createInsightsExporter({ on: () => (heard++, () => {}) }, given);
    assert.deepEqual([exporter.isOn, heard], [false, 0]);
    await exporter.close();
    assert.deepEqual(exporter.counts, { sent: 0, failed: 0, dropped: 0 });
  }
});

test("B-015 B-016 figures of hooks arrive as custom events: names as properties, numbers as measurements", async (t) => {
  const { url, received } = await receiver(t);
  const { engine, clock } = stage();
  const emitter = createEmitter({ level: "trace", clock });
  const connectionString = `InstrumentationKey=${KEY};IngestionEndpoint=${url}`;
  await using exporter = createInsightsExporter(emitter, { connectionString, clock });
  engine.add(telemetry({ emit: (each) => emitter.emit("hook:metric", each) }));
  await agentHooks(engine, { session: "ses_1" }).afterTool({ name: "shell", durationMs: 12, output: SECRET });
  await Promise.resolve();
  await exporter.flush();
  const [{ method, path, headers, body }] = received as [typeof received[0]];
  assert.deepEqual([method, path.endsWith("/v2.1/track"), headers["content-type"]], ["POST", true, "application/json"]);
  assert.deepEqual(JSON.parse(body), [{
    name: "Microsoft.ApplicationInsights.Event",
    time: "2026-01-01T00:00:00.000Z",
    iKey: KEY,
    tags: {
      "ai.operation.id": "ses_1",
      "ai.session.id": "ses_1",
      "ai.cloud.role": "kaged",
      "ai.location.ip": "0.0.0.0",
    },
    data: {
      baseType: "EventData",
      baseData: {
        ver: 2,
        name: "kaged.hook.PostToolUse",
        properties: { agent: "primary", hook: "PostToolUse", tool: "shell", success: "true", blocked: "false" },
        measurements: { durationMs: 12 },
      },
    },
  }]);
  assert.deepEqual(exporter.counts, { sent: 1, failed: 0, dropped: 0 });
});

test("B-015 no content leaves, whoever emits it and under whatever name", async () => {
  const { emitter, exporter, requests } = exporting();
  const figures = { note: SECRET, [SECRET]: 1, [`${SECRET}?`]: true, odd: Infinity, ok: "fine" };
  const names = { agentName: SECRET, conversationId: SECRET, correlationId: SECRET, hook: SECRET };
  emitter.emit("hook:metric", { ...names, figures });
  emitter.emit("agent:end", {
    ...{ agentName: "a", input: SECRET, output: SECRET, toolsUsed: [], conversationId: "ses_1", duration: 1 },
    usage: { promptTokens: 1, completionTokens: 1, totalTokens: 2 },
  });
  await Promise.resolve();
  await exporter.close();
  assert.equal(requests[0]?.items.length, 1);
  assert.doesNotMatch(JSON.stringify(requests), /Bob|bob|Monday/);
  const { properties, measurements } = requests[0]!.items[0]!.data.baseData as unknown as Record<string, unknown>;
  assert.deepEqual([properties, measurements], [{ agent: "other", hook: "other", note: "other", ok: "fine" }, {}]);
});

test("B-015 figures are gathered for five seconds, and sent a hundred at a time", async () => {
  const { clock, emit, exporter, requests } = exporting();
  await emit(3);
  clock.advance(4_999);
  assert.equal(requests.length, 0);
  clock.advance(1);
  await exporter.flush();
  await emit(250);
  await exporter.flush();
  assert.deepEqual(requests.map(({ items }) => items.length).reduce((sum, each) => sum + each, 0), 253);
  assert.ok(requests.every(({ url, items }) => url === "https://westeurope.example/v2.1/track" && items.length <= 100));
  assert.equal(clock.waiting, 0);
});

test("B-015 figures that do not arrive are sent again, later each time, with one warning", async () => {
  const { clock, emit, exporter, requests, warnings } = exporting([503, new Error("offline"), 429, 200]);
  await emit();
  await exporter.flush();
  await exporter.flush();
  assert.equal(clock.nextInMs, 20_000);
  await exporter.flush();
  assert.equal(clock.nextInMs, 40_000);
  await exporter.flush();
  assert.deepEqual([requests.length, exporter.counts.sent, clock.waiting], [4, 1, 0]);
  assert.deepEqual(warnings, ["Figures do not reach Application Insights, and are sent again: It answers 503"]);
});

test("B-015 refused figures are not sent again: all of them, or the part that the answer names", async () => {
  const partly = new Response(JSON.stringify({ itemsReceived: 3, itemsAccepted: 1, errors: [] }), { status: 206 });
  const { emit, exporter, requests, warnings } = exporting([partly, 400, new Response("?", { status: 206 })]);
  for (const _ of [1, 2, 3]) {
    await emit(3);
    await exporter.flush();
  }
  assert.deepEqual([requests.length, exporter.counts], [3, { sent: 1, failed: 8, dropped: 0 }]);
  assert.equal(warnings[0], "Application Insights did not take 2 figures: It answers 206");
});

test("B-015 figures that cannot be sent wait in bounded number, and the end waits for one try", async () => {
  const { clock, emit, exporter, warnings } = exporting([500], { maxPending: 5 });
  await emit(8);
  await exporter.close();
  assert.deepEqual(exporter.counts, { sent: 0, failed: 5, dropped: 3 });
  assert.deepEqual(warnings.map((text) => text.split(" ")[0]), ["5", "Figures", "5"]);
  assert.equal(clock.waiting, 0);
});

test("B-015 an answer that does not come is given up after ten seconds", async () => {
  const { clock, emit, exporter, warnings } = exporting([200], {
    fetch: ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  await emit();
  const flushed = exporter.flush();
  await Promise.resolve();
  clock.advance(10_000);
  await flushed;
  assert.match(warnings[0]!, /No answer within 10000 ms/);
});

test("B-015 a connection string is read part by part, and one that cannot be used says which part", () => {
  const read = (text: string): string => readConnectionString(text).url;
  assert.equal(read(`instrumentationkey=${KEY}`), "https://dc.services.visualstudio.com/v2.1/track");
  assert.equal(read(`InstrumentationKey=${KEY};EndpointSuffix=ai.example`), "https://dc.ai.example/v2.1/track");
  assert.equal(read(`${CONNECTION};LiveEndpoint=https://live.example/`), "https://westeurope.example/v2.1/track");
  for (
    const [text, message] of [
      ["hello", /name=value/],
      ["InstrumentationKey=1234", /InstrumentationKey/],
      [`InstrumentationKey=${KEY};IngestionEndpoint=http://collector.example`, /https/],
      [`InstrumentationKey=${KEY};IngestionEndpoint=file:///etc/passwd`, /https/],
      [`InstrumentationKey=${KEY};IngestionEndpoint=https://a:b@c.example`, /password/],
    ] as const
  ) assert.throws(() => readConnectionString(text), { code: "addons.invalid_option", message });
});
