import assert from "node:assert/strict";
import { test } from "node:test";
import { hasPython, pythonPlugin } from "../support/python_plugin.ts";

test("K-065 K-011 a Python plugin takes configs in order, refuses with -32004 and keeps the last it took", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
seen = []
@plugin.on_config_update
def take(config):
    if not config.get("dir"): raise ValueError("dir is missing")
    seen.append(config["dir"])
plugin.method("config.show")(lambda params, context: {"seen": seen, "config": plugin.config})
`,
  );
  await plugin.handshake({ dir: "/a" });
  plugin.send({ id: 11, method: "config.update", params: { dir: "/b" } });
  plugin.send({ id: 12, method: "config.update", params: {} });
  assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", id: 11, result: {} });
  assert.deepEqual((await plugin.next()).error, { code: -32004, message: "dir is missing" });
  assert.deepEqual((await plugin.ask("config.show", {})).result, { seen: ["/a", "/b"], config: { dir: "/b" } });
});

const WAITING = `
@plugin.method("wait.long")
def wait(params, context):
    context.progress(1, 2, "waits")
    context.cancelled.wait()
    context.check()
@plugin.method("wait.async")
async def wait_async(params, context):
    import asyncio
    context.progress(1)
    await asyncio.sleep(3600)
plugin.method("quick.answer")(lambda params, context: "quick")
`;

for (const method of ["wait.long", "wait.async"]) {
  test(`K-065 K-013 Python: ${method} reports progress, others are answered meanwhile, system.cancel stops it alone`, async (t) => {
    if (!await hasPython(t)) return;
    await using plugin = await pythonPlugin(t, WAITING);
    await plugin.handshake();
    plugin.send({ id: 11, method, params: {} });
    const report = await plugin.next();
    assert.deepEqual([report.method, report.params.id, report.params.progress], ["system.progress", 11, 1]);
    plugin.send({ id: "two", method, params: {} });
    assert.equal((await plugin.next()).params.id, "two");
    assert.equal((await plugin.ask("quick.answer", {})).result, "quick");
    assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
    plugin.send({ method: "system.cancel", params: { id: "two" } });
    const stopped = await plugin.next();
    assert.deepEqual([stopped.id, stopped.error.code], ["two", -32000]);
    assert.deepEqual((await plugin.ask("ping")).result, { status: "ok" });
  });
}

test("K-065 fifty async Python calls wait at once, beyond the threads", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(t, WAITING, { options: "max_threads=1" });
  await plugin.handshake();
  for (let id = 100; id < 150; id++) plugin.send({ id, method: "wait.async", params: {} });
  const seen = new Set<number>();
  for (let count = 0; count < 50; count++) seen.add((await plugin.next()).params.id);
  assert.equal(seen.size, 50);
});

test("K-065 X-10 Python: shutdown stops calls that run, answers them, runs on_shutdown and ends with code 0", async (t) => {
  if (!await hasPython(t)) return;
  for (const asRequest of [false, true]) {
    await using plugin = await pythonPlugin(
      t,
      `${WAITING}
@plugin.on_shutdown
def last():
    plugin.log.info("saved", rows=plugin.storage.exec("DELETE FROM notes")["rows_affected"])
`,
    );
    await plugin.handshake();
    plugin.send({ id: 5, method: "wait.long", params: {} });
    assert.equal((await plugin.next()).method, "system.progress");
    plugin.send({ ...(asRequest ? { id: 6 } : {}), method: "shutdown", params: {} });
    assert.deepEqual([(await plugin.next()).id], [5]);
    const asked = await plugin.next();
    assert.equal(asked.method, "kaged.storage.exec");
    plugin.send({ id: asked.id, result: { rows_affected: 4 } });
    if (asRequest) assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", id: 6, result: {} });
    assert.equal(await plugin.ended, 0);
    assert.match(plugin.log(), /"saved".*"rows": 4/);
  }
});

test("K-065 K-057 Python storage asks under ids of its own from 1; answers and refusals find their call", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
@plugin.method("db.read")
def read(params, context):
    try: return plugin.storage.query("SELECT ?", [params["n"]])["rows"]
    except PluginError as error: return [error.code, str(error), error.data]
@plugin.method("db.async")
async def read_async(params, context):
    import asyncio
    return await asyncio.wrap_future(plugin.storage.later.batch([{"sql": "SELECT 1"}]))
`,
  );
  await plugin.handshake();
  plugin.send({ id: 21, method: "db.read", params: { n: 1 } });
  assert.deepEqual(await plugin.next(), {
    jsonrpc: "2.0",
    id: 1,
    method: "kaged.storage.query",
    params: { sql: "SELECT ?", params: [1] },
  });
  plugin.send({ id: 22, method: "db.read", params: { n: 2 } });
  assert.equal((await plugin.next()).id, 2);
  plugin.send({ id: 2, error: { code: -32003, message: "Not yours", data: { table: "x" } } });
  assert.deepEqual((await plugin.next()).result, [-32003, "Not yours", { table: "x" }]);
  plugin.send({ id: 1, result: { rows: [{ n: 1 }], columns: ["n"] } });
  assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", id: 21, result: [{ n: 1 }] });
  plugin.send({ id: 23, method: "db.async", params: {} });
  assert.deepEqual((await plugin.next()).params, { statements: [{ sql: "SELECT 1" }] });
  plugin.send({ id: 3, result: { results: [] } });
  assert.deepEqual((await plugin.next()).result, { results: [] });
});

