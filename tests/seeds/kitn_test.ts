/** The programs and requests of the document on events, jobs and add-ons, each as it stands there. */
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { EventSource as WebEventSource } from "eventsource";
import { Hono } from "hono";
import { detectRuntime } from "../../src/adapters/default.ts";
import {
  createConsoleLogger,
  createFileLogger,
  createWebhookForwarder,
  createWebhookManager,
  webhookRoutes,
} from "../../src/addons/mod.ts";
import { payloadOf } from "../../src/addons/webhooks/payload.ts";
import { createEmitter, type Emitter } from "../../src/events/mod.ts";
import { jobRoutes } from "../../src/http/mod.ts";
import { createJobs, fileJobs, type JobBackend, type Jobs, memoryJobs } from "../../src/jobs/mod.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { until } from "../support/until.ts";
import { runSample, sample } from "./samples.ts";

const { http, clock } = await detectRuntime();
const usage = { promptTokens: 1000, completionTokens: 247, totalTokens: 1247 };
const checked = {
  agentName: "email-checker",
  conversationId: "ses_1",
  input: "Check my email",
  output: "Found 3 emails",
};

/** The options of the document's `createAIPlugin`, as far as they are about events and jobs. */
interface PluginOptions {
  readonly storage: JobBackend;
  readonly hooks?: { readonly level: "summary" | "trace" };
  readonly waitUntil?: (work: Promise<unknown>) => void;
}

/** The parts of this project in the place of the document's plugin: an emitter, jobs, and their routes. */
interface Stage {
  readonly given: Readonly<Record<string, unknown>>;
  /** Lines that the sample printed. */
  readonly lines: string[];
  readonly dir: string;
  readonly made: { jobs: Jobs; emitter: Emitter | null; on: Emitter["on"]; router: { fetch: typeof fetch } }[];
}

async function stage(t: TestContext): Promise<Stage> {
  const dir = await scratchDir(t);
  const lines: string[] = [];
  const made: Stage["made"] = [];
  // Opened before: the document's storage is there at once, a folder of jobs is opened first.
  const folders = await Promise.all(["data", "more"].map((name) => fileJobs({ dataDir: join(dir, name) })));
  t.after(() => Promise.all(folders.map((folder) => folder.close())));
  const createAIPlugin = ({ storage, hooks, waitUntil }: PluginOptions) => {
    const emitter = hooks ? createEmitter({ ...hooks, clock: Date }) : null;
    const jobs = createJobs({ backend: storage, events: emitter, ...(waitUntil && { waitUntil }) });
    t.after(() => jobs.stop());
    jobs.agent("email-checker", () => ({ output: "Found 3 emails...", usage }));
    const router = new Hono().route("/api", jobRoutes({ jobs, clock }));
    const plugin = { jobs, emitter, on: (emitter?.on.bind(emitter) ?? (() => () => {})) as Emitter["on"], router };
    made.push(plugin as never);
    return plugin;
  };
  const given = {
    createAIPlugin,
    createFileStorage({ dataDir }: { dataDir: string }) {
      assert.equal(dataDir, "./data");
      return folders.pop();
    },
    createD1Storage: () => memoryJobs(),
    openrouter: () => null,
    MODEL: "small-1",
    console: { log: (line: string) => void lines.push(line) },
  };
  return { given, lines, dir, made };
}

test("N-040 T-004 the document's subscriptions are called for their event, for every event, and no more once ended", async (t) => {
  const { given, lines, dir, made } = await stage(t);
  const sent: { type: string }[] = [];
  const sendToDatadog = (event: { type: string }) => void sent.push(event);
  await runSample(await sample("kitn/subscription"), { dir, given: { ...given, sendToDatadog } });
  made[0]!.emitter!.emit("agent:end", { ...checked, toolsUsed: [], usage, duration: 2340 });
  await until(() => sent.length > 0, "the event");
  assert.deepEqual(
    [lines, sent.map(({ type }) => type)],
    [[], ["agent:end"]],
    "the sample ends its first subscription",
  );
});

