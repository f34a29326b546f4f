import assert from "node:assert/strict";
import { test } from "node:test";
import { databases } from "../../src/adapters/shared/databases.ts";
import { groupCommit } from "../../src/jobs/group_commit.ts";
import type { Database, Statement } from "../../src/core/ports/ports.ts";

/** A database that counts how often each statement ran. */
function counted(): { database: Database; ran: Map<string, number> } {
  const inner = databases.open(":memory:");
  inner.run("CREATE TABLE notes (text TEXT UNIQUE)");
  const ran = new Map<string, number>();
  const prepare = (sql: string): Statement => {
    const statement = inner.prepare(sql);
    const run = (params: Parameters<Statement["run"]>[0]): number => {
      ran.set(sql, (ran.get(sql) ?? 0) + 1);
      return statement.run(params);
    };
    return { ...statement, run };
  };
  const database = {
    ...inner,
    prepare,
    get inTransaction() {
      return inner.inTransaction;
    },
  };
  return { database, ran };
}

const notes = (database: Database): unknown[] =>
  database.prepare("SELECT text FROM notes ORDER BY rowid").all([]).map(([text]) => text);

test("T-008 pieces that wait at the same time share a commit, in their order, also those that answers set off", async () => {
  const { database, ran } = counted();
  const alone = groupCommit(database);
  const note = (text: string) => alone(() => database.run("INSERT INTO notes VALUES (?)", [text]));
  const both = async (at: number) => {
    await note(`first ${at}`);
    await Promise.resolve();
    await note(`second ${at}`);
  };
  await Promise.all([1, 2, 3].map(both));
  assert.deepEqual(notes(database), ["first 1", "first 2", "first 3", "second 1", "second 2", "second 3"]);
  assert.equal(ran.get("COMMIT"), 2);
  database.close();
});

test("T-008 a piece that throws undoes itself, and no other", async () => {
  const { database } = counted();
  const alone = groupCommit(database);
  const settled = await Promise.allSettled(["a", "b", "c"].map((text) =>
    alone(() => {
      database.run("INSERT INTO notes VALUES (?)", [text]);
      if (text === "b") throw new Error("no");
      return text;
    })
  ));
  assert.deepEqual(settled.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  assert.deepEqual(notes(database), ["a", "c"]);
  database.close();
});

test("T-008 where the whole transaction is lost every piece fails, and the next one begins anew", async () => {
  const { database } = counted();
  const alone = groupCommit(database);
  const note = (text: string) => alone(() => database.run("INSERT INTO notes VALUES (?)", [text]));
  const settled = await Promise.allSettled([
    note("a"),
    alone(() => database.run("INSERT OR ROLLBACK INTO notes VALUES ('a')")), // As a full disk does.
    note("b"),
  ]);
  assert.deepEqual(settled.map(({ status }) => status), ["rejected", "rejected", "rejected"]);
  for (const each of settled) assert.match(String((each as PromiseRejectedResult).reason), /UNIQUE/);
  await note("c");
  assert.deepEqual(notes(database), ["c"]);
  database.close();
});
