import assert from "node:assert/strict";
import { test } from "node:test";
import { databases } from "../../../src/adapters/shared/databases.ts";
import { dropStorage, exportStorage, reportStorage } from "../../../src/core/storage/catalogue.ts";
import { StorageEngine } from "../../../src/core/storage/engine.ts";
import { DEFAULT_LIMITS, SQL_LIMITS } from "../../../src/core/storage/limits.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { errorOf, openWorld } from "./support/world.ts";

test("a table is made under the prefix and never shows it (K-057)", () => {
  using world = openWorld();
  world.exec("p", "CREATE TABLE presets(id INTEGER PRIMARY KEY, name TEXT UNIQUE)");
  assert.deepEqual(world.asHost("SELECT name FROM sqlite_schema WHERE type = 'table'"), [["plugin_p_presets"]]);
  assert.deepEqual(world.engine.schema("p"), { tables: ["presets"], views: [] });
  world.exec("p", "INSERT INTO presets(name) VALUES ('a')");
  const failures = [
    "INSERT INTO presets(name) VALUES ('a')",
    "SELECT * FROM nowhere",
    "SELECT absent FROM presets",
    "SELECT presets.absent FROM presets",
    "CREATE TABLE presets(id)",
    "DROP INDEX missing",
    "CREATE INDEX i ON missing(a)",
    "INSERT INTO presets(absent) VALUES (1)",
    "SELECT id FROM presets, presets AS other",
    "WITH presets AS (SELECT * FROM presets) SELECT * FROM presets",
  ].map((sql) => errorOf(() => world.exec("p", sql)));
  assert.deepEqual(failures, [
    "storage.sql: UNIQUE constraint failed: presets.name",
    "storage.sql: no such table: nowhere",
    "storage.sql: no such column: absent",
    "storage.sql: no such column: presets.absent",
    'storage.sql: table "presets" already exists',
    "storage.sql: no such index: missing",
    "storage.sql: no such table: main.missing",
    "storage.sql: table presets has no column named absent",
    "storage.sql: ambiguous column name: id",
    "storage.sql: circular reference: presets",
  ]);
});

test("exec counts changed rows, returns the rows of RETURNING, and counts 0 after a definition", () => {
  using world = openWorld();
  assert.equal(world.exec("p", "CREATE TABLE t(a INTEGER PRIMARY KEY, b)").rowsAffected, 0);
  assert.equal(world.exec("p", "INSERT INTO t(b) VALUES (1), (2), (3)").rowsAffected, 3);
  assert.equal(world.exec("p", "CREATE INDEX i ON t(b)").rowsAffected, 0);
  assert.deepEqual(world.exec("p", "UPDATE t SET b = b * 10 WHERE a > 1 RETURNING t.a, t.b + 1"), {
    rowsAffected: 2,
    returned: { columns: ["a", "t.b + 1"], rows: [[2, 21], [3, 31]] },
  });
});

test("a statement that fails half-way leaves nothing behind, whichever way it fails", () => {
  using world = openWorld();
  world.exec("p", "CREATE TABLE t(a UNIQUE)");
  world.exec("p", "CREATE TRIGGER r BEFORE INSERT ON t WHEN new.a = 13 BEGIN SELECT RAISE(ROLLBACK, 'no'); END");
  world.exec("p", "INSERT INTO t VALUES (5)");
  for (const word of ["", "OR FAIL", "OR ABORT", "OR ROLLBACK"]) {
    assert.match(errorOf(() => world.exec("p", `INSERT ${word} INTO t VALUES (1), (5)`)), /UNIQUE/);
  }
  assert.equal(errorOf(() => world.exec("p", "INSERT INTO t VALUES (1), (13)")), "storage.sql: no");
  assert.deepEqual(world.rows("p", "SELECT a FROM t"), [[5]]);
});

test("batch runs all statements or none, and a later one sees the tables of an earlier one", () => {
  using world = openWorld();
  const batch = (...sqls: string[]) => world.engine.batch("p", sqls.map((sql) => ({ sql, params: [] })));
  batch("CREATE TABLE t(a UNIQUE)", "INSERT INTO t VALUES (1)");
  assert.match(errorOf(() => batch("INSERT INTO t VALUES (2)", "DROP TABLE t", "SELECT * FROM t")), /no such table: t/);
  assert.match(errorOf(() => batch("INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (1)")), /UNIQUE/);
  assert.deepEqual(world.rows("p", "SELECT a FROM t"), [[1]]);
});

