import assert from "node:assert/strict";
import { test } from "node:test";
import { messageOf } from "../../../src/core/errors/host_error.ts";
import { asWire, type SemanticCase, semanticCases } from "./support/corpus.ts";
import { openWorld } from "./support/world.ts";
import { runtimeName } from "../../support/require_or_skip.ts";

const DANGLING = "leaves a view or trigger that names what is not there, at least for a while";

/** Cases that are refused, by id, and why. At most 1 % of the corpus. */
const REFUSED: Readonly<Record<string, string>> = {
  a5ca42f82580ea6c: DANGLING,
  "2ab4d6b3eae073c8": DANGLING,
  "4cbfb77b97c2f256": DANGLING,
  "7a2f284339abb26f": DANGLING,
  c3e0ac9b08862bb9: DANGLING,
  b5a63b40d2435a2e: DANGLING,
  "91a323826b964854": DANGLING,
  "496c027deded8e2e": DANGLING,
  c8bc6010ba8295e0: DANGLING,
  "287172290345e603": DANGLING,
  "705ab37ff2c2ce3d": DANGLING,
  "0e9103970ea87319": DANGLING,
};

/** What a runtime's own SQLite cannot do, whoever asks it. */
const LACKING: Readonly<Record<string, readonly string[]>> = { deno: ["math-functions", "nul-in-text"] };

/** Returns what differs from what SQLite gives, or null. */
function difference(given: SemanticCase): string | null {
  using world = openWorld();
  try {
    for (const sql of given.setup) world.exec("p", sql);
    const { returned, rowsAffected } = world.exec("p", given.query);
    const wanted = { columns: unique(given.columns), rows: given.rows.map((row) => row.map(asWire)) };
    assert.deepEqual({ columns: returned?.columns ?? [], rows: returned?.rows ?? [] }, wanted);
    if (given.changes !== undefined) assert.equal(rowsAffected, given.changes);
    for (const { table, rows } of given.after ?? []) {
      const found = world.rows("p", `SELECT * FROM "${table.replaceAll('"', '""')}"`);
      assert.deepEqual(found, rows.map((row) => row.map(asWire)));
    }
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

function unique(columns: readonly string[]): string[] {
  const seen = new Set<string>();
  return columns.map((column) => {
    let name = column;
    for (let count = 1; seen.has(name); count++) name = `${column}:${count}`;
    seen.add(name);
    return name;
  });
}

test("every semantic case has SQLite's own outcome, except those listed as refused (K-057)", async () => {
  const cases = await semanticCases();
  assert.ok(cases.length > 2000);
  const lacking = LACKING[runtimeName] ?? [];
  const able = cases.filter(({ needs }) => needs === undefined || !lacking.includes(needs));
  assert.ok(cases.length - able.length < 60);
  const differing: Record<string, string> = {};
  for (const given of able) {
    const found = difference(given);
    if (found !== null && !(given.id in REFUSED)) differing[given.id] = `${given.query}: ${found}`;
    if (found === null && given.id in REFUSED) differing[given.id] = "is listed as refused, and is not";
  }
  assert.deepEqual(differing, {});
  assert.ok(Object.keys(REFUSED).length <= cases.length / 100);
});
