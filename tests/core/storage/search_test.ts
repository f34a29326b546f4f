import assert from "node:assert/strict";
import { test } from "node:test";
import { missing } from "./support/spoiled_database.ts";
import { errorOf, openWorld, type World } from "./support/world.ts";

function searchable(world: World): World {
  world.exec("p", "CREATE TABLE notes(id INTEGER PRIMARY KEY, title, body)");
  world.exec(
    "p",
    "CREATE VIRTUAL TABLE docs USING fts5(title, body, content='notes', content_rowid='id', tokenize='porter')",
  );
  world.exec(
    "p",
    "CREATE TRIGGER ai AFTER INSERT ON notes BEGIN INSERT INTO docs(rowid, title, body) VALUES (new.id, new.title, new.body); END",
  );
  world.exec(
    "p",
    "CREATE TRIGGER ad AFTER DELETE ON notes BEGIN INSERT INTO docs(docs, rowid, title, body) VALUES ('delete', old.id, old.title, old.body); END",
  );
  world.exec(
    "p",
    "INSERT INTO notes VALUES (1, 'Foxes', 'the quick fox jumps'), (2, 'Dogs', 'a lazy dog'), (3, 'Both', 'fox and dog, fox and dog')",
  );
  return world;
}

test("fts5 finds, ranks and marks, over a plugin's own table", () => {
  using world = openWorld();
  searchable(world);
  assert.deepEqual(
    world.rows("p", "SELECT rowid FROM docs WHERE docs MATCH ? ORDER BY bm25(docs, 10.0, 1.0)", ["fox"]),
    [[1], [3]],
  );
  assert.deepEqual(
    world.exec("p", "SELECT docs.title, snippet(docs, 1, '[', ']', '…', 3) FROM docs WHERE docs MATCH 'jump'").returned,
    {
      columns: ["title", "snippet(docs, 1, '[', ']', '…', 3)"],
      rows: [["Foxes", "…quick fox [jumps]"]],
    },
  );
  assert.deepEqual(world.rows("p", "SELECT highlight(docs, 0, '<', '>') FROM docs('title:dog')"), [["<Dogs>"]]);
  assert.deepEqual(
    world.rows("p", "SELECT n.title FROM docs AS d JOIN notes AS n ON n.id = d.rowid WHERE d.docs MATCH 'lazy'"),
    [["Dogs"]],
  );
  world.exec("p", "DELETE FROM notes WHERE id = 1");
  assert.deepEqual(world.rows("p", "SELECT rowid FROM docs WHERE docs MATCH 'fox'"), [[3]]);
  for (const command of ["optimize", "rebuild", "integrity-check"]) {
    world.exec("p", `INSERT INTO docs(docs) VALUES ('${command}')`);
  }
  world.exec("p", "INSERT INTO docs(docs, rank) VALUES ('rank', 'bm25(10.0, 5.0)')");
  assert.deepEqual(world.rows("p", "SELECT rowid FROM docs WHERE docs MATCH 'dog' ORDER BY rank"), [[2], [3]]);
});

test("fts5 tables can be renamed and dropped, and are one table to the plugin", () => {
  using world = openWorld();
  world.exec("p", "CREATE VIRTUAL TABLE docs USING fts5(body)");
  world.exec("p", "INSERT INTO docs VALUES ('fox')");
  world.exec("p", "ALTER TABLE docs RENAME TO Pages");
  assert.deepEqual(world.engine.schema("p"), { tables: ["Pages"], views: [] });
  assert.deepEqual(world.exec("p", "SELECT pages, body FROM pages WHERE pages MATCH 'fox'").returned?.columns, [
    "Pages",
    "body",
  ]);
  world.exec("p", "DROP TABLE pages");
  assert.deepEqual(world.engine.schema("p"), { tables: [], views: [] });
});

test("fts5 reads no other plugin's table, not even as its content", () => {
  using world = openWorld({}, ["p", "other"]);
  world.exec("other", "CREATE TABLE secrets(body)");
  world.exec("other", "INSERT INTO secrets VALUES ('hidden fox')");
  assert.match(
    errorOf(() => world.exec("p", "CREATE VIRTUAL TABLE d USING fts5(body, content='plugin_other_secrets')")),
    /^storage.denied/,
  );
  world.exec("p", "CREATE VIRTUAL TABLE e USING fts5(body, content='secrets')");
  assert.match(errorOf(() => world.exec("p", "INSERT INTO e(e) VALUES ('rebuild')")), /^storage/);
});

test("fts5 over a table that the rewriter missed still cannot read it: the authorizer refuses", () => {
  using world = openWorld({ spoil: missing("p", ["secrets"]) }, ["p", "other"]);
  world.exec("other", "CREATE TABLE secrets(body)");
  world.exec("other", "INSERT INTO secrets VALUES ('hidden fox')");
  world.engine.asHost((host) => host.run("CREATE TABLE secrets(body)"));
  // The option reaches SQLite as written, and names the host's table.
  world.exec("p", "CREATE VIRTUAL TABLE d USING fts5(body, content=secrets)");
  assert.match(errorOf(() => world.exec("p", "INSERT INTO d(d) VALUES ('rebuild')")), /^storage.denied/);
  assert.match(errorOf(() => world.exec("p", "SELECT body FROM d")), /^storage.denied/);
});

test("the tables behind a search table cannot be written, so it cannot be made to misread", () => {
  using world = openWorld();
  world.exec("p", "CREATE VIRTUAL TABLE docs USING fts5(body)");
  for (
    const sql of [
      "INSERT INTO docs_data VALUES (9, x'00')",
      "DROP TABLE docs_data",
      "UPDATE docs_config SET v = 99",
      "DELETE FROM docs_idx",
    ]
  ) {
    assert.match(errorOf(() => world.exec("p", sql)), /^storage.sql: (table docs_\w+ may not be|object name reserved)/);
  }
});

test("another plugin's search tables stay out of sight while a plugin alters its own tables", () => {
  using world = openWorld({}, ["p", "other"]);
  searchable(world);
  world.exec("other", "CREATE TABLE t(a)");
  world.exec("other", "ALTER TABLE t RENAME TO u");
  world.exec("other", "ALTER TABLE u ADD COLUMN b NOT NULL DEFAULT 1 CHECK(b > 0)");
  world.exec("other", "ALTER TABLE u DROP COLUMN a");
  assert.deepEqual(world.engine.schema("other"), { tables: ["u"], views: [] });
});
