/**
 * `bench flood`: a plugin prints a million lines that are no messages, again after every start, while another answers
 * calls: how long those take, what stays in the audit trail, and what the flood costs on the disk.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import type { FloodFigures } from "./measure.ts";

const MEASURE: string = fileURLToPath(new URL("measure.ts", import.meta.url));
const [MEDIAN, LONGEST, DISK, KEPT, FIT] = [
  "sibling's call during a flood, median",
  "sibling's call during a flood, longest",
  "lines about the flooder in both trails",
  "refusals kept, of each flood's one",
  "audit trail fits its chain",
] as const;

/** Runs it on every runtime. */
export function benchFlood({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap(({ name: runtime, file, args }): BenchRow[] => {
    say(`flood: on ${runtime}`);
    const rest = [...args, MEASURE, process.execPath, quick ? "2" : "4"];
    const text = execFileSync(file, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const { medianMs, longestMs, bytes, denied, ended, verified } = JSON.parse(text) as FloodFigures;
    return [
      { runtime, case: MEDIAN, unit: "ms", better: "lower", ours: medianMs, peers: {} },
      { runtime, case: LONGEST, unit: "ms", better: "lower", ours: longestMs, peers: {} },
      { runtime, case: DISK, unit: "kB", better: "lower", ours: bytes / 1000, peers: {} },
      { runtime, case: KEPT, unit: "of each", better: "higher", ours: denied / ended, peers: {} },
      { runtime, case: FIT, unit: "yes", better: "higher", ours: verified ? 1 : 0, peers: {} },
    ];
  });
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "flood", rows, control: NaN, versions };
}

/** The promises of docs/operating.md about a plugin that floods. */
export function floodGoals({ rows }: BenchReport): Goal[] {
  const valuesOf = (name: string): Record<string, number> =>
    Object.fromEntries(rows.filter((row) => row.case === name).map(({ runtime, ours }) => [runtime, ours]));
  return [
    { text: `${MEDIAN}, below 100 ms`, values: valuesOf(MEDIAN), isMet: (value) => value < 100 },
    { text: `${DISK}, below 1 MB`, values: valuesOf(DISK), isMet: (value) => value < 1000 },
    { text: `${KEPT}, all`, values: valuesOf(KEPT), isMet: (value) => value === 1 },
    { text: `${FIT}`, values: valuesOf(FIT), isMet: (value) => value === 1 },
  ];
}
