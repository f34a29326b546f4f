import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { CONFORMANCE_RULES, selectRules } from "../../../src/operator/conformance/rules.ts";
import { type ConformanceReport, tryRules } from "../../../src/operator/conformance/try_rules.ts";
import type { PluginWire } from "../../../src/operator/plugin_wire.ts";
import { createFakeClock } from "../../support/fake_clock.ts";
import { HONEST, type Message, modelManifest, modelWire, type Step, type Steps } from "../../support/model_plugin.ts";
import { untilSettled } from "../../support/until.ts";

/** Tries every rule on a plugin in memory; whenever nothing happens any more, the clock goes to its next timer. */
async function tried(steps: Steps = {}, manifest: Message = {}, rules: string[] = []): Promise<ConformanceReport> {
  const clock = createFakeClock();
  const report = tryRules({
    rules: selectRules(rules),
    manifest: await modelManifest(manifest),
    open: modelWire(steps),
    clock,
    storageAvailable: true,
    onRequest: () => Promise.resolve({ rows: [], columns: [] }),
  });
  const meanwhile = (): void => clock.advance(clock.nextInMs ?? 0);
  return await untilSettled(report, "the report", { step: "turn", meanwhile });
}

const broken = ({ rules }: ConformanceReport): string[] =>
  rules.filter(({ status }) => status === "failed").map(({ id }) => id);
const find = ({ rules }: ConformanceReport, id: string) => rules.find((rule) => rule.id === id)!;

test("D-013 a plugin that keeps every rule is seen to keep each of them, in order", async () => {
  const report = await tried();
  assert.deepEqual(report.rules.filter(({ status }) => status !== "ok"), []);
  assert.deepEqual(report.rules.map(({ id }) => id), CONFORMANCE_RULES.map(({ id }) => id));
  assert.deepEqual([report.ok, report.plugin, report.version], [true, "model", "1.0.0"]);
});

const answerWith = (result: unknown): Step => (plugin, { id }) => plugin.reply(id, result);
const silent: Step = () => {};
const die: Step = (plugin) => plugin.exit(3);
const IDENTITY = { name: "model", version: "1.0.0", api_version: 1, methods: ["model.list"] };

