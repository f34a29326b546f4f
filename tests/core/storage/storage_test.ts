import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { databases } from "../../../src/adapters/shared/databases.ts";
import { createStorage } from "../../../mod.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { attacks } from "./support/corpus.ts";
import { openStorageHome, processesWith } from "./support/storage_home.ts";

const ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT max(n) FROM r";
const ENDLESS_WRITE =
  "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) UPDATE t SET a = (SELECT max(n) FROM r)";

test("a plugin makes a table, writes and reads, as objects and as arrays (K-057)", async (t) => {
  const { ask } = await openStorageHome(t);
  assert.deepEqual(await ask("notes", "exec", { sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, v)" }), {
    rows_affected: 0,
  });
  const insert = { sql: "INSERT INTO t(v) VALUES (?), (?) RETURNING id", params: ["a", { $base64: "AP8=" }] };
  assert.deepEqual(await ask("notes", "exec", insert), {
    rows_affected: 2,
    rows: [{ id: 1 }, { id: 2 }],
    columns: ["id"],
  });
  assert.deepEqual(
    await ask("notes", "query", { sql: "SELECT t.id, v, v FROM t WHERE id < :max", params: { max: 3 } }),
    {
      rows: [{ id: 1, v: "a", "v:1": "a" }, { id: 2, v: { $base64: "AP8=" }, "v:1": { $base64: "AP8=" } }],
      columns: ["id", "v", "v:1"],
    },
  );
  assert.deepEqual(await ask("notes", "query", { sql: "SELECT count(t.id) FROM t", rows_as: "arrays" }), {
    rows: [[2]],
    columns: ["count(t.id)"],
  });
  assert.deepEqual(await ask("notes", "schema"), { tables: ["t"], views: [] });
});

test("a plugin's tables are shared by its instances and hidden from other plugins", async (t) => {
  const { ask, errorOf } = await openStorageHome(t);
  await ask("notes", "exec", { sql: "CREATE TABLE t(a)" });
  assert.equal(await errorOf("other", "query", { sql: "SELECT * FROM t" }), "storage.sql -32000 no such table: t");
  assert.deepEqual(await ask("other", "schema"), { tables: [], views: [] });
});

test("K-070 a batch is one transaction", async (t) => {
  const { ask, errorOf } = await openStorageHome(t);
  const made = {
    statements: [{ sql: "CREATE TABLE t(a UNIQUE)" }, { sql: "INSERT INTO t VALUES (?) RETURNING a", params: [1] }],
  };
  assert.deepEqual(await ask("p", "batch", made), {
    results: [{ rows_affected: 0 }, { rows_affected: 1, rows: [{ a: 1 }], columns: ["a"] }],
  });
  const failing = { statements: [{ sql: "INSERT INTO t VALUES (2)" }, { sql: "INSERT INTO t VALUES (1)" }] };
  assert.equal(await errorOf("p", "batch", failing), "storage.sql -32000 statements[1]: UNIQUE constraint failed: t.a");
  assert.deepEqual(await ask("p", "query", { sql: "SELECT a FROM t", rows_as: "arrays" }), {
    rows: [[1]],
    columns: ["a"],
  });
});

test("storage needs its capability: reading to query, writing to change anything (K-057)", async (t) => {
  const { ask, errorOf } = await openStorageHome(t);
  await ask("p", "exec", { sql: "CREATE TABLE t(id INTEGER PRIMARY KEY, x)" });
  const denied = /^storage.denied -32003 Cannot use storage: "p" has no kaged:storage:(read|write)$/;
  assert.match(await errorOf("p", "query", { sql: "SELECT 1" }, "none"), denied);
  assert.match(await errorOf("p", "schema", {}, "none"), denied);
  assert.match(await errorOf("p", "exec", { sql: "CREATE TABLE u(a)" }, "read"), denied);
  assert.match(await errorOf("p", "batch", { statements: [{ sql: "CREATE TABLE u(a)" }] }, "read"), denied);
  assert.equal(await errorOf("p", "query", { sql: "SELECT 1" }, "read"), "no error");
  assert.match(await errorOf("p", "query", { sql: "CREATE TABLE u(a)" }, "read"), /^storage.denied -32003/);
  for (const { sql, method, capability } of await attacks()) {
    if (capability === "write") continue;
    assert.match(await errorOf("p", method, { sql }, capability), /^storage.denied -32003/, sql);
  }
});

