/**
 * `bench memory`: the reference plugin memory-markdown with 10,000 memories, beside reading every file for each query, on
 * each runtime.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { type RuntimeCommand, runtimeCommands } from "../wire/runtimes.ts";

const CONTROL = "again";
const program = fileURLToPath(new URL("measure.ts", import.meta.url));

/** Runs it whole. */
export default function benchMemory({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap((runtime) => {
    say(`memory: on ${runtime.name}`);
    return rowsOn(runtime, quick ? "3" : "10");
  });
  const controls = rows.flatMap(({ peers }) => CONTROL in peers ? [peers[CONTROL]!] : []);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "memory", rows, control: controls.toSorted((a, b) => a - b)[controls.length >> 1] ?? NaN, versions };
}

/** What is wanted of the figures. */
export function memoryGoals({ rows }: BenchReport): Goal[] {
  const slowest: Record<string, number> = {};
  for (const { runtime, ours } of rows) slowest[runtime] = Math.max(slowest[runtime] ?? 0, ours);
  const recalls = rows.filter((row) => row.case.startsWith("recall"));
  return [
    {
      text: "a recall among 10,000 memories in less than 100 ms",
      values: Object.fromEntries(recalls.map(({ runtime, ours }) => [runtime, ours])),
      isMet: (value) => value < 100,
    },
    { text: "nothing takes a second, in ms", values: slowest, isMet: (value) => value < 1000 },
  ];
}

function rowsOn({ name: runtime, file, args }: RuntimeCommand, rounds: string): BenchRow[] {
  const output = execFileSync(file, [...args, program, rounds], { encoding: "utf8" });
  const figures: Record<string, Record<string, number>> = JSON.parse(output);
  return Object.entries(figures).map(([name, { ours = NaN, ...others }]) => {
    const peers = Object.fromEntries(Object.entries(others).map(([peer, figure]) => [peer, ours / figure]));
    return { runtime, case: name, unit: "ms", better: "lower", ours, peers };
  });
}
