import assert from "node:assert/strict";
import { test } from "node:test";
import { createPlugin, type Plugin, PluginError } from "../../src/sdk/mod.ts";
import { driveInMemory, type Message } from "../support/plugin_driver.ts";

const MIB = 1024 * 1024;

const echo = (): Plugin =>
  createPlugin({ name: "test", version: "1.0.0", methods: { "echo.size": ({ text }) => text.length } });

test("K-001 a message is the same however its bytes are cut", async () => {
  await using plugin = driveInMemory(createPlugin({
    name: "test",
    version: "1.0.0",
    methods: { "echo.back": ({ text }) => text },
  }));
  await plugin.handshake();
  const line = JSON.stringify({ jsonrpc: "2.0", id: 4, method: "echo.back", params: { text: "aä€😀" } }) + "\r\n";
  const bytes = new TextEncoder().encode(line + line);
  for (let size = 1; size < 8; size++) {
    for (let at = 0; at < bytes.length; at += size) plugin.sendRaw(bytes.slice(at, at + size));
    for (let count = 0; count < 2; count++) {
      assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", id: 4, result: "aä€😀" });
    }
  }
});

test("K-002 a line of exactly 4 MiB is taken, a longer one ends the plugin with code 1", async () => {
  const lineOf = (bytes: number): string => {
    const [head, tail] = ['{"jsonrpc":"2.0","id":6,"method":"echo.size","params":{"text":"', '"}}'];
    return head + "x".repeat(bytes - head.length - tail.length) + tail + "\n";
  };
  await using plugin = driveInMemory(echo());
  await plugin.handshake();
  plugin.sendRaw(lineOf(4 * MIB));
  assert.ok((await plugin.next()).result > 4 * MIB - 100);
  plugin.sendRaw(lineOf(4 * MIB + 1));
  assert.equal(await plugin.ended, 1);
  assert.match(plugin.log(), /more than 4 MiB/);
});

test("K-002 a line without an end is given up at 4 MiB", async () => {
  await using plugin = driveInMemory(echo());
  for (let sent = 0; sent <= 4 * MIB; sent += MIB) plugin.sendRaw("x".repeat(MIB));
  assert.equal(await plugin.ended, 1);
});

test("K-005 a batch is answered once, with -32600", async () => {
  await using plugin = driveInMemory(echo());
  plugin.sendRaw('[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]\n');
  const answer = await plugin.next();
  assert.deepEqual([answer.id, answer.error.code], [null, -32600]);
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
});

test("K-017 a line that is no JSON is answered -32700, one that is no message -32600, and the plugin lives", async () => {
  await using plugin = driveInMemory(echo());
  const codeFor = async (text: string): Promise<number> => {
    plugin.sendRaw(text + "\n");
    return (await plugin.next()).error.code;
  };
  assert.equal(await codeFor("{ not json"), -32700);
  assert.equal(await codeFor(""), -32700);
  for (const text of ["null", "42", '"text"', "{}", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0","id":1}']) {
    assert.equal(await codeFor(text), -32600, text);
  }
  assert.equal(await codeFor('{"jsonrpc":"1.0","id":1,"method":"ping"}'), -32600);
  assert.equal(await codeFor('{"jsonrpc":"2.0","id":{},"method":"ping"}'), -32600);
  assert.equal(await codeFor('{"jsonrpc":"2.0","id":1,"method":7}'), -32600);
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
});

test("K-006 notifications and responses are never answered", async () => {
  await using plugin = driveInMemory(echo());
  await plugin.handshake();
  plugin.send({ method: "no.such", params: {} });
  plugin.send({ method: "echo.size", params: { text: "x" } });
  plugin.send({ method: "system.cancel", params: { id: 99 } });
  plugin.send({ id: 99, result: "nobody asked" });
  plugin.send({ id: null, error: { code: -32600, message: "No" } });
  assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
});

test("the answers to one chunk leave in one write", async () => {
  const writes: string[] = [];
  const answered = Promise.withResolvers<void>();
  async function* input(): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"ping"}\n'.repeat(50));
    await answered.promise;
  }
  await echo().start({
    input: input(),
    output: (text) => {
      writes.push(text);
      answered.resolve();
    },
  });
  assert.deepEqual(writes.map((text) => text.split("\n").length - 1), [50]);
});