test("a refusal is audited with the shape of the SQL, and the plugin goes on (K-064)", async (t) => {
  const { ask, errorOf, audited } = await openStorageHome(t);
  const sql = "SELECT * FROM sqlite_schema WHERE name = 'my secret' -- my secret";
  assert.equal(await errorOf("p", "query", { sql }), 'storage.denied -32003 Cannot use the name "sqlite_schema"');
  assert.deepEqual(audited, [
    'plugin.storage_denied p@project {"sql":"SELECT * FROM sqlite_schema WHERE name = ?","reason":"Cannot use the name \\"sqlite_schema\\""}',
  ]);
  assert.deepEqual(await ask("p", "query", { sql: "SELECT 1 AS one" }), { rows: [{ one: 1 }], columns: ["one"] });
});

test("wrong params are answered -32602 and say which", async (t) => {
  const { errorOf } = await openStorageHome(t);
  assert.match(
    await errorOf("p", "query", { sql: "SELECT ?", params: [] }),
    /^storage.params_invalid -32602 Parameter 1 is missing/,
  );
  assert.match(
    await errorOf("p", "query", { sql: "SELECT ?, ?", params: [1, {}] }),
    /^storage.params_invalid -32602 Parameter 2 /,
  );
  assert.match(await errorOf("p", "query", { sql: 1 }), /^storage.params_invalid -32602 "sql" must be a string/);
});

test("a plugin's requests run in the order they came", async (t) => {
  const { ask } = await openStorageHome(t);
  const writes = [ask("p", "exec", { sql: "CREATE TABLE t(a)" })];
  const counts: Promise<unknown>[] = [];
  for (let at = 0; at < 20; at++) {
    writes.push(ask("p", "exec", { sql: "INSERT INTO t VALUES (?)", params: [at] }));
    counts.push(ask("p", "query", { sql: "SELECT count(*) AS n FROM t" }));
  }
  const seen = (await Promise.all(counts)).map((answer) => (answer as { rows: { n: number }[] }).rows[0]!.n);
  assert.deepEqual(seen, Array.from({ length: 20 }, (_, at) => at + 1));
  await Promise.all(writes);
});

test("while a query runs away the host answers everyone else; then it is stopped", async (t) => {
  const { ask, errorOf, clock } = await openStorageHome(t);
  await ask("other", "exec", { sql: "CREATE TABLE t(a)" });
  let isStopped = false;
  const runaway = errorOf("rogue", "query", { sql: ENDLESS }).finally(() => isStopped = true);
  for (let at = 0; at < 20; at++) {
    await ask("other", "exec", { sql: "INSERT INTO t VALUES (?)", params: [at] });
    assert.deepEqual(await ask("other", "query", { sql: "SELECT max(a) AS a FROM t" }), {
      rows: [{ a: at }],
      columns: ["a"],
    });
  }
  assert.equal(isStopped, false);
  clock.release();
  assert.equal(await runaway, "storage.timeout -32603 The statement was stopped after 5000 ms");
  assert.equal(await errorOf("rogue", "query", { sql: "SELECT 1" }), "no error");
});

