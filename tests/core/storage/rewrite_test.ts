import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import { type NameSpace, rewriteSql } from "../../../src/core/storage/sql/rewrite.ts";
import { nameSpaceOf } from "../../../src/core/storage/catalogue.ts";

const catalogue = { entries: [], names: new Set<string>(), plugins: new Set(["p", "p-x"]) };
const plain: NameSpace = nameSpaceOf(catalogue, "p");
const withSearch: NameSpace = { ...plain, ftsTables: new Map([["docs", "Docs"]]) };

const rewrite = (sql: string, names: NameSpace = plain): string => rewriteSql(sql, names).sql;

function refusal(sql: string): string {
  try {
    return `accepted as ${rewrite(sql)}`;
  } catch (error) {
    return error instanceof HostError ? error.code : String(error);
  }
}

const REWRITES: readonly (readonly [name: string, from: string, to: string])[] = [
  ["a quoted name", `SELECT * FROM "a b"`, `SELECT * FROM "plugin_p_a b"`],
  ["a name in brackets", "SELECT * FROM [a b]", `SELECT * FROM "plugin_p_a b"`],
  ["a name in backquotes", "SELECT * FROM `a b`", `SELECT * FROM "plugin_p_a b"`],
  ["a string where a name stands", "SELECT * FROM 'a b'", `SELECT * FROM "plugin_p_a b"`],
  ["a quote in a name", `SELECT * FROM "a""b"`, `SELECT * FROM "plugin_p_a""b"`],
  ["a string", "SELECT 'presets' FROM t", `SELECT 'presets' FROM "plugin_p_t"`],
  ["comments", "SELECT 1 -- FROM x\n/* FROM y */", "SELECT 1 -- FROM x\n/* FROM y */"],
  ["IN and a table", "SELECT 1 FROM t WHERE a IN u", `SELECT 1 FROM "plugin_p_t" WHERE a IN "plugin_p_u"`],
  ["IN and main.table", "SELECT a IN main.u AS x", `SELECT a IN main."plugin_p_u" AS x`],
  ["DISTINCT FROM", "SELECT a IS NOT DISTINCT FROM b FROM t", `SELECT a IS NOT DISTINCT FROM b FROM "plugin_p_t"`],
  ["FROM in parentheses", "SELECT 1 FROM (t JOIN (u))", `SELECT 1 FROM ("plugin_p_t" JOIN ("plugin_p_u"))`],
  ["a subquery in FROM", "SELECT 1 FROM ((SELECT 1)) AS s", `SELECT 1 FROM ((SELECT 1)) AS "plugin_p_s"`],
  [
    "keywords as names",
    "SELECT over.a FROM window AS over",
    `SELECT "plugin_p_over".a FROM "plugin_p_window" AS "plugin_p_over"`,
  ],
  [
    "a qualifier in CHECK",
    "CREATE TABLE t(a, CHECK(t.a > 0))",
    `CREATE TABLE "plugin_p_t"(a, CHECK("plugin_p_t".a > 0))`,
  ],
  ["INDEXED BY", "SELECT 1 FROM t INDEXED BY i", `SELECT 1 FROM "plugin_p_t" INDEXED BY "plugin_p_i"`],
  [
    "a CTE that shadows a table",
    "WITH t AS (SELECT 1) SELECT * FROM t, main.t",
    `WITH "plugin_p_t" AS (SELECT 1) SELECT * FROM "plugin_p_t", main."plugin_p_t"`,
  ],
  [
    "a table's columns",
    "SELECT x.*, x.a FROM t x",
    `SELECT "plugin_p_x".*, "plugin_p_x".a FROM "plugin_p_t" "plugin_p_x"`,
  ],
  ["three names", "SELECT main.t.a FROM t", `SELECT main."plugin_p_t".a FROM "plugin_p_t"`],
  [
    "an expression's name",
    "SELECT count(t.a) FROM t",
    `SELECT count("plugin_p_t".a) AS "count(t.a)" FROM "plugin_p_t"`,
  ],
  ["a named expression", "SELECT count(t.a) n FROM t", `SELECT count("plugin_p_t".a) n FROM "plugin_p_t"`],
  [
    "a subquery's name",
    `SELECT (SELECT "b" FROM t)`,
    `SELECT (SELECT "b" FROM "plugin_p_t") AS "(SELECT ""b"" FROM t)"`,
  ],
  [
    "NEW and OLD",
    "CREATE TRIGGER r AFTER UPDATE ON t BEGIN DELETE FROM u WHERE u.a = old.a AND new.a; END",
    `CREATE TRIGGER "plugin_p_r" AFTER UPDATE ON "plugin_p_t" BEGIN DELETE FROM "plugin_p_u" WHERE "plugin_p_u".a = old.a AND new.a; END`,
  ],
  [
    "an alias called new in a trigger",
    "CREATE TRIGGER r AFTER UPDATE ON t BEGIN SELECT new.a FROM u AS new; END",
    `CREATE TRIGGER "plugin_p_r" AFTER UPDATE ON "plugin_p_t" BEGIN SELECT "plugin_p_new".a FROM "plugin_p_u" AS "plugin_p_new"; END`,
  ],
  [
    "excluded",
    "INSERT INTO t(a) VALUES (1) ON CONFLICT DO UPDATE SET a = excluded.a + t.a",
    `INSERT INTO "plugin_p_t"(a) VALUES (1) ON CONFLICT DO UPDATE SET a = excluded.a + "plugin_p_t".a`,
  ],
  [
    "a table called excluded",
    "INSERT INTO excluded VALUES (1) ON CONFLICT DO UPDATE SET a = excluded.a",
    `INSERT INTO "plugin_p_excluded" VALUES (1) ON CONFLICT DO UPDATE SET a = "plugin_p_excluded".a`,
  ],
  [
    "REFERENCES",
    "CREATE TABLE t(a REFERENCES u(b) ON DELETE CASCADE)",
    `CREATE TABLE "plugin_p_t"(a REFERENCES "plugin_p_u"(b) ON DELETE CASCADE)`,
  ],
  ["RENAME TO", "ALTER TABLE t RENAME TO u", `ALTER TABLE "plugin_p_t" RENAME TO "plugin_p_u"`],
  ["RENAME COLUMN", "ALTER TABLE t RENAME a TO b", `ALTER TABLE "plugin_p_t" RENAME a TO b`],
  [
    "a table function",
    "SELECT json_each.value FROM json_each('[]')",
    `SELECT "plugin_p_json_each".value FROM json_each('[]') AS "plugin_p_json_each"`,
  ],
  [
    "named parameters",
    "SELECT 1 FROM t WHERE a = :a AND b = @b AND c = :a AND d = ?",
    `SELECT 1 FROM "plugin_p_t" WHERE a = ?1 AND b = ?2 AND c = ?1 AND d = ?`,
  ],
  ["letters outside ASCII", "SELECT * FROM ſELECT", `SELECT * FROM "plugin_p_ſELECT"`],
];

