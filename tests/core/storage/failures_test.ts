import assert from "node:assert/strict";
import { test } from "node:test";
import { HostError } from "../../../src/core/errors/host_error.ts";
import type { Catalogue } from "../../../src/core/storage/catalogue.ts";
import { failureOf } from "../../../src/core/storage/failures.ts";

const catalogue = {
  entries: [{ name: "plugin_other_secrets" }],
  names: new Set(["plugin_other_secrets", "sessions"]),
  plugins: new Set(["notes", "other"]),
} as unknown as Catalogue;
/** What a plugin gets to see of an error of SQLite. */
const seen = (
  errcode: number | undefined,
  message = "database is locked",
  freeBytes: number | null = null,
): HostError =>
  failureOf(Object.assign(new Error(message), errcode === undefined ? {} : { errcode }), {
    ...{ plugin: "notes", catalogue, refused: null, freeBytes },
  });

test("K-017 each failure of the database has a code of its own; extended codes count as their primary one", () => {
  const codes: readonly (readonly [number | undefined, string])[] = [
    [5, "storage.busy"],
    [261, "storage.busy"],
    [6, "storage.busy"],
    [7, "storage.out_of_memory"],
    [8, "storage.denied"],
    [10, "storage.disk_failed"],
    [778, "storage.disk_failed"],
    [13, "storage.disk_full"],
    [18, "storage.too_large"],
    [23, "storage.denied"],
    [undefined, "storage.failed"],
    [1, "storage.sql"],
  ];
  for (const [code, wanted] of codes) assert.equal(seen(code).code, wanted, String(code));
});

test("a file that cannot grow on a disk with room has reached the plugin's quota", () => {
  assert.equal(seen(13, "full", 0).code, "storage.disk_full");
  assert.equal(seen(13, "full", 1 << 30).code, "storage.quota");
});

test("K-057 an error names tables as the plugin does, and never another plugin's", () => {
  assert.equal(seen(1, "no such table: plugin_notes_todo").message, "no such table: todo");
  assert.equal(seen(19, "trigger on plugin_other_secrets failed").message, "trigger on … failed");
  const { code, message } = seen(1, "no such table: main.sessions");
  assert.deepEqual([code, message], ["storage.denied", 'Cannot reach table "sessions": it is not this plugin\'s']);
});

test("an error that is ours already stays as it is", () => {
  const ours = new HostError("storage.denied", "No");
  assert.equal(failureOf(ours, { plugin: "notes", catalogue, refused: null, freeBytes: null }), ours);
});