test("while a write runs away everyone else reads; their writes follow it, and nothing of it stays", async (t) => {
  const { ask, errorOf, clock } = await openStorageHome(t);
  for (const plugin of ["rogue", "other"]) {
    await ask(plugin, "exec", { sql: "CREATE TABLE t(a)" });
    await ask(plugin, "exec", { sql: "INSERT INTO t VALUES (1)" });
  }
  let isStopped = false;
  const runaway = errorOf("rogue", "exec", { sql: ENDLESS_WRITE }).finally(() => isStopped = true);
  for (let at = 0; at < 10; at++) await ask("other", "query", { sql: "SELECT a FROM t" });
  const write = ask("other", "exec", { sql: "UPDATE t SET a = 2" });
  assert.equal(isStopped, false);
  clock.release();
  assert.match(await runaway, /^storage.timeout/);
  assert.deepEqual(await write, { rows_affected: 1 });
  assert.deepEqual(await ask("rogue", "query", { sql: "SELECT a FROM t" }), { rows: [{ a: 1 }], columns: ["a"] });
});

test("several runaway queries at once leave the others a process to read with", async (t) => {
  const { ask, errorOf, clock } = await openStorageHome(t);
  for (const plugin of ["other", "rogue-a", "rogue-b"]) await ask(plugin, "query", { sql: "SELECT 1" });
  const runaways = ["rogue-a", "rogue-b"].map((plugin) => errorOf(plugin, "query", { sql: ENDLESS }));
  await ask("other", "query", { sql: "SELECT 1" });
  clock.release();
  for (const message of await Promise.all(runaways)) assert.match(message, /^storage.timeout/);
});

test("a result without end is stopped at the memory cap", async (t) => {
  const { ask, errorOf } = await openStorageHome(t, { limits: { maxMemoryBytes: 300 * 1024 * 1024 } });
  const sql = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n, hex(randomblob(2000)) FROM r";
  assert.match(await errorOf("p", "query", { sql }), /^storage.out_of_memory -32000 The statement/);
  assert.deepEqual(await ask("p", "query", { sql: "SELECT 1 AS one" }), { rows: [{ one: 1 }], columns: ["one"] });
});

test("results are capped by rows and by bytes", async (t) => {
  const { errorOf } = await openStorageHome(t);
  const rows = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 10001) SELECT n FROM r";
  assert.equal(
    await errorOf("p", "query", { sql: rows }),
    "storage.too_large -32000 The result has more than 10000 rows",
  );
  const bytes = "SELECT replace(hex(zeroblob(1000000)), '00', char(1))";
  assert.equal(
    await errorOf("p", "query", { sql: bytes }),
    "storage.too_large -32000 The result has more than 3145728 bytes",
  );
});

test("a plugin whose statements had to be stopped twice waits before it may try again", async (t) => {
  const { errorOf, clock } = await openStorageHome(t);
  for (let at = 0; at < 2; at++) {
    const runaway = errorOf("rogue", "query", { sql: ENDLESS });
    // Another plugin's answer says that the statement before it in the lane has been handed out.
    await errorOf("other", "query", { sql: "SELECT 1" });
    clock.release();
    assert.match(await runaway, /^storage.timeout/);
  }
  assert.match(await errorOf("rogue", "query", { sql: "SELECT 1" }), /^storage.busy -32005/);
  assert.equal(await errorOf("other", "query", { sql: "SELECT 1" }), "no error");
});

test("a request that was cancelled before its turn is not run", async (t) => {
  const { storage, ask } = await openStorageHome(t);
  await ask("p", "exec", { sql: "CREATE TABLE t(a)" });
  const client = { plugin: "p", instance: "p", manifest: { capabilities: ["kaged:storage:write"] } };
  const abort = new AbortController();
  const request = { method: "kaged.storage.exec", params: { sql: "INSERT INTO t VALUES (1)" }, signal: abort.signal };
  const first = ask("p", "query", { sql: "SELECT 1" });
  const cancelled = storage.handle(client, request);
  abort.abort();
  await assert.rejects(cancelled, { code: "protocol.cancelled" });
  await first;
  assert.deepEqual(await ask("p", "query", { sql: "SELECT count(*) AS n FROM t" }), {
    rows: [{ n: 0 }],
    columns: ["n"],
  });
});

