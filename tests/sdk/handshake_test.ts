import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin, type PluginDefinition } from "../../src/sdk/mod.ts";
import { driveInMemory, type DrivenPlugin, NO_CONTEXT } from "../support/plugin_driver.ts";

const drive = (definition: Partial<PluginDefinition> = {}): DrivenPlugin =>
  driveInMemory(createPlugin({ name: "test", version: "1.0.0", ...definition }));

test("K-008 a plugin of the SDK answers initialize with its identity, methods, tools and features, not its hooks", async () => {
  await using plugin = drive({
    methods: { "presets.list": () => [] },
    tools: { add: () => null },
    hooks: { on_session_start: () => null },
    notifications: ["catalog.updated"],
    capabilitiesUsed: ["kaged:storage:read"],
  });
  assert.deepEqual(await plugin.ask("initialize", { api_version: 1, plugin_name: "test" }), {
    jsonrpc: "2.0",
    id: 1,
    result: {
      name: "test",
      version: "1.0.0",
      api_version: 1,
      methods: ["presets.list", "test.add"],
      notifications: ["catalog.updated"],
      capabilities_used: ["kaged:storage:read"],
      features: ["cancel", "progress", "projects"],
    },
  });
});

test("a plugin of the SDK knows the capabilities that the host says it has, fewer than it claims or none said", async () => {
  const made = createPlugin({ name: "test", version: "1.0.0", capabilitiesUsed: ["net:*", "kaged:storage:read"] });
  await using plugin = driveInMemory(made);
  assert.deepEqual(made.capabilities, []);
  const params = { api_version: 1, plugin_name: "test", capabilities: ["kaged:storage:read", 7] };
  assert.equal((await plugin.ask("initialize", params)).result.name, "test");
  assert.deepEqual(made.capabilities, ["kaged:storage:read"]);
  const silent = createPlugin({ name: "test", version: "1.0.0" });
  await using other = driveInMemory(silent);
  await other.ask("initialize", { api_version: 1, plugin_name: "test" });
  assert.deepEqual(silent.capabilities, []);
});

test("K-007 a plugin of the SDK says nothing before initialize, whatever its author sends", async () => {
  const made = createPlugin({ name: "test", version: "1.0.0" });
  await using plugin = driveInMemory(made);
  made.notify("catalog.updated", { early: true });
  const rows = made.storage.query("SELECT 1");
  assert.equal((await plugin.ask("initialize", {})).id, 1);
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
  plugin.send({ method: "initialized", params: {} });
  assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", method: "catalog.updated", params: { early: true } });
  const request = await plugin.next();
  assert.deepEqual([request.id, request.method], [1, "kaged.storage.query"]);
  plugin.send({ id: 1, result: { rows: [{ one: 1 }], columns: ["one"] } });
  assert.deepEqual((await rows).rows, [{ one: 1 }]);
});

test("K-010 a call before initialized is answered -32002, and after it by its handler", async () => {
  await using plugin = drive({ methods: { "presets.list": () => ["web"] } });
  assert.equal((await plugin.ask("presets.list", {})).error.code, -32002);
  await plugin.handshake();
  assert.deepEqual((await plugin.ask("presets.list", { _context: NO_CONTEXT })).result, ["web"]);
});

test("initialize is answered once, and a second time with -32600", async () => {
  await using plugin = drive();
  await plugin.handshake();
  assert.equal((await plugin.ask("initialize", {})).error.code, -32600);
});

test("K-011 config.update reaches onConfigUpdate and then plugin.config", async () => {
  const seen: unknown[] = [];
  const made = createPlugin({ name: "test", version: "1.0.0", onConfigUpdate: (config) => void seen.push(config) });
  await using plugin = driveInMemory(made);
  await plugin.handshake({ greeting: "hi" });
  assert.deepEqual([seen, made.config], [[{ greeting: "hi" }], { greeting: "hi" }]);
});

test("config.update without a handler is accepted and kept", async () => {
  const made = createPlugin({ name: "test", version: "1.0.0" });
  await using plugin = driveInMemory(made);
  assert.deepEqual((await plugin.ask("config.update", { a: 1 })).result, {});
  assert.deepEqual(made.config, { a: 1 });
});

test("K-017 a config that onConfigUpdate throws at is answered -32004 with its message, and not kept", async () => {
  const made = createPlugin({
    name: "test",
    version: "1.0.0",
    onConfigUpdate: (config) => {
      if (!config.dir) throw new Error("dir is missing");
    },
  });
  await using plugin = driveInMemory(made);
  await plugin.ask("config.update", { dir: "/a" });
  assert.deepEqual((await plugin.ask("config.update", {})).error, { code: -32004, message: "dir is missing" });
  assert.deepEqual(made.config, { dir: "/a" });
});