test("a view's table can be replaced in one batch, and cannot be left missing", () => {
  using world = openWorld();
  world.exec("p", "CREATE TABLE t(a)");
  world.exec("p", "CREATE VIEW v AS SELECT a FROM t");
  assert.equal(errorOf(() => world.exec("p", "DROP TABLE t")), "storage.sql: error in view v: no such table: main.t");
  const sqls = ["DROP TABLE t", "CREATE TABLE t(a, b)"];
  world.engine.batch("p", sqls.map((sql) => ({ sql, params: [] })));
  assert.deepEqual(world.rows("p", "SELECT * FROM v"), []);
});

test("own table missing and a host table of that name there: denied; name unknown: an ordinary error", () => {
  using world = openWorld();
  world.engine.asHost((host) => host.run("CREATE TABLE host_sessions(token)"));
  assert.match(errorOf(() => world.exec("p", "SELECT * FROM host_sessions")), /^storage.denied/);
  assert.equal(errorOf(() => world.exec("p", "SELECT * FROM nobody")), "storage.sql: no such table: nobody");
});

test("a reading engine writes nothing, whatever the SQL says", async (t) => {
  const path = `${await scratchDir(t)}/a.db`;
  using world = openWorld({ path });
  world.exec("p", "CREATE TABLE t(a)");
  const reads = databases.open(path, { readOnly: true, limits: SQL_LIMITS });
  t.after(() => reads.close());
  const reader = new StorageEngine(reads, false, { limits: DEFAULT_LIMITS });
  for (
    const sql of [
      "INSERT INTO t VALUES (1) RETURNING a",
      "DELETE FROM t",
      "CREATE TABLE u(a)",
      "WITH c AS (SELECT 1) INSERT INTO t SELECT * FROM c",
    ]
  ) {
    assert.match(errorOf(() => reader.query("p", { sql, params: [] })), /^storage.denied/);
    assert.match(errorOf(() => reader.exec("p", { sql, params: [] })), /^storage.denied/);
  }
  assert.deepEqual(reader.query("p", { sql: "SELECT * FROM t", params: [] }).rows, []);
});

test("a reading engine sees another connection's change of the schema at once", async (t) => {
  const path = `${await scratchDir(t)}/a.db`;
  using world = openWorld({ path });
  world.exec("p", "CREATE TABLE t(a)");
  world.exec("p", "INSERT INTO t VALUES (1)");
  const reads = databases.open(path, { readOnly: true, limits: SQL_LIMITS });
  t.after(() => reads.close());
  const reader = new StorageEngine(reads, false, { limits: DEFAULT_LIMITS });
  const all = () => reader.query("p", { sql: "SELECT * FROM t", params: [] });
  assert.deepEqual(all(), { columns: ["a"], rows: [[1]] });
  world.exec("p", "ALTER TABLE t ADD COLUMN b DEFAULT 2");
  assert.deepEqual(all(), { columns: ["a", "b"], rows: [[1, 2]] });
});

test("a query compiled before a name changed hands does not read the new owner's table", async (t) => {
  const path = `${await scratchDir(t)}/a.db`;
  using world = openWorld({ path });
  const reads = databases.open(path, { readOnly: true, limits: SQL_LIMITS });
  t.after(() => reads.close());
  const reader = new StorageEngine(reads, false, { limits: DEFAULT_LIMITS });
  const ask = () => reader.query("p", { sql: "SELECT body FROM x_notes", params: [] }).rows;
  world.exec("p", "CREATE TABLE x_notes(body)");
  world.exec("p", "INSERT INTO x_notes VALUES ('mine')");
  assert.deepEqual([ask(), ask()], [[["mine"]], [["mine"]]]);
  world.exec("p", "DROP TABLE x_notes");
  world.engine.claim("p-x");
  world.exec("p-x", "CREATE TABLE notes(body)");
  world.exec("p-x", "INSERT INTO notes VALUES ('hidden')");
  assert.match(errorOf(ask), /^storage.denied/);
  assert.match(errorOf(ask), /^storage.denied/);
});

