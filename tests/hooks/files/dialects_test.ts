import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { bare, entriesTable, exitsTable, momentsTable, placesTable } from "../../support/dialect_tables.ts";

test("N-038 the tables of docs/hook-files.md say what the descriptions of the dialects say", async () => {
  const guide = await readFile(new URL("../../../docs/hook-files.md", import.meta.url), "utf8");
  const tables = { places: placesTable(), moments: momentsTable(), entries: entriesTable(), exits: exitsTable() };
  for (const [name, rows] of Object.entries(tables)) {
    const [, after = ""] = guide.split(`<!-- dialects: ${name} -->\n\n`);
    const written = after.split("\n\n", 1)[0]!.split("\n").map((line) => line.replace(/\s+/g, ""));
    assert.deepEqual(written.filter((line) => !/^\|[-|]+\|$/.test(line)), bare(rows), name);
  }
});