test("N-040 T-001 T-002 the document's observers print what they say, at summary and at trace", async (t) => {
  const { given, lines, dir, made } = await stage(t);
  const alerts: unknown[] = [];
  const alertOpsTeam = (...alert: unknown[]) => void alerts.push(alert);
  await runSample(await sample("kitn/observability"), { dir, given: { ...given, alertOpsTeam } });
  await runSample(await sample("kitn/trace"), { dir, given });
  const [summary, trace] = made.map(({ emitter }) => emitter!);
  summary!.emit("agent:end", { ...checked, toolsUsed: [], usage, duration: 2340 });
  summary!.emit("agent:error", { ...checked, error: "Rate limit exceeded", duration: 450 });
  const call = { agentName: "email-checker", conversationId: "ses_1", duration: 890 };
  trace!.emit("tool:execute", { ...call, toolName: "searchEmails", input: { query: "x" }, output: null });
  trace!.emit("model:call", { ...call, model: "small-1", promptTokens: 1000, completionTokens: 247 });
  await until(() => lines.length === 3 && alerts.length === 1, "three lines and an alert");
  assert.deepEqual(lines.toSorted(), [
    "[email-checker] LLM call: small-1, 1000+247 tokens",
    '[email-checker] searchEmails({"query":"x"}) → 890ms',
    "email-checker: 2340ms, 1247 tokens",
  ]);
  assert.deepEqual(alerts, [["email-checker", "Rate limit exceeded"]]);
});

test("N-040 T-012 the document's console logger prints the document's lines", async (t) => {
  const { given, lines, dir } = await stage(t);
  const plugin = createEmitter({ level: "trace", clock: Date });
  const logger: typeof createConsoleLogger = (source, options) =>
    createConsoleLogger(source, { ...options, write: (line) => void lines.push(line) });
  await runSample(await sample("kitn/console_logger"), {
    dir,
    given: { ...given, plugin, createConsoleLogger: logger },
    modules: ["console-logger.js"],
  });
  plugin.emit("agent:end", { ...checked, toolsUsed: ["a", "b", "c"], usage, duration: 2340 });
  const call = { agentName: "email-checker", conversationId: "ses_1", duration: 890 };
  plugin.emit("tool:execute", { ...call, toolName: "searchEmails", input: {}, output: null });
  plugin.emit("agent:error", { ...checked, agentName: "summarizer", error: "Rate limit exceeded", duration: 450 });
  await until(() => lines.length === 3, "three lines");
  assert.equal(`${lines.join("\n")}\n`, await sample("kitn/console_output"));
});

test("N-040 T-012 T-013 the document's file logger and forwarders are made as they are written", async (t) => {
  const { given, dir } = await stage(t);
  const plugin = createEmitter({ level: "trace", clock: Date });
  const logs = join(dir, "logs");
  const made: AsyncDisposable[] = [];
  const addons = {
    plugin,
    createFileLogger(source: typeof plugin, options: Parameters<typeof createFileLogger>[1]) {
      assert.equal(options.dir, "./logs");
      made.push(createFileLogger(source, { ...options, dir: logs }));
    },
    // Nothing is sent: the names of the document belong to others.
    createWebhookForwarder: (source: typeof plugin, options: Parameters<typeof createWebhookForwarder>[1]) =>
      void made.push(createWebhookForwarder(source, { ...options, events: [] })),
    createConsoleLogger: (...args: Parameters<typeof createConsoleLogger>) => void createConsoleLogger(...args)(),
    process: { env: { WEBHOOK_SECRET: undefined } },
  };
  await runSample(await sample("kitn/file_logger"), { dir, given: { ...given, ...addons } });
  await runSample(await sample("kitn/webhook_forwarder"), { dir, given: { ...given, ...addons } });
  await runSample(await sample("kitn/addons"), {
    dir,
    given: { ...given, ...addons },
    modules: ["ai/tools/console-logger.js", "ai/tools/webhook-forwarder.js"],
  });
  plugin.emit("agent:end", { ...checked, toolsUsed: [], usage, duration: 2340 });
  await until(() => plugin.waiting === 0, "the event to be heard");
  for (const one of made) await one[Symbol.asyncDispose]();
  assert.equal((await readdir(logs)).length, 1);
});

