import assert from "node:assert/strict";
import { test } from "node:test";
import { allGuides } from "./support/guides.ts";

/** Blocks that no test runs, each with the reason. Run a block rather than add it here. */
const EXEMPT = [
  ["CONTRIBUTING.md", "npm run gate", "this test is part of it"],
];

test("every block of every guide is run, but for those listed here", async () => {
  const skipped = [...await allGuides()].flatMap(([file, blocks]) =>
    blocks.filter(({ said }) => said.skip !== undefined).map(({ text, said }) => [file, text.trim(), said.reason])
  );
  assert.deepEqual(skipped, EXEMPT);
});
