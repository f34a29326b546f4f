import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { PreparedStatements } from "../../../src/core/storage/prepared.ts";
import { JsonText } from "../../../src/core/values/json_text.ts";
import { openStorageHome, type StorageHome } from "./support/storage_home.ts";
import { errorOf as thrownBy } from "./support/world.ts";

/** A storage in which plugin `p` has the rows 1 and 2 in `t`. */
async function withRows(
  t: TestContext,
): Promise<StorageHome & { prepare(plugin: string, sql: string): Promise<string> }> {
  const home = await openStorageHome(t);
  await home.ask("p", "exec", { sql: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)" });
  await home.ask("p", "exec", { sql: "INSERT INTO t VALUES (1, 'one'), (2, 'two')" });
  const prepare = async (plugin: string, sql: string): Promise<string> =>
    (await home.ask(plugin, "prepare", { sql }) as { statement: string }).statement;
  return { ...home, prepare };
}

test("a prepared statement runs as its SQL does: alone, with other values, and in a batch", async (t) => {
  const { ask, prepare } = await withRows(t);
  const { statement, ...facts } = await ask("p", "prepare", { sql: "SELECT b FROM t WHERE a = ?" }) as {
    statement: string;
  };
  assert.deepEqual(facts, { kind: "query", parameters: 1, columns: ["b"] });
  assert.deepEqual(await ask("p", "query", { statement, params: [1] }), { rows: [{ b: "one" }], columns: ["b"] });
  assert.deepEqual(await ask("p", "query", { statement, params: [2], rows_as: "arrays" }), {
    rows: [["two"]],
    columns: ["b"],
  });
  const insert = await prepare("p", "INSERT INTO t(b) VALUES (:b) RETURNING a");
  assert.deepEqual(await ask("p", "exec", { statement: insert, params: { b: "three" } }), {
    rows_affected: 1,
    rows: [{ a: 3 }],
    columns: ["a"],
  });
  const statements = [{ statement: insert, params: { b: "four" } }, { sql: "DELETE FROM t WHERE a < 3" }];
  assert.deepEqual(await ask("p", "batch", { statements, rows_as: "arrays" }), {
    results: [{ rows_affected: 1, rows: [[4]], columns: ["a"] }, { rows_affected: 2 }],
  });
});

test("a handle is its plugin's alone, and gives it nothing that the SQL would not", async (t) => {
  const { errorOf, prepare, audited } = await withRows(t);
  const select = await prepare("p", "SELECT b FROM t");
  const insert = await prepare("p", "INSERT INTO t(b) VALUES ('x')");
  assert.match(await errorOf("other", "query", { statement: select }), /^storage.statement_unknown -32602 There is no/);
  assert.match(
    await errorOf("p", "exec", { statement: insert }, "read"),
    /^storage.denied -32003 .*kaged:storage:write/,
  );
  assert.match(await errorOf("p", "query", { statement: insert }), /^storage.denied -32003 Not authorized: "t"/);
  assert.match(await errorOf("p", "prepare", { sql: "SELECT 1" }, "none"), /^storage.denied .*kaged:storage:read/);
  assert.match(await errorOf("p", "prepare", { sql: "SELECT * FROM plugin_other_t" }), /^storage.denied/);
  assert.ok(audited.some((event) => event.includes("SELECT * FROM plugin_other_t")), audited.join("\n"));
});

test("a change of the plugin's tables ends its handles, and no other plugin's", async (t) => {
  const { ask, errorOf, prepare } = await withRows(t);
  await ask("other", "exec", { sql: "CREATE TABLE t(a)" });
  const [own, others] = [await prepare("p", "SELECT * FROM t"), await prepare("other", "SELECT * FROM t")];
  await ask("p", "exec", { sql: "ALTER TABLE t ADD COLUMN c" });
  assert.match(await errorOf("p", "query", { statement: own }), /^storage.statement_unknown/);
  assert.deepEqual(await ask("other", "query", { statement: others }), { rows: [], columns: ["a"] });
  assert.equal(await prepare("p", "SELECT * FROM t") === own, false);
});

test("a batch with an unknown handle runs nothing; its error names the place of a statement that fails", async (t) => {
  const { storage, ask, errorOf, prepare } = await withRows(t);
  const insert = await prepare("p", "INSERT INTO t VALUES (?, 'new')");
  const unknown = [{ statement: insert, params: [3] }, { statement: "st_none.1", params: [4] }];
  assert.match(await errorOf("p", "batch", { statements: unknown }), /^storage.statement_unknown/);
  const statements = [3, 4, 2].map((a) => ({ statement: insert, params: [a] }));
  const client = { plugin: "p", instance: "p@1", manifest: { capabilities: ["kaged:storage:write"] } };
  const request = { method: "kaged.storage.batch", params: { statements }, signal: new AbortController().signal };
  await assert.rejects(storage.handle(client, request), {
    message: "statements[2]: UNIQUE constraint failed: t.a",
    data: { code: "storage.sql", sqlite_code: 1555, index: 2 },
  });
  assert.deepEqual(await ask("p", "query", { sql: "SELECT count(*) AS n FROM t" }), {
    rows: [{ n: 2 }],
    columns: ["n"],
  });
});

test("prepare reports a slip in the SQL, and takes neither a definition nor SQL beside a handle", async (t) => {
  const { errorOf, prepare } = await withRows(t);
  assert.match(await errorOf("p", "prepare", { sql: "SELECT z FROM t" }), /^storage.sql -32000 no such column: z/);
  assert.match(
    await errorOf("p", "prepare", { sql: "CREATE TABLE u(a)" }),
    /^storage.sql -32000 a definition runs once/,
  );
  assert.match(await errorOf("p", "prepare", { sql: 1 }), /^storage.params_invalid -32602 "sql" must be a string/);
  const statement = await prepare("p", "SELECT 1");
  assert.match(await errorOf("p", "query", { statement, sql: "SELECT 1" }), /^storage.params_invalid .*send one/);
  assert.match(await errorOf("p", "query", { statement: 1 }), /^storage.params_invalid .*"statement" must be a string/);
});

test("a request that takes text is answered with the text of the storage process", async (t) => {
  const { storage, ask } = await withRows(t);
  const client = { plugin: "p", instance: "p@1", manifest: { capabilities: ["kaged:storage:read"] } };
  const params = { sql: "SELECT a, b, NULL AS n FROM t" };
  const signal = new AbortController().signal;
  const answer = await storage.handle(client, { method: "kaged.storage.query", params, signal, takesText: true });
  assert.ok(answer instanceof JsonText);
  assert.deepEqual(JSON.parse(answer.text), await ask("p", "query", params));
});

test("PreparedStatements keeps 256 handles for each plugin, one for the same SQL, and knows none of another epoch", () => {
  const prepared = new PreparedStatements("st_a");
  const first = prepared.add("p", "SELECT 0");
  assert.equal(prepared.add("p", "SELECT 0"), first);
  assert.notEqual(prepared.add("q", "SELECT 0"), first);
  for (let at = 1; at < 256; at++) prepared.add("p", `SELECT ${at}`);
  assert.equal(prepared.sqlOf("p", first), "SELECT 0");
  prepared.add("p", "SELECT 256");
  assert.match(thrownBy(() => prepared.sqlOf("p", first)), /^storage.statement_unknown/);
  assert.match(thrownBy(() => new PreparedStatements("st_b").sqlOf("p", first)), /^storage.statement_unknown/);
});
