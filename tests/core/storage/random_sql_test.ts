import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { EDGE_CASES, type EdgeCase, randomScript } from "./support/random_sql.ts";
import { Twin } from "./support/twin.ts";
import fc from "../../support/fast_check.ts";

const STATEMENTS = Number(process.env.KAGED_FUZZ_SQL ?? 2_000);
const PER_SCRIPT = 25;
const numbers = fc.array(fc.nat({ max: 2 ** 30 }), { minLength: 200, maxLength: 400 });

type Spoil = (sql: string) => string;

/** Runs a script on both databases; returns the first statement on which they part. */
function firstDifference(script: readonly number[], count: (edge: EdgeCase) => void, spoil?: Spoil): unknown {
  const twin = new Twin(spoil);
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

const P = '"plugin_my_plugin_';
const plain = (before: RegExp): Spoil => (sql) =>
  sql.replace(new RegExp(`(${before.source})${P}`, before.flags), '$1"');

/** For each place where the rewriter changes a name: its text as a rewriter would leave it that forgot the place. */
const FORGOTTEN: Readonly<Record<string, Spoil>> = {
  table: plain(/\b(?:FROM|INTO|UPDATE|TABLE|JOIN) /gi),
  alias: plain(/ AS /gi),
  cte: plain(/\bWITH (?:RECURSIVE )?/gi),
  qualifier: (sql) => sql.replaceAll(/"plugin_my_plugin_(\w+)"\./g, '"$1".'),
  index: plain(/\bINDEX (?:IF (?:NOT )?EXISTS )?/gi),
  trigger: plain(/\bTRIGGER (?:IF (?:NOT )?EXISTS )?/gi),
  in: plain(/\bIN /gi),
  references: plain(/\bREFERENCES /gi),
  rename_to: plain(/\bRENAME TO /gi),
  indexed_by: plain(/\bINDEXED BY /gi),
  column_name: (sql) => sql.replaceAll(/ AS "(?!plugin_my_plugin_)(?:[^"]|"")*"/g, ""),
  new_old: (sql) => sql.replaceAll(/\b(new|old)\./gi, `${P}$1".`),
  excluded: (sql) => sql.replaceAll(/\bexcluded\./gi, `${P}excluded".`),
  parameter: (sql) => sql.replaceAll(/\?\d+/g, "?1"),
  table_function: (sql) => sql.replaceAll(/(json_(?:each|tree)\([^)]*\)) AS "plugin_my_plugin_\w+"/gi, "$1"),
  fts: (sql) => sql.replaceAll(/"plugin_my_plugin_(\w+)"( MATCH|\) VALUES)/gi, '"$1"$2'),
};

for (const [place, spoil] of Object.entries(FORGOTTEN)) {
  test(`random statements differ where the rewriter forgets "${place}"`, () => {
    const scripts = fc.sample(numbers, { numRuns: 400 });
    assert.ok(scripts.some((script) => firstDifference(script, () => {}, spoil) !== null));
  });
}