test("N-040 T-013 a webhook carries the fields of the document's payload", async () => {
  const payload = JSON.parse(await sample("kitn/webhook_payload"));
  const { type, timestamp, data } = payload;
  const event = { type, timestamp, ...data, input: "x", toolsUsed: [], conversationId: "ses_1" };
  const sent = payloadOf(event, true);
  assert.deepEqual(
    { ...sent, data: Object.fromEntries(Object.keys(data).map((key) => [key, sent.data[key]])) },
    payload,
  );
});

test("N-040 T-014 the document's registration of a webhook is taken, listed and removed", async (t) => {
  const dir = await scratchDir(t);
  const emitter = createEmitter({ level: "summary", clock: Date });
  await using manager = await createWebhookManager(emitter, { store: join(dir, "webhooks") });
  const { fetch } = webhookRoutes(manager);
  const [line, ...rest] = (await sample("kitn/webhook_registration")).split("\n");
  const [method, path] = line!.split(" ") as [string, string];
  const ask = (method: string, path: string, body?: string) =>
    fetch(
      new Request(`http://localhost${path}`, {
        method,
        ...(body && { body, headers: { "Content-Type": "application/json" } }),
      }),
    );
  // The document leaves the secret out: three dots stand for it.
  const secret = `whsec_${btoa("a key of the receiver's own")}`;
  const made = await ask(method, path, rest.join("\n").replace("whsec_...", secret));
  assert.equal(made.status, 201, await made.clone().text());
  const { id } = await made.json();
  assert.equal((await ask("PATCH", `/webhooks/${id}`, '{ "enabled": false }')).status, 200);
  assert.equal((await ask("GET", `/webhooks/${id}/deliveries`)).status, 200);
  assert.equal((await ask("DELETE", `/webhooks/${id}`)).status < 300, true);
});

test("N-040 T-008 T-009 the document's client starts a job, polls it and hears its stream by onmessage", async (t) => {
  const { given, lines, dir } = await stage(t);
  const create = given["createAIPlugin"] as (options: PluginOptions) => Stage["made"][number];
  const { jobs, router } = create({ storage: memoryJobs() });
  await jobs.work();
  const server = await http.listen({
    at: { hostname: "127.0.0.1", port: 0 },
    handler: async (request) => await router.fetch(request),
  });
  t.after(() => server.destroy());
  const base = `http://127.0.0.1:${server.port}`; // A page has one, and its addresses are relative to it.
  const streams: WebEventSource[] = [];
  t.after(() => streams.forEach((stream) => stream.close()));
  await runSample(await sample("kitn/async_execution"), {
    dir,
    given: {
      fetch: (path: string, init?: RequestInit) => fetch(new URL(path, base), init),
      EventSource: class extends WebEventSource {
        constructor(path: string) {
          super(new URL(path, base));
          streams.push(this);
        }
      },
      console: { log: (line: string) => void lines.push(line) },
    },
  });
  await until(() => lines.length > 0, "a message");
  const { type, data } = JSON.parse(lines.at(-1)!);
  assert.deepEqual([type, data.status, data.result, data.usage], ["done", "completed", "Found 3 emails...", usage]);
});

test("N-040 T-011 the document's worker answers, and hands the work that goes on to waitUntil", async (t) => {
  const { given, dir, made } = await stage(t);
  const { default: worker } = await runSample(await sample("kitn/serverless"), { dir, given }) as {
    default: { fetch(request: Request, env: unknown, ctx: unknown): Promise<Response> };
  };
  const work: Promise<unknown>[] = [];
  const request = new Request("http://localhost/api/agents/email-checker?async=true", {
    method: "POST",
    body: JSON.stringify({ message: "Check my email" }),
  });
  const answer = await worker.fetch(request, { DB: null }, {
    waitUntil: (one: Promise<unknown>) => void work.push(one),
  });
  assert.equal(answer.status, 202);
  const { jobId } = await answer.json();
  await made[0]!.jobs.work();
  await Promise.all(work);
  assert.equal(work.length > 0, true);
  assert.equal((await made[0]!.jobs.get(jobId)).status, "completed");
  await runSample(await sample("kitn/wait_until"), { dir, given: { ...given, ctx: { waitUntil() {} } } });
});
