/**
 * `npm run bench -- <name> [--json] [--quick] [--write]`.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import benchHooks, { hooksGoals } from "./hooks/hooks_bench.ts";
import { benchHost, hostGoals } from "./host/host_bench.ts";
import { benchHttp, httpGoals } from "./http/http_bench.ts";
import benchMemory, { memoryGoals } from "./memory/memory_bench.ts";
import {
  type BenchOptions,
  type BenchReport,
  type Goal,
  goalLines,
  isCompared,
  keptReport,
  resultsMarkdown,
  type RunPlace,
  tableOf,
  withSection,
} from "./report.ts";
import { benchCage, cageGoals } from "./cage/cage_bench.ts";
import { benchDemand, demandGoals } from "./demand/demand_bench.ts";
import { benchFair, fairGoals } from "./fair/fair_bench.ts";
import { benchFlood, floodGoals } from "./flood/flood_bench.ts";
import { benchGrowth, growthGoals } from "./growth/growth_bench.ts";
import { benchEvents, eventsGoals } from "./events/events_bench.ts";
import { benchJobs, jobsGoals } from "./jobs/jobs_bench.ts";
import { benchMcp, mcpGoals } from "./mcp/mcp_bench.ts";
import { benchNet, netGoals } from "./net/net_bench.ts";
import { benchStorage, storageGoals } from "./storage/storage_bench.ts";
import { benchChart } from "../scripts/pictures/bench_chart.ts";
import { wireGoals } from "./wire/goals.ts";
import { benchWire } from "./wire/wire_bench.ts";

const USAGE = `Usage: npm run bench -- <name> [--json] [--quick] [--write]

  wire      the protocol beside the bare limit and other JSON-RPC hosts
  host      a tool call as users make it, audit and gate on, beside the MCP SDK and the bare wire
  cage      the start of a plugin beside the same program without a cage; the end of one that takes too much memory
  demand    1,000 plugins that start on demand beside 5: start of the host, memory, first call
  storage   a storage call beside the same prepared statement, and beside a ping
  hooks     chains of handlers and events beside other hook libraries; command hooks; reading projects and manifests
  events    an event to 0, 1 and 20 subscribers beside other emitters; memory after 100,000
  jobs      background jobs in a second for each store, beside the bare writes under it
  memory    recall from a large memory
  flood     calls of one plugin, and the audit trail, while another prints a million lines of noise
  fair      calls of one plugin while ten others flood the host in eight ways, beside the same while those are quiet
  growth    costs over 10 to 1,000 plugins and 1 to 10,000 sessions, each with its exponent
  net       requests through the gatekeeper, opaque and with a bound secret, beside a plain proxy and none
  mcp       a caged MCP server through a host and through kaged mcp, beside the official clients without a cage
  http      a call through the HTTP API beside the same call in process and a bare route

  --json    print the figures as JSON
  --quick   end within 50 s, with more noise
  --write   write bench/RESULTS.md, bench/results/<name>.json and, where there are peers, docs/img/bench-<name>.svg
`;

interface Bench {
  readonly run: (options: BenchOptions) => BenchReport;
  readonly goals: (report: BenchReport) => Goal[];
}

const benches: Readonly<Record<string, Bench>> = {
  wire: { run: benchWire, goals: wireGoals },
  host: { run: benchHost, goals: hostGoals },
  cage: { run: benchCage, goals: cageGoals },
  demand: { run: benchDemand, goals: demandGoals },
  storage: { run: benchStorage, goals: storageGoals },
  hooks: { run: benchHooks, goals: hooksGoals },
  events: { run: benchEvents, goals: eventsGoals },
  jobs: { run: benchJobs, goals: jobsGoals },
  memory: { run: benchMemory, goals: memoryGoals },
  flood: { run: benchFlood, goals: floodGoals },
  fair: { run: benchFair, goals: fairGoals },
  growth: { run: benchGrowth, goals: growthGoals },
  net: { run: benchNet, goals: netGoals },
  mcp: { run: benchMcp, goals: mcpGoals },
  http: { run: benchHttp, goals: httpGoals },
};

process.exitCode = main(process.argv.slice(2));

function main(args: string[]): number {
  const flag = { type: "boolean", default: false } as const;
  const options = { json: flag, quick: flag, write: flag, help: flag };
  const { values, positionals: [name = ""] } = parseArgs({ args, options, allowPositionals: true });
  const bench = benches[name];
  if (!bench) {
    console[values.help ? "log" : "error"](USAGE);
    return values.help ? 0 : 2;
  }
  const report = bench.run({ quick: values.quick, say: (text) => console.error(text) });
  const goals = bench.goals(report);
  console.log(values.json ? JSON.stringify(report) : `${tableOf(report)}\n\n${goalLines(goals)}`);
  if (values.write) {
    // A busy machine measures its other work too: the load is part of the result.
    const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}, load average ${loadavg()[2]!.toFixed(1)}`;
    keepResults(report, goals, { date: new Date().toISOString().slice(0, 10), machine });
  }
  return 0;
}

/** Writes a run to RESULTS.md, as JSON, and as a chart where it has peers. */
function keepResults(report: BenchReport, goals: readonly Goal[], place: RunPlace): void {
  const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
  const former = existsSync(path("RESULTS.md")) ? readFileSync(path("RESULTS.md"), "utf8") : "";
  const kept = keptReport(report, goals, place);
  mkdirSync(path("results"), { recursive: true });
  writeFileSync(path(`results/${report.name}.json`), `${JSON.stringify(kept, null, 2)}\n`);
  writeFileSync(path("RESULTS.md"), withSection(former, report.name, resultsMarkdown(report, goals, place)));
  if (isCompared(report)) writeFileSync(path(`../docs/img/bench-${report.name}.svg`), benchChart(kept));
}