test("the storage process has an empty environment, and close() leaves none behind", async (t) => {
  const { storage, ask, errorOf, home } = await openStorageHome(t);
  await ask("p", "query", { sql: "SELECT 1" });
  const running = await processesWith(`${home}/run/storage-`);
  assert.equal(running.length, 2);
  // A Node whose coverage is measured gives this one to every child, whatever it was told.
  const measured = /^NODE_V8_COVERAGE=[^\0]*\0$/;
  for (const pid of running) {
    assert.equal((await readFile(`/proc/${pid}/environ`, "utf8")).replace(measured, ""), "");
  }
  const runaway = errorOf("p", "query", { sql: ENDLESS });
  await errorOf("other", "query", { sql: "SELECT 1" });
  await storage.close();
  assert.match(await runaway, /^storage.failed/);
  assert.deepEqual(await processesWith(`${home}/run/storage-`), []);
  assert.match(await errorOf("p", "exec", { sql: "CREATE TABLE t(a)" }), /^storage.failed/);
});

test("the operator reports, exports and drops a plugin's tables (K-056)", async (t) => {
  const { storage, ask, home } = await openStorageHome(t);
  for (const plugin of ["a", "a-b"]) {
    await ask(plugin, "exec", { sql: "CREATE TABLE notes(id INTEGER PRIMARY KEY, body)" });
    await ask(plugin, "exec", { sql: "INSERT INTO notes(body) VALUES (?)", params: [plugin] });
  }
  assert.deepEqual(await storage.report("a"), { tables: [{ name: "notes", rows: 1, bytes: 4096 }], bytes: 4096 });
  assert.deepEqual(await storage.exportTo("a", `${home}/a.sqlite`), ["notes"]);
  await assert.rejects(storage.exportTo("a", `${home}/a.sqlite`), { code: "host.misuse" });
  assert.deepEqual(await storage.drop("a"), ["notes"]);
  assert.deepEqual(await ask("a", "schema"), { tables: [], views: [] });
  assert.deepEqual(await ask("a-b", "query", { sql: "SELECT body FROM notes" }), {
    rows: [{ body: "a-b" }],
    columns: ["body"],
  });
  const exported = databases.open(`${home}/a.sqlite`);
  t.after(() => exported.close());
  assert.deepEqual(exported.prepare("SELECT * FROM notes").all([]), [[1n, "a"]]);
});

test("createStorage() of the package finds its runtime and says whether it can be used", async (t) => {
  await using storage = await createStorage({ home: await scratchDir(t) });
  assert.equal(storage.isAvailable, true);
  const client = { plugin: "p", instance: "p@1", manifest: { capabilities: ["kaged:storage:read"] } };
  const request = { method: "kaged.storage.schema", params: {}, signal: new AbortController().signal };
  assert.deepEqual(await storage.handle(client, request), { tables: [], views: [] });
});

test("a slip in SQL is an ordinary error, and no refusal in the audit; a forbidden statement is one", async (t) => {
  const { ask, errorOf, audited } = await openStorageHome(t);
  await ask("notes", "exec", { sql: "CREATE TABLE t(a)" });
  assert.equal(
    await errorOf("notes", "query", { sql: "SELEC a FROM t" }),
    'storage.sql -32000 near "SELEC": syntax error',
  );
  assert.equal(
    await errorOf("notes", "exec", { sql: "updat t SET a = 1" }),
    'storage.sql -32000 near "updat": syntax error',
  );
  assert.equal(
    await errorOf("notes", "query", { sql: "SELECT * FORM t" }),
    'storage.sql -32000 near "FORM": syntax error',
  );
  assert.deepEqual(audited, []);
  assert.equal(
    await errorOf("notes", "exec", { sql: "pragma table_info(t)" }),
    "storage.denied -32003 Cannot run PRAGMA",
  );
  assert.equal(audited.length, 1);
});