/** For each rule, plugins that break it and no other. */
const BREAKERS: Readonly<Record<string, readonly Steps[]>> = {
  "initialize.first": [
    { start: (plugin) => plugin.send({ method: "model.listed", params: {} }) },
    { start: (plugin) => plugin.send({ id: 1, method: "kaged.storage.query", params: {} }) },
    { start: (plugin) => plugin.send({ id: 77, result: {} }) },
    { initialize: silent },
    { initialize: die },
  ],
  "initialize.result": [
    { initialize: answerWith({ ...IDENTITY, name: "another" }) },
    { initialize: answerWith({ ...IDENTITY, version: "2.0.0" }) },
    { initialize: answerWith({ ...IDENTITY, api_version: 2 }) },
    { initialize: answerWith({ ...IDENTITY, capabilities_used: ["net:*"] }) },
    { initialize: answerWith({ ...IDENTITY, methods: [] }) },
    { initialize: answerWith(null) },
    { initialize: (plugin, { id }) => plugin.refuse(id, -32603) },
  ],
  "config.update": [
    { "config.update": (plugin, { id }) => plugin.refuse(id, -32603) },
    { "config.update": silent },
    { "config.update": (plugin, { id }) => plugin.send({ id, error: "no" }) },
  ],
  "initialized.first": [
    {
      "config.update": (plugin, { id, params }) => {
        plugin.send({ method: "model.listed", params: {} });
        if (params.no_such_setting) plugin.refuse(id, -32004);
        else plugin.reply(id, {});
      },
    },
  ],
  "ping": [
    { ping: answerWith({ status: "fine" }) },
    { ping: answerWith(null) },
    { ping: silent },
    { initialized: die },
    { initialized: (plugin) => plugin.reply(null, {}) },
  ],
  "config.refused": [
    { "config.update": (plugin, { id, params }) => params.no_such_setting ? plugin.exit(1) : plugin.reply(id, {}) },
    {
      "config.update": (plugin, { id, params }) =>
        params.no_such_setting ? plugin.refuse(id, -32603) : plugin.reply(id, {}),
    },
  ],
  "id.number": [
    { ping: (plugin, { id }) => plugin.reply(id > 2 ** 52 ? id - 1 : id, { status: "ok" }) },
  ],
  "utf8": [
    {
      ping: (plugin, { id, params }) => {
        if (!/[^ -~]/.test(params?.text ?? "")) plugin.reply(id, { status: "ok" });
      },
    },
  ],
  "lines": [{ text: (plugin, { text }) => wholeChunks(plugin, text) }],
  "lines.long": [{
    ping: (plugin, message) => {
      if (JSON.stringify(message).length < 64 * 1024) plugin.reply(message.id, { status: "ok" });
    },
  }],
  "method.unknown": [
    { other: (plugin, { id }) => id !== undefined && plugin.reply(id, null) },
    { other: (plugin, { id }) => id !== undefined && plugin.refuse(id, -32602) },
    { other: (plugin, { id }) => id !== undefined && plugin.send({ id, error: { code: "-32601" } }) },
    { other: silent },
  ],
  "notification.unknown": [
    { other: (plugin, { id = null }) => plugin.refuse(id, -32601) },
    { other: (plugin, { id }) => id === undefined ? plugin.exit(1) : plugin.refuse(id, -32601) },
  ],
  "garbage": [{ garbage: die }, { garbage: (plugin) => plugin.refuse(null, -32600) }],
  "message.invalid": [{ invalid: die }, { invalid: (plugin) => plugin.reply(null, {}) }],
  "batch": [
    { batch: (plugin, { messages }) => messages.forEach(({ id }: Message) => plugin.reply(id, { status: "ok" })) },
    { batch: (plugin, { messages }) => messages.forEach(() => plugin.refuse(null, -32600)) },
    { batch: (plugin, { messages }) => plugin.print(JSON.stringify(messages.map(() => ({ jsonrpc: "2.0" })))) },
    { batch: die },
  ],
  "cancel": [
    { "system.cancel": die },
    { "system.cancel": (plugin, { params }) => plugin.refuse(params.id, -32602) },
  ],
  "methods": [
    { "model.list": silent },
    { "model.list": die },
    { "model.list": (plugin, { id }) => plugin.refuse(id, -32601) },
    { "model.list": (plugin) => plugin.overflow() },
  ],
  "tools": [
    { "model.add": silent },
    { "model.add": (plugin, { id }) => plugin.refuse(id, -32601) },
    { "model.add": (plugin, { id }) => plugin.send({ id, result: {}, error: null }) },
  ],
  "tools.arguments": [
    { "model.add": (plugin, { id, params }) => params.text ? plugin.reply(id, {}) : plugin.exit(1) },
  ],
  "context": [
    { "model.add": (plugin, { id, params }) => params._context.agent_path ? plugin.reply(id, {}) : plugin.exit(1) },
    { "model.add": (plugin, { id, params }) => params._context.traceparent ? plugin.exit(1) : plugin.reply(id, {}) },
  ],
  "hooks": [
    { "kaged.hook.on_session_start": answerWith({ inject: 5 }) },
    { "kaged.hook.on_session_start": (plugin, { id }) => plugin.refuse(id, -32603) },
    { "kaged.hook.on_session_start": silent },
  ],
  "concurrent": [{ ping: (plugin, { id }) => id !== 1_003 && plugin.reply(id, { status: "ok" }) }],
  "shutdown": [{ shutdown: silent }, { shutdown: die }],
  "eof": [{ end: silent }],
  "progress": [
    { "model.list": reporting({ progress: 1 }) },
    { "model.list": reporting({ id: 1, progress: "half" }) },
    { initialize: answerWith({ ...IDENTITY, features: ["cancel"] }) },
  ],
  "notifications": [
    {
      "model.list": (plugin, { id }) => {
        plugin.send({ method: "model.other", params: {} });
        plugin.reply(id, {});
      },
    },
  ],
  "notifications.rate": [
    {
      "model.list": (plugin, { id }) => {
        for (let sent = 0; sent <= 100; sent++) plugin.send({ method: "model.listed", params: {} });
        plugin.reply(id, {});
      },
    },
  ],
  "requests": [
    {
      "model.list": (plugin, { id }) => {
        plugin.send({ id: 1, method: "kaged.files.read", params: {} });
        plugin.reply(id, {});
      },
    },
  ],
  "answers.once": [
    {
      "model.list": (plugin, { id }) => {
        plugin.reply(id, {});
        plugin.reply(id, {});
      },
    },
  ],
  "stdout": [
    { start: (plugin) => plugin.print("starting up…") },
    { shutdown: (plugin) => [plugin.print("Good bye"), plugin.exit(0)] },
  ],
};