for (const [name, from, to] of REWRITES) {
  test(`rewriteSql() renames ${name}`, () => assert.equal(rewrite(from), to));
}

const SEARCHES: readonly (readonly [name: string, from: string, to: string])[] = [
  [
    "MATCH",
    "SELECT title FROM docs WHERE docs MATCH ?",
    `SELECT title FROM "plugin_p_docs" WHERE "plugin_p_Docs" MATCH ?`,
  ],
  ["bm25", "SELECT bm25(docs) AS s FROM docs", `SELECT bm25("plugin_p_Docs") AS s FROM "plugin_p_docs"`],
  ["its hidden column", "SELECT docs FROM docs", `SELECT "plugin_p_Docs" AS "Docs" FROM "plugin_p_docs"`],
  [
    "it under an alias",
    "SELECT d.docs AS x FROM docs d",
    `SELECT "plugin_p_d"."plugin_p_Docs" AS x FROM "plugin_p_docs" "plugin_p_d"`,
  ],
  [
    "a command",
    "INSERT INTO docs(docs, rank) VALUES ('rank', 'bm25(1)')",
    `INSERT INTO "plugin_p_docs"("plugin_p_Docs", rank) VALUES ('rank', 'bm25(1)')`,
  ],
  ["its query as argument", "SELECT rowid FROM docs('x')", `SELECT rowid FROM "plugin_p_docs"('x')`],
  ["nothing where a column has its name", "SELECT docs FROM t", `SELECT docs FROM "plugin_p_t"`],
  [
    "nothing in a subquery beside it",
    "SELECT 1 FROM docs, (SELECT docs FROM t)",
    `SELECT 1 FROM "plugin_p_docs", (SELECT docs FROM "plugin_p_t")`,
  ],
];