test("integers that are no numbers keep every digit, the smallest one too", () => {
  using world = openWorld();
  world.exec("p", "CREATE TABLE t(a)");
  world.exec("p", "INSERT INTO t VALUES (?), (9007199254740991), (2.0)", [{ $int: "9007199254740993" }]);
  assert.deepEqual(world.rows("p", "SELECT a FROM t"), [[{ $int: "9007199254740993" }], [9007199254740991], [2]]);
  const smallest = { $int: "-9223372036854775808" };
  assert.deepEqual(world.rows("p", "SELECT ?, typeof(?1)", [smallest]), [[smallest, "integer"]]);
  assert.deepEqual(world.rows("p", "SELECT -9223372036854775808.0, 1e400, -1e400"), [
    [-(2 ** 63), { $real: "Infinity" }, { $real: "-Infinity" }],
  ]);
});

test("results above the caps are refused with a clear error", () => {
  using world = openWorld({ limits: { maxRows: 3, maxResultBytes: 1000 } });
  assert.equal(
    errorOf(() => world.exec("p", "VALUES (1), (2), (3), (4)")),
    "storage.too_large: The result has more than 3 rows",
  );
  assert.equal(
    errorOf(() => world.exec("p", "SELECT hex(zeroblob(600)), 1")),
    "storage.too_large: The result has more than 1000 bytes",
  );
});

