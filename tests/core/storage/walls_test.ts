import assert from "node:assert/strict";
import { test } from "node:test";
import { databases } from "../../../src/adapters/shared/databases.ts";
import { StorageEngine } from "../../../src/core/storage/engine.ts";
import { DEFAULT_LIMITS, SQL_LIMITS } from "../../../src/core/storage/limits.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { missing, spoiledDatabase } from "./support/spoiled_database.ts";
import { errorOf, openWorld, type World } from "./support/world.ts";

/** An engine whose rewriter misses these names, beside a table of the host's. */
function openSpoiled(...missed: string[]): World {
  const world = openWorld({ spoil: missing("p", missed) });
  world.engine.asHost((host) => {
    host.run("CREATE TABLE host_sessions(token)");
    host.run("INSERT INTO host_sessions VALUES ('hidden')");
  });
  return world;
}

test("where the rewriter misses a table, the authorizer refuses the host's", () => {
  using world = openSpoiled("host_sessions");
  assert.match(errorOf(() => world.exec("p", "SELECT * FROM host_sessions")), /^storage.denied: Not authorized/);
  assert.match(errorOf(() => world.exec("p", "DELETE FROM host_sessions")), /^storage.denied: Not authorized/);
  assert.match(errorOf(() => world.exec("p", "DROP TABLE host_sessions")), /^storage.denied: Not authorized/);
  assert.match(errorOf(() => world.exec("p", "CREATE TABLE c AS SELECT * FROM host_sessions")), /^storage.denied/);
});

test("where the rewriter misses a table and nobody authorizes, the host's is read", () => {
  using world = openSpoiled("host_sessions");
  world.database.setAuthorizer(() => true);
  assert.deepEqual(world.rows("p", "SELECT * FROM host_sessions"), [["hidden"]]);
});

test("where the authorizer is gone, the rewriter still keeps a plugin to its own names", () => {
  using world = openSpoiled();
  world.database.setAuthorizer(() => true);
  assert.equal(
    errorOf(() => world.exec("p", "SELECT * FROM host_sessions")),
    "storage.denied: Cannot reach table " +
      '"host_sessions": it is not this plugin\'s',
  );
});

test("where the rewriter misses REFERENCES, the schema check refuses a foreign parent", () => {
  using world = openSpoiled("host_sessions");
  assert.equal(
    errorOf(() => world.exec("p", "CREATE TABLE t(a REFERENCES host_sessions(token))")),
    "storage.denied: Cannot refer to a table that is not the plugin's",
  );
  assert.deepEqual(world.engine.schema("p").tables, []);
});

test("SQLite itself takes the changes that the schema check refuses: without the check they would stay", () => {
  using world = openSpoiled();
  world.engine.asHost((host) => {
    host.run("CREATE TABLE plugin_p_t(a REFERENCES host_sessions(token))");
    host.run("CREATE VIEW plugin_p_v AS SELECT 1 AS x WHERE 1 IN host_sessions");
    host.run("ALTER TABLE plugin_p_t RENAME TO loot");
  });
  assert.deepEqual(world.asHost("SELECT count(*) FROM loot"), [[0n]]);
});

test("where the rewriter misses RENAME TO, the schema check refuses the new name", () => {
  using world = openSpoiled("loot");
  world.exec("p", "CREATE TABLE t(a)");
  assert.match(
    errorOf(() => world.exec("p", "ALTER TABLE t RENAME TO loot")),
    /^storage.denied: Cannot change what is not/,
  );
  assert.deepEqual(world.engine.schema("p").tables, ["t"]);
});

test("where the rewriter misses IN, the schema check refuses a view over the host's table", () => {
  using world = openSpoiled("host_sessions");
  world.exec("p", "CREATE TABLE t(a)");
  assert.match(
    errorOf(() => world.exec("p", "CREATE VIEW v AS SELECT 1 AS x WHERE 1 IN host_sessions")),
    /^storage.denied: Cannot reach what view "v"/,
  );
  const trigger = "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t WHERE a IN host_sessions; END";
  assert.match(errorOf(() => world.exec("p", trigger)), /^storage.denied: Cannot reach what trigger "r"/);
});

test("where nobody authorizes, a reading engine still writes nothing: the file is open for reading only", async (t) => {
  const path = `${await scratchDir(t)}/a.db`;
  using world = openWorld({ path });
  world.exec("p", "CREATE TABLE t(a)");
  for (const isAuthorized of [true, false]) {
    const reads = databases.open(path, { readOnly: true, limits: SQL_LIMITS });
    const reader = new StorageEngine(spoiledDatabase(reads, withoutQueryOnly), false, { limits: DEFAULT_LIMITS });
    if (!isAuthorized) reads.setAuthorizer(() => true);
    assert.match(
      errorOf(() => reader.query("p", { sql: "INSERT INTO t VALUES (1) RETURNING a", params: [] })),
      /^storage.denied/,
    );
    assert.throws(() => reads.prepare("INSERT INTO plugin_p_t VALUES (1)").run([]));
    reads.close();
  }
});

test("where nobody authorizes and the file can be written, query_only refuses a reading engine's writes", () => {
  using stage = openReader((sql) => sql);
  stage.database.setAuthorizer(() => true);
  assert.throws(() => stage.database.prepare("INSERT INTO plugin_p_t VALUES (1)").run([]), /readonly/);
});

test("where the file can be written and query_only is off, the authorizer refuses a reading engine's writes", () => {
  using stage = openReader(withoutQueryOnly);
  for (const sql of ["INSERT INTO t VALUES (1) RETURNING a", "DROP TABLE t", "CREATE INDEX i ON t(a)"]) {
    assert.match(errorOf(() => stage.reader.query("p", { sql, params: [] })), /^storage.denied: Not authorized/);
  }
});

const withoutQueryOnly = (sql: string): string => sql.replace("query_only = 1", "query_only = 0");

/** A reading engine over a database that could be written. */
function openReader(spoil: (sql: string) => string) {
  const database = databases.open(":memory:", { limits: SQL_LIMITS });
  database.run("CREATE TABLE plugin_p_t(a)");
  database.run('CREATE VIEW "kaged_storage:p" AS SELECT 1');
  const reader = new StorageEngine(spoiledDatabase(database, spoil), false, { limits: DEFAULT_LIMITS });
  return { database, reader, [Symbol.dispose]: () => database.close() };
}

test("functions that reach outside are refused, whether or not they exist", () => {
  using world = openWorld();
  for (
    const call of [
      "load_extension('x')",
      "readfile('/etc/passwd')",
      "writefile('/tmp/x', 'y')",
      "edit('x')",
      "sqlite_source_id()",
      "sqlite_compileoption_get(1)",
      "fts3_tokenizer('x')",
    ]
  ) {
    assert.match(errorOf(() => world.exec("p", `SELECT ${call}`)), /^storage\.(denied|sql: no such function)/, call);
  }
});

test("a plugin's mistake in one view does not stop another plugin's ALTER TABLE", () => {
  using world = openWorld({}, ["p", "other"]);
  world.exec("p", "CREATE TABLE t(a)");
  assert.match(
    errorOf(() => world.exec("p", "CREATE VIEW v AS SELECT * FROM missing")),
    /^storage.sql: error in view v/,
  );
  world.exec("other", "CREATE TABLE t(a)");
  world.exec("other", "ALTER TABLE t RENAME TO u");
});