test("K-058 notify() shares the wire with storage and calls, and refuses reserved names and oversize", async () => {
  const made = echo();
  await using plugin = driveInMemory(made);
  await plugin.handshake();
  await plugin.ask("ping");
  made.notify("catalog.updated", { entries_added: 3 });
  assert.deepEqual(await plugin.next(), {
    jsonrpc: "2.0",
    method: "catalog.updated",
    params: { entries_added: 3 },
  });
  assert.throws(() => made.notify("kaged.storage.exec"), TypeError);
  assert.throws(() => made.notify("catalog"), TypeError);
  assert.throws(() => made.notify("catalog.updated", { text: "x".repeat(4 * MIB) }), PluginError);
});

test("K-057 storage asks the host under ids of its own, from 1, and resolves with its results", async () => {
  const made = echo();
  await using plugin = driveInMemory(made);
  await plugin.handshake();
  await plugin.ask("ping");
  const answers = Promise.all([
    made.storage.query("SELECT name FROM notes WHERE id = ?", [7]),
    made.storage.exec("DELETE FROM notes"),
    made.storage.schema(),
  ]);
  const asked = [await plugin.next(), await plugin.next(), await plugin.next()];
  assert.deepEqual(asked.map(({ id, method, params }) => [id, method, params]), [
    [1, "kaged.storage.query", { sql: "SELECT name FROM notes WHERE id = ?", params: [7] }],
    [2, "kaged.storage.exec", { sql: "DELETE FROM notes", params: [] }],
    [3, "kaged.storage.schema", {}],
  ]);
  plugin.send({ id: 3, result: { tables: ["notes"] } });
  plugin.send({ id: 1, result: { rows: [{ name: "x" }], columns: ["name"] } });
  plugin.send({ id: 2, result: { rows_affected: 4 } });
  assert.deepEqual(await answers, [
    { rows: [{ name: "x" }], columns: ["name"] },
    { rows_affected: 4 },
    { tables: ["notes"] },
  ]);
});

test("K-057 a storage request the host refuses rejects with its code, message and data", async () => {
  const made = echo();
  await using plugin = driveInMemory(made);
  await plugin.handshake();
  await plugin.ask("ping");
  const refused = assert.rejects(made.storage.query("SELECT * FROM other"), (error: Message) => {
    assert.ok(error instanceof PluginError);
    assert.deepEqual([error.code, error.message, error.data], [-32003, "Not yours", { table: "other" }]);
    return true;
  });
  const { id } = await plugin.next();
  plugin.send({ id, error: { code: -32003, message: "Not yours", data: { table: "other" } } });
  await refused;
});

test("X-14c storage waits for initialized, also when onConfigUpdate asks", async () => {
  let rows: Promise<unknown> | undefined;
  const made = createPlugin({
    name: "test",
    version: "1.0.0",
    onConfigUpdate: () => void (rows = made.storage.exec("CREATE TABLE notes (id)")),
  });
  await using plugin = driveInMemory(made);
  await plugin.ask("initialize", {});
  assert.deepEqual((await plugin.ask("config.update", {})).result, {});
  plugin.send({ method: "initialized", params: {} });
  const asked = await plugin.next();
  assert.equal(asked.method, "kaged.storage.exec");
  plugin.send({ id: asked.id, result: { rows_affected: 0 } });
  assert.deepEqual(await rows, { rows_affected: 0 });
});

test("K-064 when the host goes away, pending requests reject and onShutdown is not left waiting", async () => {
  const made = createPlugin({
    name: "test",
    version: "1.0.0",
    onShutdown: async () => {
      await assert.rejects(made.storage.exec("INSERT INTO notes VALUES (1)"), /host is gone/);
    },
  });
  await using plugin = driveInMemory(made);
  await plugin.handshake();
  await plugin.ask("ping");
  const open = assert.rejects(made.storage.schema(), /host is gone/);
  await plugin.next();
  plugin.closeInput();
  await open;
  assert.equal(await plugin.ended, 0);
});

test("K-058 log lines are JSON with level, msg and time, which no field can replace or break", async () => {
  const made = echo();
  await using plugin = driveInMemory(made);
  const cyclic: Message = {};
  cyclic.self = cyclic;
  made.log.info("Scanned", { presets: 42, level: "forged" });
  made.log.error("Failed\nbadly", { error: new Error("no disk"), size: 5n });
  made.log.warn("Cyclic", cyclic);
  made.log.debug("Below the level");
  const lines = plugin.log().trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map(({ level, msg }) => [level, msg]), [
    ["info", "Scanned"],
    ["error", "Failed\nbadly"],
    ["warn", "Cyclic"],
  ]);
  assert.equal(lines[0].presets, 42);
  assert.ok(lines.every(({ time }) => new Date(time).toISOString() === time));
  assert.match(lines[1].error, /no disk/);
  assert.equal(lines[1].size, "5");
});
