import assert from "node:assert/strict";
import { test } from "node:test";
import { databases } from "../../../src/adapters/shared/databases.ts";
import { StorageEngine } from "../../../src/core/storage/engine.ts";
import { DEFAULT_LIMITS, SQL_LIMITS } from "../../../src/core/storage/limits.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { errorOf, openWorld, type World } from "./support/world.ts";

function withNeighbour(world: World): World {
  world.engine.asHost((host) => {
    host.run("CREATE TABLE host_sessions(token)");
    host.run("INSERT INTO host_sessions VALUES ('hidden')");
  });
  return world;
}

test("with the rewriter's table rule off, the authorizer refuses the host's table", () => {
  using world = withNeighbour(openWorld({ without: ["table"] }));
  assert.match(errorOf(() => world.exec("p", "SELECT * FROM host_sessions")), /^storage.denied: Not authorized/);
  assert.match(errorOf(() => world.exec("p", "DELETE FROM host_sessions")), /^storage.denied: Not authorized/);
  assert.match(errorOf(() => world.exec("p", "DROP TABLE host_sessions")), /^storage.denied: Not authorized/);
  assert.match(errorOf(() => world.exec("p", "CREATE TABLE c AS SELECT * FROM host_sessions")), /^storage.denied/);
});

test("with both of them off, the host's table is read", () => {
  using world = withNeighbour(openWorld({ without: ["table", "authorizer"] }));
  assert.deepEqual(world.rows("p", "SELECT * FROM host_sessions"), [["hidden"]]);
});

test("with the rewriter's rule for REFERENCES off, the schema check refuses a foreign parent", () => {
  using world = withNeighbour(openWorld({ without: ["references"] }));
  assert.equal(
    errorOf(() => world.exec("p", "CREATE TABLE t(a REFERENCES host_sessions(token))")),
    "storage.denied: Cannot refer to a table that is not the plugin's",
  );
  assert.deepEqual(world.engine.schema("p").tables, []);
});

test("with both of them off, what the schema check refuses comes through", () => {
  using world = withNeighbour(openWorld({ without: ["references", "rename_to", "in", "schema_check"] }));
  world.exec("p", "CREATE TABLE t(a REFERENCES host_sessions(token))");
  world.exec("p", "CREATE VIEW v AS SELECT 1 AS x WHERE 1 IN host_sessions");
  world.exec("p", "CREATE TABLE u(a)");
  world.exec("p", "ALTER TABLE u RENAME TO loot");
  assert.deepEqual(world.asHost("SELECT count(*) FROM loot"), [[0n]]);
});

test("with the rewriter's rule for RENAME TO off, the schema check refuses the new name", () => {
  using world = withNeighbour(openWorld({ without: ["rename_to"] }));
  world.exec("p", "CREATE TABLE t(a)");
  assert.match(
    errorOf(() => world.exec("p", "ALTER TABLE t RENAME TO loot")),
    /^storage.denied: Cannot change what is not/,
  );
  assert.deepEqual(world.engine.schema("p").tables, ["t"]);
});

test("with the rewriter's rule for IN off, the schema check refuses a view over the host's table", () => {
  using world = withNeighbour(openWorld({ without: ["in"] }));
  world.exec("p", "CREATE TABLE t(a)");
  assert.match(
    errorOf(() => world.exec("p", "CREATE VIEW v AS SELECT 1 AS x WHERE 1 IN host_sessions")),
    /^storage.denied: Cannot reach what view "v"/,
  );
  const trigger = "CREATE TRIGGER r AFTER INSERT ON t BEGIN DELETE FROM t WHERE a IN host_sessions; END";
  assert.match(errorOf(() => world.exec("p", trigger)), /^storage.denied: Cannot reach what trigger "r"/);
});

test("with the authorizer off, a reading engine still writes nothing: the file is open for reading only", async (t) => {
  const path = `${await scratchDir(t)}/a.db`;
  using world = openWorld({ path });
  world.exec("p", "CREATE TABLE t(a)");
  for (const without of ["authorizer", "query_only"] as const) {
    const reads = databases.open(path, { readOnly: true, limits: SQL_LIMITS });
    const reader = new StorageEngine(reads, false, { limits: DEFAULT_LIMITS, without: [without] });
    assert.match(
      errorOf(() => reader.query("p", { sql: "INSERT INTO t VALUES (1) RETURNING a", params: [] })),
      /^storage.denied/,
    );
    assert.throws(() => reads.prepare("INSERT INTO plugin_p_t VALUES (1)").run([]));
    reads.close();
  }
});

test("with the file open for writing and query_only off, the authorizer refuses a reading engine's writes", () => {
  const database = databases.open(":memory:", { limits: SQL_LIMITS });
  database.run("CREATE TABLE plugin_p_t(a)");
  database.run('CREATE VIEW "kaged_storage:p" AS SELECT 1');
  const reader = new StorageEngine(database, false, { limits: DEFAULT_LIMITS, without: ["query_only"] });
  for (const sql of ["INSERT INTO t VALUES (1) RETURNING a", "DROP TABLE t", "CREATE INDEX i ON t(a)"]) {
    assert.match(errorOf(() => reader.query("p", { sql, params: [] })), /^storage.denied: Not authorized/);
  }
  database.close();
});

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