test("a prepared statement in Python is prepared with its first use, and again when the host knows it no longer", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
insert = plugin.storage.prepare("INSERT INTO t VALUES (?)")
@plugin.method("db.add")
def add(params, context):
    insert.exec([params["n"]])
    return plugin.storage.batch([{"sql": insert, "params": [params["n"]]}, {"sql": "DELETE FROM t"}])
`,
  );
  await plugin.handshake();
  const next = async (result: unknown, error?: unknown): Promise<unknown> => {
    const { id, method, params } = await plugin.next();
    plugin.send(error === undefined ? { id, result } : { id, error });
    return [String(method).replace("kaged.storage.", ""), params];
  };
  plugin.send({ id: 21, method: "db.add", params: { n: 1 } });
  assert.deepEqual(await next({ statement: "s.1" }), ["prepare", { sql: "INSERT INTO t VALUES (?)" }]);
  assert.deepEqual(await next({ rows_affected: 1 }), ["exec", { statement: "s.1", params: [1] }]);
  const statements = (statement: string): unknown => [{ statement, params: [1] }, { sql: "DELETE FROM t" }];
  const unknown = { code: -32602, message: "There is none", data: { code: "storage.statement_unknown" } };
  assert.deepEqual(await next(null, unknown), ["batch", { statements: statements("s.1") }]);
  assert.deepEqual(await next({ statement: "s.2" }), ["prepare", { sql: "INSERT INTO t VALUES (?)" }]);
  assert.deepEqual(await next({ results: [] }), ["batch", { statements: statements("s.2") }]);
  assert.deepEqual(await plugin.next(), { jsonrpc: "2.0", id: 21, result: { results: [] } });
});

test("K-065 X-14c Python storage waits for initialized; waiting for it in on_config_update is refused, not a standstill", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
@plugin.on_config_update
def take(config):
    plugin.storage.later.exec("CREATE TABLE notes (id)")
    if config.get("wait"): plugin.storage.schema()
`,
  );
  await plugin.ask("initialize", {});
  const refused = await plugin.ask("config.update", { wait: true });
  assert.equal(refused.error.code, -32004);
  assert.match(refused.error.message, /storage\.later/);
  plugin.send({ method: "initialized", params: {} });
  assert.deepEqual([(await plugin.next()).params.sql], ["CREATE TABLE notes (id)"]);
});

test("K-065 K-064 when the host goes away, a Python plugin's requests fail and the plugin ends", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    `
@plugin.method("db.read")
def read(params, context):
    try: plugin.storage.schema()
    finally: plugin.log.info("let go")
@plugin.on_shutdown
def last():
    try: plugin.storage.schema()
    except PluginError as error: plugin.log.info(str(error))
`,
  );
  await plugin.handshake();
  plugin.send({ id: 9, method: "db.read", params: {} });
  await plugin.next();
  plugin.closeInput();
  assert.equal(await plugin.ended, 0);
  assert.match(plugin.log(), /let go[^]*The host is gone/);
});

test("a Python on_shutdown that raises is logged and ends with code 1", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(t, "plugin.on_shutdown(lambda: 1 / 0)");
  plugin.closeInput();
  assert.equal(await plugin.ended, 1);
  assert.match(plugin.log(), /on_shutdown failed.*ZeroDivisionError/);
});

test("Python resolve_path() finds granted folders and refuses to climb", async (t) => {
  if (!await hasPython(t)) return;
  await using plugin = await pythonPlugin(
    t,
    'plugin.method("path.of")(lambda params, context: plugin.resolve_path(params["path"]))',
    { env: { KAGED_CONFIG_DIR: "/home/files/" } },
  );
  await plugin.handshake();
  const resolved = async (path: string) => {
    const { result, error } = await plugin.ask("path.of", { path });
    return result ?? error.code;
  };
  assert.equal(await resolved("config:/memory/./a"), "/home/files/memory/a");
  assert.equal(await resolved("project:/src"), -32001);
  for (const path of ["config:/../x", "/etc", "config:memory", "config:/a\0"]) {
    assert.equal(await resolved(path), -32602, path);
  }
});
