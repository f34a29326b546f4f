/**
 * `bench fair`: calls of one plugin, one after the other, while ten others flood the host in eight ways, beside the same
 * calls while they are quiet.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import type { CallTimes, FairFigures } from "./measure.ts";

const MEASURE: string = fileURLToPath(new URL("measure.ts", import.meta.url));
const [QUIET, AGAIN] = ["quiet", "quiet again"] as const;
const P99 = "sibling's call beside ten floods, p99";
const LOAD = "processor time of the host during the floods";

/** Runs it on every runtime. */
export function benchFair({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const controls: number[] = [];
  const rows = runtimes.flatMap(({ name: runtime, file, args }): BenchRow[] => {
    say(`fair: on ${runtime}`);
    const rest = [...args, MEASURE, process.execPath, quick ? "1" : "3", quick ? "2" : "3"];
    const text = execFileSync(file, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const figures = JSON.parse(text) as FairFigures;
    controls.push(figures.quiet.p99 / figures.quietAgain.p99);
    const row = (name: string, part: "flooded" | "crowded", of: keyof CallTimes): BenchRow => ({
      ...{ runtime, case: name, unit: "ms", better: "lower", ours: figures[part][of] },
      peers: { [QUIET]: figures[part][of] / figures.quiet[of], [AGAIN]: figures[part][of] / figures.quietAgain[of] },
    });
    const alone = { runtime, better: "lower", peers: {} } as const;
    return [
      row("sibling's call beside ten floods, median", "flooded", "median"),
      row(P99, "flooded", "p99"),
      row("sibling's call beside 5,000 calls of another plugin, p99", "crowded", "p99"),
      { ...alone, case: "sibling's call beside ten floods, longest", unit: "ms", ours: figures.flooded.longest },
      { ...alone, case: LOAD, unit: "of one core", ours: figures.hostLoad },
    ];
  });
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  const middle = controls.toSorted((a, b) => a - b)[controls.length >> 1] ?? NaN;
  return { name: "fair", rows, control: middle, versions };
}

/** A sibling's p99 beside ten floods stays below five times its quiet one. */
export function fairGoals({ rows }: BenchReport): Goal[] {
  const values = Object.fromEntries(
    rows.filter((row) => row.case === P99).map(({ runtime, peers }) => [runtime, peers[QUIET]!]),
  );
  return [{ text: `${P99} ÷ quiet, below 5`, values, isMet: (value) => value < 5 }];
}
