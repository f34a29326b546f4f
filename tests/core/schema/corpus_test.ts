import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { test } from "node:test";
import { compileSchema } from "../../../src/core/schema/compile_schema.ts";
import { schemaProblems } from "../../../src/core/schema/schema_problems.ts";

interface Group {
  readonly description: string;
  readonly schema: Record<string, unknown>;
  readonly tests: readonly { readonly description: string; readonly data: unknown; readonly valid: boolean }[];
}

const root = new URL("../../corpora/json-schema-2020-12/", import.meta.url);

async function groupsIn(folder: string): Promise<{ name: string; group: Group }[]> {
  const files = (await readdir(new URL(folder, root))).filter((file) => file.endsWith(".json")).sort();
  const groups = await Promise.all(files.map(async (file) => {
    const list: Group[] = JSON.parse(await readFile(new URL(folder + file, root), "utf8"));
    return list.map((group) => ({ name: `${file}: ${group.description}`, group }));
  }));
  return groups.flat();
}

/** Runs a folder: which tests agree with the suite, which do not, and which schemas are not taken, with the reason. */
async function runFolder(folder: string) {
  const result = { agreed: 0, disagreed: [] as string[], refused: new Map<string, string>(), refusedTests: 0 };
  for (const { name, group: { schema, tests } } of await groupsIn(folder)) {
    const [problem] = await schemaProblems(schema);
    if (problem) {
      result.refused.set(name, problem.message.replace(/ ".*(?:"|…)/, ""));
      result.refusedTests += tests.length;
      continue;
    }
    const { issues } = await compileSchema(schema);
    for (const { description, data, valid } of tests) {
      if ((issues(data).length === 0) === valid) result.agreed++;
      else result.disagreed.push(`${name}: ${description}`);
    }
  }
  return result;
}

/** Reasons a schema of the suite is not taken: each is a rule of ours, and none is a gap. */
const REASONS = [
  "Reference leads out of the schema",
  "Reference leads to nothing",
  "Only the root of a schema may have an $id",
  "Keyword is not taken here",
  "Dialect is not known here",
  "The pattern is no regular expression",
];

test("the 2020-12 suite: every schema that is taken judges every value as the suite does", async () => {
  const { agreed, disagreed, refused, refusedTests } = await runFolder("");
  assert.deepEqual(disagreed, []);
  assert.deepEqual([...new Set(refused.values())].filter((reason) => !REASONS.includes(reason)), []);
  assert.deepEqual({ agreed, refusedTests }, { agreed: AGREED, refusedTests: REFUSED });
});

test("the optional part of the suite: one test of numbers beyond a double, and formats, which are notes here", async () => {
  const { disagreed, refused } = await runFolder("optional/");
  assert.deepEqual(disagreed, [
    "float-overflow.json: all integers are multiples of 0.5, if overflow is handled: " +
    "valid if optional overflow handling is implemented",
  ]);
  assert.deepEqual([...new Set(refused.values())].filter((reason) => !REASONS.includes(reason)), []);
});

/** Counts of the corpus as it stands: fewer would mean that schemas are refused which were taken before. */
const AGREED = 573;
const REFUSED = 46;