for (const [name, from, to] of SEARCHES) {
  test(`rewriteSql() renames, for a search table, ${name}`, () => assert.equal(rewrite(from, withSearch), to));
}

test("rewriteSql() renames the table an fts5 table takes its content from", () => {
  assert.equal(
    rewrite("CREATE VIRTUAL TABLE docs USING fts5(title, body UNINDEXED, content='notes', content_rowid=id)"),
    `CREATE VIRTUAL TABLE "plugin_p_docs" USING fts5(title, body UNINDEXED, content="plugin_p_notes", content_rowid=id)`,
  );
});

for (const exclude of ["NO OTHERS", "CURRENT ROW", "GROUP", "TIES"]) {
  test(`rewriteSql() follows a window frame that excludes ${exclude}`, () => {
    const over = `sum(b) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE ${exclude})`;
    assert.equal(rewrite(`SELECT ${over} FROM t`), `SELECT ${over} FROM "plugin_p_t"`);
  });
}

const DENIED = [
  "PRAGMA user_version",
  "ATTACH 'x' AS y",
  "DETACH main",
  "VACUUM",
  "BEGIN",
  "COMMIT",
  "SAVEPOINT s",
  "ANALYZE",
  "REINDEX",
  "EXPLAIN SELECT 1",
  "SELECT * FROM temp.t",
  "SELECT * FROM other.t",
  "SELECT other.t.a FROM t",
  "CREATE TEMP TABLE t(a)",
  "SELECT * FROM sqlite_schema",
  "SELECT * FROM Plugin_p_t",
  "SELECT * FROM pragma_table_list",
  "SELECT * FROM generate_series(1, 2)",
  "SELECT 1 IN pragma_table_list()",
  "CREATE VIRTUAL TABLE v USING rtree(a, b, c)",
  "CREATE VIRTUAL TABLE v USING fts5vocab(docs, row)",
  "CREATE VIRTUAL TABLE v USING fts5(a, storage='x')",
  "SELECT * FROM x_notes",
  "ALTER TABLE t RENAME TO x_t",
  "CREATE TABLE t(a SELECT)",
];

for (const sql of DENIED) {
  test(`rewriteSql() denies ${sql}`, () => assert.equal(refusal(sql), "storage.denied"));
}

const WRONG = [
  "",
  ";",
  "-- nothing",
  "SELECT 1; SELECT 2",
  "SELECT 1\0",
  "SELECT 'open",
  "SELECT (1",
  "SELECT * FROM",
  "DELETE FROM t LIMIT 1",
  "SELECT 1 FROM t WHERE a = ?1001",
  "CREATE TABLE t",
  `SELECT ${"(".repeat(5000)}1`,
  `SELECT ${"x".repeat(200_000)}`,
];

for (const sql of WRONG) {
  test(`rewriteSql() takes for an error ${JSON.stringify(sql.slice(0, 40))}`, () => {
    assert.equal(refusal(sql), "storage.sql");
  });
}
