/**
 * Every run of the conformance suites against `kaged mcp --http`, and the table of their outcomes in
 * `docs/mcp-conformance.md`.
 *
 * @module
 */
import { bundledServer, mcpOverHttp, type Test } from "../../support/mcp_http.ts";
import { scratchDir } from "../../support/scratch_dir.ts";
import { EXCEPTIONS } from "./exceptions.ts";
import { extensionScenarios, type ScenarioOutcome, serverScenarios, type Suite } from "./run_suite.ts";

/** A run: a version of the suite, and a revision of the protocol or `extension`. */
export interface Run {
  readonly suite: Suite;
  readonly revision: string;
}

/** Scenario → outcome. */
export type Outcomes = ReadonlyMap<string, ScenarioOutcome>;

/** All runs. */
export const RUNS: readonly Run[] = [
  { suite: "0.1.16", revision: "2025-06-18" },
  { suite: "0.1.16", revision: "2025-11-25" },
  { suite: "0.2.0-alpha.12", revision: "2025-03-26" },
  { suite: "0.2.0-alpha.12", revision: "2025-06-18" },
  { suite: "0.2.0-alpha.12", revision: "2025-11-25" },
  { suite: "0.2.0-alpha.12", revision: "2026-07-28" },
  { suite: "0.2.0-alpha.12", revision: "extension" },
];

/** Runs scenarios against a caged server of its own, with everything offered that a client can do. */
export async function outcomesOf(t: Test, { suite, revision }: Run): Promise<Outcomes> {
  const config = '[approvals]\nsampling = "allow"\n';
  const more = revision === "extension" ? [{ file: "task_server.mjs", name: "tasks" }] : [];
  const made = await bundledServer(t, { file: "conformance_server.mjs", name: "conformance", config, more });
  const own = ["--names", "short", "--no-hooks", "--quiet", "--offer", "elicitation,sampling,roots"];
  const { url } = await mcpOverHttp(t, [...made.args, ...own]);
  const run = async (...args: readonly string[]) =>
    await serverScenarios(suite, { url, dir: await scratchDir(t), args });
  if (revision !== "extension") return await run("--suite", "all", "--spec-version", revision);
  // One after the other: a form that a server asks for while it works for several sessions can be nobody's.
  const outcomes = new Map<string, ScenarioOutcome>();
  for (const name of await extensionScenarios(suite, await scratchDir(t))) {
    for (const [scenario, outcome] of await run("--scenario", name)) outcomes.set(scenario, outcome);
  }
  return outcomes;
}

const HEAD = `# Conformance

\`@modelcontextprotocol/conformance\` against \`kaged mcp --http\`: a server in a cage, made with the official SDK 2, that has
everything the suite asks for, served with \`--names short --offer elicitation,sampling,roots\`; for the scenarios of
extensions a second one beside it, made with SDK 1, whose tools can be tasks. The suite speaks to the host; the host
speaks to the server in the revision that both know best. \`npm test -- tests/conformance_mcp\` runs it on
every runtime and fails for a scenario that fails and is not listed here, and for one that is listed and passes.
\`npm run mcp:conformance\` writes this page.

\`+\` passes every check, those of a SHOULD too; a number is a reason below; an empty cell means that the suite has no such
scenario for the revision.
`;

/** The page; `all` has the outcomes of each run, in the order of {@link RUNS}. */
export function conformancePage(all: readonly Outcomes[]): string {
  const reasons = [...new Set(EXCEPTIONS.map(({ reason }) => reason))];
  const cell = ({ suite, revision }: Run, scenario: string, outcome: ScenarioOutcome | undefined): string => {
    if (!outcome) return "";
    const known = EXCEPTIONS.find((one) =>
      one.suite === suite && one.revision === revision && one.scenario === scenario
    );
    if (outcome.unmet.length === 0 && !known?.isTimed) return "+";
    return known ? String(reasons.indexOf(known.reason) + 1) : "fails";
  };
  const scenarios = [...new Set(all.flatMap((outcomes) => [...outcomes.keys()]))].sort();
  const rows = scenarios.map((scenario) => [
    `\`${scenario}\``,
    ...RUNS.map((run, at) => cell(run, scenario, all[at]?.get(scenario))),
  ]);
  const titles = RUNS.map(({ suite, revision }) => `${revision} (${suite})`);
  const table = [["scenario", ...titles], ["---", ...RUNS.map(() => "---")], ...rows].map((row) =>
    `| ${row.join(" | ")} |`
  );
  return `${HEAD}\n${table.join("\n")}\n\n${reasons.map((reason, at) => `${at + 1}. ${reason}.`).join("\n")}\n`;
}

/** The cells of one run in a page: scenario → whether it passes. */
export function pageOutcomes(page: string, run: Run): Map<string, boolean> {
  const at = RUNS.findIndex(({ suite, revision }) => suite === run.suite && revision === run.revision);
  const rows = page.split("\n").map((line) => line.split("|").map((cell) => cell.trim()))
    .filter(([, scenario]) => scenario?.startsWith("`"));
  return new Map(rows.flatMap((row) => row[at + 2] ? [[row[1]!.replaceAll("`", ""), row[at + 2] === "+"]] : []));
}
