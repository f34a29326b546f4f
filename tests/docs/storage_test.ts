import assert from "node:assert/strict";
import { test } from "node:test";
import { parseStorageRequest } from "../../src/core/storage/requests.ts";
import { openWorld } from "../core/storage/support/world.ts";
import { guideBlock } from "./support/guides.ts";

test("the SQL in docs/storage.md runs as it stands", async () => {
  using world = openWorld();
  world.exec("p", "CREATE TABLE notes(id INTEGER PRIMARY KEY, title, body)");
  const statements = (await guideBlock("docs/storage.md", "sql")).trim().split(/;\n?/).filter((sql) => sql !== "");
  assert.equal(statements.length, 3);
  for (const sql of statements) world.exec("p", sql, sql.includes("?") ? ["fox"] : []);
});

test("the request in docs/storage.md moves what it says", async () => {
  using world = openWorld();
  world.exec("p", "CREATE TABLE accounts(id INTEGER PRIMARY KEY, cents)");
  world.exec("p", "INSERT INTO accounts VALUES (1, 1000), (2, 0)");
  const { method, params } = JSON.parse(await guideBlock("docs/storage.md", "json"));
  const operation = parseStorageRequest(method, params, { maxBatch: 10, sqlOfHandle: () => "" });
  assert.ok(operation.op === "batch");
  world.engine.batch("p", operation.statements);
  assert.deepEqual(world.rows("p", "SELECT cents FROM accounts"), [[500], [500]]);
});
