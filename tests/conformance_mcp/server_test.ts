import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { bundledServer, mcpOverHttp } from "../support/mcp_http.ts";
import { scratchDir } from "../support/scratch_dir.ts";
import { EXCEPTIONS } from "./support/exceptions.ts";
import { type ScenarioOutcome, serverScenarios, type Suite } from "./support/run_suite.ts";

const REVISIONS: readonly (readonly [Suite, string])[] = [
  ["0.1.16", "2025-06-18"],
  ["0.1.16", "2025-11-25"],
  ["0.2.0-alpha.12", "2025-03-26"],
  ["0.2.0-alpha.12", "2025-06-18"],
  ["0.2.0-alpha.12", "2025-11-25"],
  ["0.2.0-alpha.12", "2026-07-28"],
];

type Test = Parameters<typeof scratchDir>[0];

/** Runs a suite against a caged server behind `kaged mcp --http`, with everything offered that a client can do. */
async function outcomesOf(t: Test, suite: Suite, args: readonly string[]): Promise<Map<string, ScenarioOutcome>> {
  const config = '[approvals]\nsampling = "allow"\n';
  const made = await bundledServer(t, { file: "conformance_server.mjs", name: "conformance", config });
  const own = ["--names", "short", "--no-hooks", "--quiet", "--offer", "elicitation,sampling,roots"];
  const { url } = await mcpOverHttp(t, [...made.args, ...own]);
  const dir = join(await scratchDir(t), "results");
  await mkdir(dir);
  return await serverScenarios(suite, { url, dir, args });
}

for (const [suite, revision] of REVISIONS) {
  test(`N-029 every scenario of the conformance suite ${suite} at ${revision} passes, or is listed with its reason`, async (t) => {
    const outcomes = await outcomesOf(t, suite, ["--suite", "all", "--spec-version", revision]);
    const failing = [...outcomes].filter(([, { unmet }]) => unmet.length > 0);
    const listed = EXCEPTIONS.filter((one) => one.suite === suite && one.revision === revision);
    const surprising = failing.filter(([name]) => !listed.some(({ scenario }) => scenario === name));
    assert.deepEqual(surprising.map(([name, { unmet }]) => [name, ...unmet]), [], "these fail and are not listed");
    const stale = listed.filter(({ scenario }) => !failing.some(([name]) => name === scenario));
    assert.deepEqual(stale.map(({ scenario }) => scenario), [], "these are listed and pass");
  });
}
