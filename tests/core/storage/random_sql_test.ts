import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import type { RewriteRule } from "../../../src/core/storage/sql/rewrite.ts";
import { EDGE_CASES, type EdgeCase, randomScript } from "./support/random_sql.ts";
import { Twin } from "./support/twin.ts";
import fc from "../../support/fast_check.ts";

const STATEMENTS = Number(process.env.KAGED_FUZZ_SQL ?? 2_000);
const PER_SCRIPT = 25;
const numbers = fc.array(fc.nat({ max: 2 ** 30 }), { minLength: 200, maxLength: 400 });

/** Runs a script on both databases; returns the first statement on which they part. */
function firstDifference(script: readonly number[], count: (edge: EdgeCase) => void, without?: RewriteRule): unknown {
  const twin = new Twin(without ? { without: [without] } : {});
  try {
    for (const statement of randomScript(script, PER_SCRIPT, count)) {
      const outcomes = twin.run(statement);
      if (outcomes === null) continue;
      const { plain, prefixed } = outcomes;
      if (JSON.stringify(plain) !== JSON.stringify(prefixed)) return { statement, plain, prefixed };
    }
    return null;
  } finally {
    twin.close();
  }
}

test("random statements give the same columns, rows, counts and errors with and without the prefix", () => {
  const counts = new Map<EdgeCase, number>();
  const count = (edge: EdgeCase): void => void counts.set(edge, (counts.get(edge) ?? 0) + 1);
  fc.assert(
    fc.property(numbers, (script) => assert.equal(firstDifference(script, count), null)),
    { numRuns: Math.ceil(STATEMENTS / PER_SCRIPT) },
  );
  const never = EDGE_CASES.filter((edge) => !counts.has(edge));
  assert.deepEqual(never, [], "every edge case occurs");
  if (process.env.KAGED_FUZZ_SQL) console.log(JSON.stringify(Object.fromEntries(counts)));
});

const RULES: Readonly<Record<RewriteRule, true>> = {
  table: true,
  alias: true,
  cte: true,
  qualifier: true,
  index: true,
  trigger: true,
  in: true,
  references: true,
  rename_to: true,
  indexed_by: true,
  column_name: true,
  new_old: true,
  excluded: true,
  parameter: true,
  table_function: true,
  fts: true,
};

for (const rule of Object.keys(RULES) as RewriteRule[]) {
  test(`without the rule "${rule}" random statements differ`, () => {
    const scripts = fc.sample(numbers, { numRuns: 400 });
    assert.ok(scripts.some((script) => firstDifference(script, () => {}, rule) !== null));
  });
}
