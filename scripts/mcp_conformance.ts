/**
 * Runs the conformance suites of MCP against `kaged mcp --http` and writes `docs/mcp-conformance.md`.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { conformancePage, type Outcomes, outcomesOf, RUNS } from "../tests/conformance_mcp/support/server_runs.ts";
import { ROOT } from "../tests/support/mcp_http.ts";

const ends: (() => Promise<void>)[] = [];
const all: Outcomes[] = [];
try {
  for (const run of RUNS) {
    const outcomes = await outcomesOf({ after: (end) => void ends.push(end) }, run);
    all.push(outcomes);
    for (const [scenario, { unmet }] of outcomes) {
      if (unmet.length > 0) console.log(`${run.suite} ${run.revision} ${scenario}: ${unmet.join("; ")}`);
    }
    console.log(`${run.suite} ${run.revision}: ${outcomes.size} scenarios`);
  }
} finally {
  for (const end of ends.reverse()) await end();
}
const page = join(ROOT, "docs/mcp-conformance.md");
await writeFile(page, conformancePage(all));
await promisify(execFile)(join(ROOT, "node_modules/.bin/deno"), ["fmt", "--quiet", page], { cwd: ROOT });