/** Takes every piece of input for whole lines. */
const wholeChunks = (plugin: Parameters<Step>[0], text: string): void => {
  for (const line of text.split("\n").filter(Boolean)) {
    let message: Message;
    try {
      message = JSON.parse(line);
    } catch {
      continue;
    }
    if (Array.isArray(message) || typeof message.method !== "string") continue;
    (HONEST[message.method] ?? HONEST.other!)(plugin, message);
  }
};

function reporting(params: Message): Step {
  return (plugin, { id }) => {
    plugin.send({ method: "system.progress", params });
    plugin.reply(id, {});
  };
}

for (const { id, requirement, expected } of CONFORMANCE_RULES) {
  test(`${requirement} rule ${id}: "${expected}" is broken by a plugin that does not, and no other rule is`, async () => {
    for (const [index, steps] of BREAKERS[id]!.entries()) {
      const report = await tried(steps);
      assert.deepEqual([report.ok, broken(report)], [false, [id]], `${id} ${index}`);
      const { detail, hint, log } = find(report, id);
      assert.ok(detail.length > 0 && hint!.length > 0, detail);
      assert.ok(log === undefined || log[0] === "a line of its log");
    }
  });
}

test("a broken rule shows what was sent, what came, what was expected and where that is written", async () => {
  const report = await tried({ other: (plugin, { id }) => id !== undefined && plugin.reply(id, "what?") });
  const { sent, came, expected, written, detail } = find(report, "method.unknown");
  assert.deepEqual(sent.map((line) => JSON.parse(line).method), ["conformance.no_such_method"]);
  assert.deepEqual(came.map((line) => JSON.parse(line).result), ["what?"]);
  assert.deepEqual([expected, written, detail], [
    "Answers a method it does not know with -32601",
    "docs/wire.md#what-a-plugin-owes-the-host",
    'It answered "what?"',
  ]);
});

test("a rule on which the others build leaves those untried, and says so", async () => {
  const report = await tried({ initialize: answerWith({ ...IDENTITY, name: "another" }) });
  const rest = report.rules.slice(2).map(({ status, detail }) => [status, detail]);
  assert.deepEqual(new Set(rest.map(String)), new Set(["skipped,Not tried: initialize.result failed"]));
  const numbers = await tried({
    ping: (plugin, { id }) => plugin.reply(id > 2 ** 52 ? 0 : id, { status: "ok" }),
  });
  assert.equal(find(numbers, "utf8").detail, "Not tried: id.number failed");
});

test("a rule without anything to try it on is skipped, and the plugin conforms all the same", async () => {
  const bare = { tools: [], methods: [], hooks: [], notifications: [], capabilities: [], config_schema: undefined };
  const report = await tried({ initialize: answerWith({ ...IDENTITY, methods: [] }) }, bare);
  assert.deepEqual([report.ok, broken(report)], [true, []]);
  assert.deepEqual(report.rules.filter(({ status }) => status === "skipped").map(({ id }) => id), [
    "config.refused",
    "cancel",
    "methods",
    "tools",
    "tools.arguments",
    "context",
    "hooks",
    "progress",
    "notifications",
    "notifications.rate",
    "requests",
  ]);
});

test("a plugin that floods its host is tried to the end: what it sends is bounded", async () => {
  const report = await tried({
    "model.list": (plugin, { id }) => {
      for (let sent = 0; sent < 5_000; sent++) plugin.print(`noise ${sent}`);
      for (let sent = 0; sent < 5_000; sent++) plugin.send({ id: sent, method: "kaged.storage.query", params: {} });
      plugin.reply(id, {});
    },
  });
  assert.deepEqual(broken(report), ["stdout"]);
  assert.equal(find(report, "stdout").detail, "1000 lines that are no messages");
});

test("a plugin that sends what is nested too deeply breaks its own rules and not the run", async () => {
  const deep = "[".repeat(200_000) + "]".repeat(200_000);
  for (const line of [`{"jsonrpc":"2.0","id":${deep},"result":{}}`, `{"jsonrpc":"2.0","id":${deep},"method":"a.b"}`]) {
    const report = await tried({ "model.list": (plugin, { id }) => [plugin.print(line), plugin.reply(id, {})] });
    assert.deepEqual(broken(report), ["answers.once"]);
  }
  const result = await tried({
    other: (plugin, { id }) => id !== undefined && plugin.print(`{"jsonrpc":"2.0","id":${id},"result":${deep}}`),
  });
  assert.deepEqual(broken(result), ["method.unknown"]);
});