test("a prepared statement is prepared with its first use, and again when the host knows it no longer", async () => {
  const made = createPlugin({ name: "test", version: "1.0.0" });
  await using plugin = driveInMemory(made);
  await plugin.handshake();
  const insert = made.storage.prepare("INSERT INTO t VALUES (?)");
  const next = async (result: unknown, error?: unknown): Promise<unknown> => {
    const { id, method, params } = await plugin.next();
    plugin.send(error === undefined ? { id, result } : { id, error });
    return [String(method).replace("kaged.storage.", ""), params];
  };
  const first = insert.exec([1]);
  assert.deepEqual(await next({ statement: "s.1" }), ["prepare", { sql: "INSERT INTO t VALUES (?)" }]);
  assert.deepEqual(await next({ rows_affected: 1 }), ["exec", { statement: "s.1", params: [1] }]);
  assert.deepEqual(await first, { rows_affected: 1 });
  const batch = made.storage.batch([{ sql: insert, params: [2] }, { sql: "DELETE FROM t" }]);
  const statements = (statement: string): unknown => [{ statement, params: [2] }, { sql: "DELETE FROM t" }];
  const unknown = { code: -32602, message: "There is none", data: { code: "storage.statement_unknown" } };
  assert.deepEqual(await next(null, unknown), ["batch", { statements: statements("s.1") }]);
  assert.deepEqual(await next({ statement: "s.2" }), ["prepare", { sql: insert.sql }]);
  assert.deepEqual(await next(null, unknown), ["batch", { statements: statements("s.2") }]);
  await assert.rejects(batch, { code: -32602 }); // Once more, and no further.
});

test("configs are taken one after another in the order they came", async () => {
  const turns: (() => void)[] = [];
  const made = createPlugin({
    name: "test",
    version: "1.0.0",
    onConfigUpdate: () => new Promise((resolve) => void turns.push(resolve)),
  });
  await using plugin = driveInMemory(made);
  plugin.send({ id: 1, method: "config.update", params: { turn: 1 } });
  plugin.send({ id: 2, method: "config.update", params: { turn: 2 } });
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
  assert.equal(turns.length, 1);
  turns[0]?.();
  assert.equal((await plugin.next()).id, 1);
  turns[1]?.();
  assert.equal((await plugin.next()).id, 2);
  assert.deepEqual(made.config, { turn: 2 });
});

test("K-058 shutdown as a notification runs onShutdown and ends with code 0", async () => {
  let saved = false;
  await using plugin = drive({ onShutdown: () => void (saved = true) });
  await plugin.handshake();
  plugin.send({ method: "shutdown", params: {} });
  assert.deepEqual([await plugin.ended, saved], [0, true]);
});

test("X-10 shutdown as a request is answered after onShutdown", async () => {
  const order: string[] = [];
  await using plugin = drive({ onShutdown: async () => void order.push(await Promise.resolve("saved")) });
  await plugin.handshake();
  assert.deepEqual((await plugin.ask("shutdown")).result, {});
  assert.deepEqual([await plugin.ended, order], [0, ["saved"]]);
});

test("the end of input runs onShutdown once and ends with code 0", async () => {
  let times = 0;
  await using plugin = drive({ onShutdown: () => void times++ });
  await plugin.handshake();
  plugin.send({ method: "shutdown", params: {} });
  plugin.closeInput();
  assert.deepEqual([await plugin.ended, times], [0, 1]);
});

test("an onShutdown that throws is logged and ends with code 1", async () => {
  await using plugin = drive({ onShutdown: () => Promise.reject(new Error("disk full")) });
  plugin.closeInput();
  assert.equal(await plugin.ended, 1);
  assert.match(plugin.log(), /onShutdown failed.*disk full/);
});

test("a plugin starts once", async () => {
  const made = createPlugin({ name: "test", version: "1.0.0" });
  await using _plugin = driveInMemory(made);
  assert.throws(() => driveInMemory(made), /started already/);
});

test("createPlugin() refuses names the host would refuse, and names that mean two things", () => {
  const make = (definition: object) => () => createPlugin({ name: "test", version: "1.0.0", ...definition });
  const handler = () => null;
  for (const method of ["list", "Presets.list", "kaged.storage", "system.cancel", "a.b.c.d.e", "config.update"]) {
    assert.throws(make({ methods: { [method]: handler } }), TypeError, method);
  }
  assert.throws(make({ tools: { "add.note": handler } }), TypeError);
  assert.throws(make({ hooks: { "on-start": handler } }), TypeError);
  assert.throws(make({ methods: { "test.add": handler }, tools: { add: handler } }), TypeError);
  assert.throws(make({ tools: { add: "not a function" } }), TypeError);
});

test("K-011 K-058 a plugin of the SDK hears of its projects, and lives when its handler fails", async () => {
  const heard: unknown[] = [];
  await using plugin = drive({
    onProjectActivated: (project, config) => void heard.push([project, config]),
    onProjectDeactivated(project) {
      heard.push(project);
      throw new Error("no");
    },
  });
  await plugin.ask("initialize", { api_version: 1, plugin_name: "test" });
  plugin.send({ method: "initialized", params: {} });
  plugin.send({ method: "projects.activated", params: { project: "music", config: { level: 1 } } });
  plugin.send({ method: "projects.deactivated", params: { project: "music" } });
  plugin.send({ method: "projects.activated", params: { project: 7 } });
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
  assert.deepEqual(heard, [["music", { level: 1 }], "music"]);
});
