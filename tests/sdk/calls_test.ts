import assert from "node:assert/strict";
import { test } from "node:test";
import { type CallContext, createPlugin, type PluginDefinition, PluginError } from "../../src/sdk/mod.ts";
import { driveInMemory, type DrivenPlugin, type Message, NO_CONTEXT } from "../support/plugin_driver.ts";

async function running(definition: Partial<PluginDefinition>, config?: Message): Promise<DrivenPlugin> {
  const plugin = driveInMemory(createPlugin({ name: "test", version: "1.0.0", ...definition }));
  await plugin.handshake(config);
  return plugin;
}

const AGENT_CONTEXT = {
  operator_id: "ada",
  project_id: "music",
  agent_path: "primary",
  session_id: "ses_1",
  request_id: "req_7",
};

test("K-015 a handler gets its params without _context, and the context beside them", async () => {
  await using plugin = await running({
    methods: { "presets.list": (params, context) => ({ params, context: { ...context } }) },
  });
  const { result } = await plugin.ask("presets.list", { filter: "web", _context: AGENT_CONTEXT });
  assert.deepEqual(result, { params: { filter: "web" }, context: AGENT_CONTEXT });
});

test("X-03 the context still answers to user_id and project", async () => {
  await using plugin = await running({
    methods: { "who.am_i": (_params, context) => [context.user_id, context.project] },
  });
  assert.deepEqual((await plugin.ask("who.am_i", { _context: AGENT_CONTEXT })).result, ["ada", "music"]);
});

test("X-11 context.config is the plugin's config with the agent's overrides, which do not stay", async () => {
  await using plugin = await running(
    { methods: { "config.show": (params, { config }) => ({ params, config }) } },
    { tags: ["project"], budget: "mid" },
  );
  const overridden = await plugin.ask("config.show", { _config: { tags: ["research"] }, _context: AGENT_CONTEXT });
  assert.deepEqual(overridden.result, { params: {}, config: { tags: ["research"], budget: "mid" } });
  const plain = await plugin.ask("config.show", { _context: AGENT_CONTEXT });
  assert.deepEqual(plain.result.config, { tags: ["project"], budget: "mid" });
});

test("X-08 a tool is called as <plugin>.<tool>, a hook as kaged.hook.<name>", async () => {
  await using plugin = await running({
    tools: { add: ({ text }: { text: string }) => `added ${text}` },
    hooks: { on_session_start: () => ({ inject: "hello" }) },
  });
  assert.equal((await plugin.ask("test.add", { text: "x", _context: NO_CONTEXT })).result, "added x");
  const started = await plugin.ask("kaged.hook.on_session_start", { _context: AGENT_CONTEXT });
  assert.deepEqual(started.result, { inject: "hello" });
});

test("K-017 an unknown method is answered -32601", async () => {
  await using plugin = await running({});
  assert.equal((await plugin.ask("no.such", {})).error.code, -32601);
});

test("a handler that returns nothing is answered null", async () => {
  await using plugin = await running({ methods: { "a.void": () => {}, "a.promise": async () => {} } });
  assert.equal((await plugin.ask("a.void", {})).result, null);
  assert.equal((await plugin.ask("a.promise", {})).result, null);
});

test("an error that another one caused is answered with both messages: fetch alone says only that it failed", async () => {
  const cause = new Error("getaddrinfo EAI_AGAIN api.github.com");
  await using plugin = await running({
    methods: {
      "fail.fetch": () => Promise.reject(new TypeError("fetch failed", { cause })),
      "fail.quoting": () => Promise.reject(new Error(`Sync: ${cause.message}`, { cause })),
      "fail.loop": () => {
        const error = new Error("a");
        error.cause = error;
        throw error;
      },
    },
  });
  const messageOf = async (method: string): Promise<unknown> => (await plugin.ask(method, {})).error?.message;
  assert.equal(await messageOf("fail.fetch"), "fetch failed: getaddrinfo EAI_AGAIN api.github.com");
  assert.equal(await messageOf("fail.quoting"), "Sync: getaddrinfo EAI_AGAIN api.github.com");
  assert.equal(await messageOf("fail.loop"), "a");
});

