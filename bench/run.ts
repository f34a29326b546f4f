/**
 * `npm run bench -- <name> [--json] [--quick] [--write]`.
 *
 * @module
 */
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import { type BenchOptions, type BenchReport, goalLines, resultsMarkdown, tableOf } from "./report.ts";
import { wireGoals } from "./wire/goals.ts";
import { benchWire } from "./wire/wire_bench.ts";

const USAGE = `Usage: npm run bench -- <name> [--json] [--quick] [--write]

  wire      the protocol beside the bare limit and other JSON-RPC hosts

  --json    print the figures as JSON
  --quick   end within 50 s, with more noise
  --write   write bench/RESULTS.md
`;

const benches: Readonly<Record<string, (options: BenchOptions) => BenchReport>> = { wire: benchWire };

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
  const report = bench({ quick: values.quick, say: (text) => console.error(text) });
  const goals = wireGoals(report);
  console.log(values.json ? JSON.stringify(report) : `${tableOf(report)}\n\n${goalLines(goals)}`);
  if (values.write) {
    const machine = `${cpus().length} × ${cpus()[0]?.model.trim()}`;
    const markdown = resultsMarkdown(report, goals, new Date().toISOString().slice(0, 10), machine);
    writeFileSync(new URL("RESULTS.md", import.meta.url), markdown);
  }
  return 0;
}
