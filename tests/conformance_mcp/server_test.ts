import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT } from "../support/mcp_http.ts";
import { EXCEPTIONS } from "./support/exceptions.ts";
import { outcomesOf, pageOutcomes, RUNS } from "./support/server_runs.ts";

for (const run of RUNS) {
  const { suite, revision } = run;
  test(`N-029 each scenario of the conformance suite ${suite} for ${revision} passes, or is listed with its reason`, async (t) => {
    const outcomes = await outcomesOf(t, run);
    const failing = [...outcomes].filter(([, { unmet }]) => unmet.length > 0);
    const listed = EXCEPTIONS.filter((one) => one.suite === suite && one.revision === revision);
    const surprising = failing.filter(([name]) => !listed.some(({ scenario }) => scenario === name));
    assert.deepEqual(surprising.map(([name, { unmet }]) => [name, ...unmet]), [], "these fail and are not listed");
    const stale = listed.filter(({ scenario, isTimed }) => !isTimed && !failing.some(([name]) => name === scenario));
    assert.deepEqual(stale.map(({ scenario }) => scenario), [], "these are listed and pass, or are gone");
    const page = await readFile(join(ROOT, "docs/mcp-conformance.md"), "utf8");
    const timed = listed.filter(({ isTimed }) => isTimed).map(({ scenario }) => scenario);
    const passes = [...outcomes].map(([name, { unmet }]) =>
      [name, unmet.length === 0 && !timed.includes(name)] as const
    );
    const known = Object.fromEntries(pageOutcomes(page, run));
    assert.deepEqual(known, Object.fromEntries(passes), "npm run mcp:conformance writes the page again");
  });
}