test("a plugin keeps no more than its quota, and can go on after it deleted something", () => {
  using world = openWorld({ quotas: { p: 200_000 } }, ["p", "other"]);
  world.exec("p", "CREATE TABLE t(a)");
  world.exec("other", "CREATE TABLE t(a)");
  const fill = (plugin: string) => world.exec(plugin, "INSERT INTO t VALUES (zeroblob(50000))");
  const outcomes = [1, 2, 3, 4, 5, 6].map(() => errorOf(() => fill("p")));
  assert.deepEqual(outcomes.slice(0, 3), ["no error", "no error", "no error"]);
  assert.match(outcomes[5]!, /^storage.quota: Cannot write: the plugin's quota is used up/);
  const kept = Number((world.asHost("SELECT sum(pgsize) FROM dbstat WHERE name = 'plugin_p_t'") as bigint[][])[0]![0]);
  assert.ok(kept <= 200_000);
  assert.equal(errorOf(() => fill("other")), "no error");
  world.exec("p", "DELETE FROM t");
  assert.equal(errorOf(() => fill("p")), "no error");
});

test("a plugin that is not counted call by call, being far from its quota, is stopped at the quota too", () => {
  const quota = 24 * 1024 * 1024;
  using world = openWorld({ quotas: { p: quota }, freeBytes: () => 1e12 }, ["p", "other"]);
  for (const plugin of ["p", "other"]) world.exec(plugin, "CREATE TABLE t(a)");
  const fill = (plugin: string): string => errorOf(() => world.exec(plugin, "INSERT INTO t VALUES (zeroblob(500000))"));
  const sizeOf = (plugin: string): number =>
    Number((world.asHost(`SELECT sum(pgsize) FROM dbstat WHERE name = 'plugin_${plugin}_t'`) as bigint[][])[0]![0]);
  let count = 0;
  for (; fill("p") === "no error"; count++) if (count % 5 === 0) assert.equal(fill("other"), "no error");
  assert.match(fill("p"), /^storage.quota/);
  assert.ok(sizeOf("p") <= quota && sizeOf("p") > quota - 1_000_000, String(sizeOf("p")));
  assert.equal(fill("other"), "no error");
  world.exec("p", "DELETE FROM t WHERE rowid <= 3");
  assert.deepEqual([fill("p"), fill("p"), fill("p")], ["no error", "no error", "no error"]);
  assert.match(fill("p"), /^storage.quota/);
});

test("one statement of a plugin far from its quota takes what is left of it, and no more", () => {
  using world = openWorld({ quotas: { p: 24 * 1024 * 1024 }, freeBytes: () => 1e12 });
  world.exec("p", "CREATE TABLE t(a)");
  const fill = (rows: number): string => {
    const sql =
      "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT ?) INSERT INTO t SELECT zeroblob(500000) FROM r";
    return errorOf(() => world.exec("p", sql, [rows]));
  };
  assert.equal(fill(1), "no error");
  assert.match(fill(60), /^storage.quota/);
  assert.equal(fill(48), "no error");
  assert.match(fill(2), /^storage.quota/);
});

test("a known statement that fails leaves nothing of itself, and keeps what others have compiled", () => {
  using world = openWorld();
  world.exec("p", "CREATE TABLE t(a UNIQUE)");
  const insert = (values: number[]): string =>
    errorOf(() => world.exec("p", "INSERT OR FAIL INTO t VALUES (?), (?)", values));
  for (let at = 0; at < 20; at += 2) assert.equal(insert([at, at + 1]), "no error");
  assert.match(insert([100, 3]), /UNIQUE constraint failed: t.a/);
  assert.equal(world.database.inTransaction, false);
  assert.deepEqual(world.rows("p", "SELECT count(*), max(a) FROM t"), [[20, 19]]);
  assert.equal(insert([100, 101]), "no error");
});

test("a known statement sees a schema that another connection has changed", async (t) => {
  const path = `${await scratchDir(t)}/a.db`;
  using world = openWorld({ path });
  using other = openWorld({ path });
  world.exec("p", "CREATE TABLE t(a)");
  for (let at = 0; at < 5; at++) world.exec("p", "INSERT INTO t VALUES (?)", [at]);
  other.exec("p", "ALTER TABLE t ADD COLUMN b DEFAULT 'later'");
  for (let at = 5; at < 15; at++) {
    assert.match(errorOf(() => world.exec("p", "INSERT INTO t VALUES (?)", [at])), /1 values/);
  }
  for (let at = 5; at < 15; at++) world.exec("p", "INSERT INTO t(a) VALUES (?)", [at]);
  other.exec("p", "DROP TABLE t");
  for (let at = 0; at < 10; at++) {
    assert.match(errorOf(() => world.exec("p", "INSERT INTO t(a) VALUES (?)", [at])), /^storage.sql: no such table: t/);
  }
});

test("a statement that would grow far beyond the quota is stopped while it runs", async (t) => {
  const path = `${await scratchDir(t)}/a.db`;
  using world = openWorld({ path, quotas: { p: 1_000_000 }, freeBytes: () => 1e12 });
  world.exec("p", "CREATE TABLE t(a)");
  const endless =
    "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) INSERT INTO t SELECT zeroblob(10000) FROM r";
  assert.match(errorOf(() => world.exec("p", endless)), /^storage.quota/);
  assert.deepEqual(world.rows("p", "SELECT count(*) FROM t"), [[0]]);
});

test("SQLite's own limits hold", () => {
  using world = openWorld();
  const endless = (text: string, count: number, between: string) => new Array(count).fill(text).join(between);
  assert.match(errorOf(() => world.exec("p", "SELECT zeroblob(9000000)")), /^storage.too_large/);
  assert.match(errorOf(() => world.exec("p", `SELECT ${endless("1", 300, "+")}`)), /Expression tree is too large/);
  assert.match(errorOf(() => world.exec("p", endless("SELECT 1", 60, " UNION ALL "))), /too many terms/);
  world.exec("p", "CREATE TABLE t(a)");
  world.exec("p", "CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO t VALUES (new.a + 1); END");
  assert.equal(errorOf(() => world.exec("p", "INSERT INTO t VALUES (1)")), "no error");
});

test("claim() refuses a prefix under which another plugin keeps something, and takes names away after it", () => {
  using world = openWorld({}, ["p"]);
  world.exec("p", "CREATE TABLE x_notes(a)");
  assert.match(errorOf(() => world.engine.claim("p-x")), /^storage.prefix_taken: Cannot give "p-x" its prefix: "p"/);
  world.exec("p", "ALTER TABLE x_notes RENAME TO notes");
  world.engine.claim("p-x");
  world.exec("p-x", "CREATE TABLE notes(a)");
  assert.match(errorOf(() => world.exec("p", "SELECT * FROM x_notes")), /^storage.denied/);
  assert.match(errorOf(() => world.exec("p", "CREATE TABLE x_other(a)")), /^storage.denied/);
});

test("claim() comes in either order: a longer prefix keeps its objects", () => {
  using world = openWorld({}, ["a-b"]);
  world.exec("a-b", "CREATE TABLE t(x)");
  world.engine.claim("a");
  assert.deepEqual(world.engine.schema("a"), { tables: [], views: [] });
  assert.deepEqual(world.engine.schema("a-b"), { tables: ["t"], views: [] });
});

test("uninstalling drops a plugin's objects and no others (K-056)", () => {
  using world = openWorld({}, ["a", "a-b", "ab"]);
  for (const plugin of ["a", "a-b", "ab"]) {
    world.exec(plugin, "CREATE TABLE t(x INTEGER PRIMARY KEY AUTOINCREMENT, y REFERENCES t(x))");
    world.exec(plugin, "CREATE INDEX i ON t(y)");
    world.exec(plugin, "CREATE VIEW v AS SELECT x FROM t");
    world.exec(plugin, "CREATE TRIGGER r AFTER INSERT ON t BEGIN SELECT 1; END");
    world.exec(plugin, "CREATE VIRTUAL TABLE docs USING fts5(body)");
    world.exec(plugin, "INSERT INTO t VALUES (1, NULL), (2, 1)");
  }
  const names = () =>
    (world.asHost("SELECT name FROM sqlite_schema WHERE name LIKE 'plugin%' ORDER BY name") as string[][]).flat();
  const before = names();
  assert.deepEqual(world.engine.asHost((host) => dropStorage(host, "a")), ["docs", "t"]);
  assert.deepEqual(names(), before.filter((name) => name.startsWith("plugin_a_b_") || name.startsWith("plugin_ab_")));
  assert.deepEqual(world.rows("a-b", "SELECT x FROM v"), [[1], [2]]);
});

test("the report names a plugin's tables with their rows and bytes", () => {
  using world = openWorld({}, ["p", "other"]);
  world.exec("p", "CREATE TABLE t(a UNIQUE)");
  world.exec("p", "INSERT INTO t VALUES (1), (2)");
  world.exec("p", "CREATE VIRTUAL TABLE docs USING fts5(body)");
  world.exec("other", "CREATE TABLE big(a)");
  const { tables, bytes } = world.engine.asHost((host) => reportStorage(host, "p"));
  assert.deepEqual(tables.map(({ name, rows }) => ({ name, rows })), [{ name: "docs", rows: 0 }, {
    name: "t",
    rows: 2,
  }]);
  assert.ok(tables.every((table) => table.bytes >= 4096));
  assert.equal(bytes, tables.reduce((sum, table) => sum + table.bytes, 0));
});

test("an export holds a plugin's tables, rows and search data under its own names", async (t) => {
  const path = `${await scratchDir(t)}/export.sqlite`;
  using world = openWorld({}, ["p", "other"]);
  world.exec("p", "CREATE TABLE notes(id INTEGER PRIMARY KEY AUTOINCREMENT, body, size AS (length(body)))");
  world.exec("p", "INSERT INTO notes(id, body) VALUES (7, 'red fox'), (9, 'dog')");
  world.exec("p", "CREATE VIEW sizes AS SELECT notes.id, notes.size FROM notes");
  world.exec("p", "CREATE VIRTUAL TABLE docs USING fts5(body, content='notes', content_rowid='id')");
  world.exec(
    "p",
    "CREATE TRIGGER r AFTER INSERT ON notes BEGIN INSERT INTO docs(rowid, body) VALUES (new.id, new.body); END",
  );
  world.exec("p", "INSERT INTO docs(docs) VALUES ('rebuild')");
  world.exec("other", "CREATE TABLE secrets(a)");
  const target = databases.open(path, { defensive: false });
  t.after(() => target.close());
  assert.deepEqual(world.engine.asHost((host) => exportStorage(host, "p", target)), ["docs", "notes"]);
  const all = (sql: string) => target.prepare(sql).all([]);
  assert.deepEqual(all("SELECT * FROM sizes"), [[7n, 7n], [9n, 3n]]);
  assert.deepEqual(all("SELECT rowid FROM docs WHERE docs MATCH 'fox'"), [[7n]]);
  target.run("INSERT INTO notes(body) VALUES ('another fox')");
  assert.deepEqual(all("SELECT rowid FROM docs('fox') ORDER BY rowid"), [[7n], [10n]]);
  assert.deepEqual(all("SELECT count(*) FROM sqlite_schema WHERE sql LIKE '%plugin_%' OR name LIKE '%secret%'"), [[
    0n,
  ]]);
});
