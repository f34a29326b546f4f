import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { databases } from "../../../src/adapters/shared/databases.ts";
import { sqliteJobs } from "../../../src/jobs/sqlite_jobs.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { openStorageHome } from "../storage/support/storage_home.ts";

/** Reads the number of a database's layout, after setting it where one is given. */
function layoutOf(path: string, set?: number): number {
  const database = databases.open(path);
  try {
    if (set !== undefined) database.run(`PRAGMA user_version = ${set}`);
    return Number(database.prepare("PRAGMA user_version").allNumbers([])[0]?.[0]);
  } finally {
    database.close();
  }
}

test("the jobs database has the number of its layout; one without a number is layout 1", async (t) => {
  const path = join(await scratchDir(t), "jobs.db");
  const made = sqliteJobs({ path });
  const { id } = await made.store.create({ agentName: "a", conversationId: "c", status: "queued", input: "1" });
  await made.close();
  assert.equal(layoutOf(path), 1);
  assert.equal(layoutOf(path, 0), 0);
  const again = sqliteJobs({ path });
  assert.equal((await again.store.get(id))?.id, id);
  await again.close();
  assert.equal(layoutOf(path), 1);
});

test("a jobs database of a newer layout is refused by number and file, and stays as it is", async (t) => {
  const path = join(await scratchDir(t), "jobs.db");
  layoutOf(path, 2);
  assert.throws(() => sqliteJobs({ path }), {
    code: "jobs.layout_newer",
    message: `"${path}" has layout 2: this version knows layouts up to 1`,
    data: { file: path, layout: 2, newest: 1 },
  });
  const database = databases.open(path);
  assert.deepEqual(database.prepare("SELECT name FROM sqlite_schema").all([]), []);
  database.close();
});

test("kaged.db has the number of its layout; one without a number is layout 1", async (t) => {
  const { ask, home, storage } = await openStorageHome(t);
  await ask("notes", "exec", { sql: "CREATE TABLE t(a)" });
  const path = join(home, "kaged.db");
  assert.equal(layoutOf(path), 1);
  await storage.close();
  layoutOf(path, 0);
  const { ask: later } = await openStorageHome(t, { home });
  assert.deepEqual(await later("notes", "schema"), { tables: ["t"], views: [] });
  await later("notes", "exec", { sql: "INSERT INTO t VALUES (1)" });
  assert.equal(layoutOf(path), 1);
});

test("kaged.db of a newer layout is refused by number and file, for reading and writing", async (t) => {
  const { ask, home } = await openStorageHome(t);
  const path = join(home, "kaged.db");
  layoutOf(path, 7);
  for (const [operation, sql] of [["exec", "CREATE TABLE t(a)"], ["query", "SELECT 1"]] as const) {
    await assert.rejects(ask("notes", operation, { sql }), {
      code: "storage.layout_newer",
      message: `"kaged.db" has layout 7: this version knows layouts up to 1`,
    });
  }
  assert.equal(layoutOf(path), 7);
});
