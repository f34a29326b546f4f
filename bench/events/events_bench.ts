/**
 * `bench events`: what an event costs beside other emitters, and what is left of 100,000 of them, on each runtime.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { type RuntimeCommand, runtimeCommands } from "../wire/runtimes.ts";

const CONTROL = "EventEmitter again";
const program = fileURLToPath(new URL("measure.ts", import.meta.url));

/** Runs it whole. */
export function benchEvents({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap((runtime) => {
    say(`events: on ${runtime.name}`);
    return rowsOn(runtime, quick ? ["6", "40"] : ["12", "80"]);
  });
  // Two measurements of one thing: what lies between them is noise.
  const controls = rows.flatMap(({ peers }) => CONTROL in peers ? [peers["EventEmitter"]! / peers[CONTROL]!] : []);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "events", rows, control: controls.toSorted((a, b) => a - b)[controls.length >> 1] ?? NaN, versions };
}

/** What is wanted of the figures. */
export function eventsGoals({ rows }: BenchReport): Goal[] {
  const valuesOf = (name: RegExp, value: (row: BenchRow) => number): Record<string, number> => {
    return Object.fromEntries(rows.filter((row) => name.test(row.case)).map((row) => [row.runtime, value(row)]));
  };
  const even = (value: number): boolean => value >= 1;
  return [
    {
      text: "an event nobody hears costs less than 100 ns",
      values: valuesOf(/^emit to 0$/, ({ ours }) => 1e9 / ours),
      isMet: (value) => value < 100,
    },
    {
      text: "an event to 20 ÷ emittery with copies, at least 1",
      values: valuesOf(/^emit to 20$/, ({ peers }) => peers["emittery + copies"]!),
      isMet: even,
    },
    {
      text: "100,000 events to 20 that keep up leave less than 1,024 KiB",
      values: valuesOf(/keep up$/, ({ ours }) => ours),
      isMet: (value) => value < 1024,
    },
  ];
}

function rowsOn({ name: runtime, file, args }: RuntimeCommand, effort: readonly string[]): BenchRow[] {
  const output = execFileSync(file, [...args, program, ...effort], { encoding: "utf8" });
  const figures: Record<string, Record<string, number>> = JSON.parse(output);
  return Object.entries(figures).map(([name, { ours = NaN, ...others }]) => {
    const peers = Object.fromEntries(Object.entries(others).map(([peer, figure]) => [peer, ours / figure]));
    if (name.startsWith("emit")) return { runtime, case: name, unit: "events/s", better: "higher", ours, peers };
    return { runtime, case: name, unit: "KiB", better: "lower", ours, peers };
  });
}