test("no rule waits longer than its own time, whatever it waits for", async () => {
  const clock = createFakeClock();
  const rule = { ...CONFORMANCE_RULES[0]!, attempt: () => new Promise<never>(() => {}) };
  const report = tryRules({
    rules: [rule],
    manifest: await modelManifest(),
    open: modelWire(),
    clock,
    storageAvailable: true,
    onRequest: () => Promise.resolve(null),
  });
  await new Promise(setImmediate);
  clock.advance(60_000);
  assert.deepEqual((await report).rules.map(({ status, detail }) => [status, detail]), [[
    "failed",
    "Undecided after 60 s",
  ]]);
  const manifest = await modelManifest();
  for (const { id, deadlineMs } of CONFORMANCE_RULES) {
    if (deadlineMs) assert.ok(deadlineMs(manifest) > 60_000 && deadlineMs(manifest) < 600_000, id);
  }
});

test("a plugin whose start outlasts its rule is ended when it comes, and not left behind", async () => {
  const clock = createFakeClock();
  let release = (): void => {};
  const gate = new Promise<void>((resolve) => release = resolve);
  const opened: PluginWire[] = [];
  const report = tryRules({
    rules: CONFORMANCE_RULES.slice(0, 1),
    manifest: await modelManifest(),
    open: async (listeners) => {
      await gate;
      const wire = await modelWire()(listeners);
      opened.push(wire);
      return wire;
    },
    clock,
    storageAvailable: true,
    onRequest: () => Promise.resolve(null),
  });
  await new Promise(setImmediate);
  clock.advance(60_000);
  assert.equal((await report).rules[0]!.detail, "Undecided after 60 s");
  release();
  await new Promise(setImmediate);
  assert.deepEqual((await opened[0]!.ended).exit, { code: null, signal: "SIGKILL" });
});

test("a run that is ended early rejects with the reason, and the plugin is ended", async () => {
  const ending = new AbortController();
  let hasEnded = false;
  const open = modelWire({ ping: () => ending.abort(new HostError("host.interrupted", "Stopped by SIGINT")) });
  const report = tryRules({
    rules: CONFORMANCE_RULES,
    manifest: await modelManifest(),
    open: async (listeners) => {
      const wire = await open(listeners);
      void wire.ended.then(() => hasEnded = true);
      return wire;
    },
    clock: createFakeClock(),
    storageAvailable: true,
    onRequest: () => Promise.resolve(null),
    signal: ending.signal,
  });
  await assert.rejects(report, /Stopped by SIGINT/);
  await new Promise(setImmediate);
  assert.equal(hasEnded, true);
});

test("rules can be picked by id; an unknown one is refused with the nearest", async () => {
  const report = await tried({}, {}, ["eof", "batch"]);
  assert.deepEqual(report.rules.map(({ id, status }) => [id, status]), [["batch", "ok"], ["eof", "ok"]]);
  assert.throws(() => selectRules(["bach"]), { code: "check.rule_unknown", hint: 'Did you mean "batch"?' });
});

test("every rule is written where it says: the page has that heading", async () => {
  const headings = new Map<string, Set<string>>();
  for (const { id, written } of CONFORMANCE_RULES) {
    const [page = "", anchor = ""] = written.split("#");
    if (!headings.has(page)) {
      const text = await readFile(new URL(`../../../${page}`, import.meta.url), "utf8");
      const found = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
        title!.toLowerCase().replace(/[^a-z0-9]+/g, "-")
      );
      headings.set(page, new Set(found));
    }
    assert.ok(headings.get(page)!.has(anchor), `${id}: ${written}`);
  }
});

test("K-044 a plugin is not tried where its cage cannot be trusted, and a broken cage is no broken rule", async () => {
  const fault = new HostError("cage.walls_missing", "Cannot trust the cage");
  const options = {
    rules: CONFORMANCE_RULES,
    manifest: await modelManifest(),
    clock: createFakeClock(),
    storageAvailable: true,
    onRequest: () => Promise.resolve(null),
  };
  const heard: Message[] = [];
  const open = modelWire({ "config.update": (_, message) => heard.push(message) });
  const untrusted = tryRules({
    ...options,
    open: async (listeners) => Object.assign(await open(listeners), { verify: () => Promise.reject(fault) }),
  });
  await assert.rejects(untrusted, fault);
  assert.deepEqual(heard, [], "it gets no config");
  const dying = modelWire({ initialize: die });
  const broken = tryRules({
    ...options,
    async open(listeners) {
      const wire = await dying(listeners);
      return Object.assign(wire, { ended: wire.ended.then((end) => ({ ...end, fault })) });
    },
  });
  await assert.rejects(broken, fault);
});