test("K-017 a PluginError travels with its code and data, any other error as -32603 with its message", async () => {
  await using plugin = await running({
    methods: {
      "fail.busy": () => {
        throw new PluginError("Installing", { code: -32005, data: { retry_ms: 50 } });
      },
      "fail.plain": () => Promise.reject(new PluginError("Locked")),
      "fail.bug": () => Promise.reject(new Error("x is undefined")),
      "fail.reserved": () => Promise.reject(new PluginError("Mine", { code: -32700 })),
      "fail.cyclic": () => {
        const data: Message = {};
        data.self = data;
        throw new PluginError("Cyclic data", { data });
      },
    },
  });
  const errorOf = async (method: string): Promise<unknown> => (await plugin.ask(method, {})).error;
  assert.deepEqual(await errorOf("fail.busy"), { code: -32005, message: "Installing", data: { retry_ms: 50 } });
  assert.deepEqual(await errorOf("fail.plain"), { code: -32000, message: "Locked" });
  assert.deepEqual(await errorOf("fail.bug"), { code: -32603, message: "x is undefined" });
  assert.deepEqual(await errorOf("fail.reserved"), { code: -32603, message: "Mine" });
  assert.deepEqual(await errorOf("fail.cyclic"), { code: -32000, message: "Cyclic data" });
  assert.match(plugin.log(), /Handler of \\"fail.bug\\" failed/);
});

test("a result that is no JSON, or no line of 4 MiB, is answered -32603", async () => {
  await using plugin = await running({
    methods: {
      "bad.bigint": () => 1n,
      "bad.big": () => "x".repeat(4 * 1024 * 1024),
      "bad.wide": () => "€".repeat(1_400_000),
      "good.wide": () => "€".repeat(1_390_000),
    },
  });
  for (const method of ["bad.bigint", "bad.big", "bad.wide"]) {
    assert.equal((await plugin.ask(method, {})).error.code, -32603, method);
  }
  assert.equal((await plugin.ask("good.wide", {})).result.length, 1_390_000);
});

test("K-013 ten calls at once are all answered, in the order they finish", async () => {
  const finish: ((value: number) => void)[] = [];
  await using plugin = await running({
    methods: { "wait.turn": () => new Promise((resolve) => void finish.push(resolve)) },
  });
  for (let id = 1; id <= 10; id++) plugin.send({ id, method: "wait.turn", params: {} });
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
  const ids: number[] = [];
  for (const done of finish.reverse()) {
    done(0);
    ids.push((await plugin.next()).id);
  }
  assert.deepEqual(ids, [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
});

test("system.cancel aborts the signal of the call it names, and of no other", async () => {
  const calls = new Map<string, CallContext>();
  await using plugin = await running({
    methods: {
      "wait.long": ({ name }, context) => {
        calls.set(name, context);
        return new Promise((_, reject) =>
          context.signal.addEventListener("abort", () => reject(context.signal.reason))
        );
      },
    },
  });
  plugin.send({ id: 11, method: "wait.long", params: { name: "one" } });
  plugin.send({ id: 12, method: "wait.long", params: { name: "two" } });
  plugin.send({ method: "system.cancel", params: { id: 12 } });
  const answer = await plugin.next();
  assert.deepEqual([answer.id, answer.error.code], [12, -32000]);
  assert.deepEqual([calls.get("one")?.signal.aborted, calls.get("two")?.signal.aborted], [false, true]);
});

test("shutdown aborts the calls that still run, and sends their answers first", async () => {
  await using plugin = await running({
    methods: {
      "wait.long": (_, { signal }) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve("stopped"))),
    },
  });
  plugin.send({ id: 5, method: "wait.long", params: {} });
  plugin.send({ method: "shutdown", params: {} });
  assert.equal((await plugin.next()).result, "stopped");
  assert.equal(await plugin.ended, 0);
});

test("context.progress() reports under the id of the call, and not after its end", async () => {
  let kept!: CallContext;
  await using plugin = await running({
    methods: {
      "copy.all": (_, context) => {
        kept = context;
        context.progress(1, 3, "first file");
        const { progress } = context;
        progress(2);
        return "done";
      },
    },
  });
  plugin.send({ id: 9, method: "copy.all", params: {} });
  const reports = [await plugin.next(), await plugin.next()];
  assert.deepEqual(reports.map(({ method, params }) => [method, params]), [
    ["system.progress", { id: 9, progress: 1, total: 3, message: "first file" }],
    ["system.progress", { id: 9, progress: 2 }],
  ]);
  assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", id: 9, result: "done" });
  kept.progress(3);
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
});
