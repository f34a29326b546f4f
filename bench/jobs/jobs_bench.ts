/**
 * `bench jobs`: jobs in a second for each store, beside the bare writes or the bare queue under it; times in queues of
 * growing length, and the wait of a small tenant beside a noisy one.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import { type Curve, exponentOf } from "./growth.ts";
import type { Figures } from "./host.ts";
import type { Fairness, Growth, QueueFigures } from "./queue_host.ts";

const [HOST, QUEUE] = ["host.ts", "queue_host.ts"].map((name) => fileURLToPath(new URL(name, import.meta.url)));

/** Runs it whole. */
export function benchJobs({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows: BenchRow[] = [];
  for (const { name, file, args } of runtimes) {
    say(`jobs: host on ${name}`);
    const run = <T>(program: string, rest: readonly string[]): T =>
      JSON.parse(execFileSync(file, [...args, program, ...rest], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      }));
    const figures = Object.entries(run<Record<string, Figures>>(HOST!, quick ? ["1", "100"] : ["3", "500"]));
    rows.push(...figures.map(([title, each]) => rowOf(name, title, each)));
    say(`jobs: long queues on ${name}`);
    const sizes = quick ? ["50", "1000", "1000,10000"] : ["200", "10000", "1000,10000,100000"];
    const queue = run<QueueFigures>(QUEUE!, sizes);
    for (const [store, growth] of Object.entries(queue.growth)) rows.push(...growthRows(name, store, growth));
    for (const [store, waits] of Object.entries(queue.fairness)) rows.push(fairRow(name, store, waits));
  }
  const controls = rows.flatMap(({ peers }) =>
    Object.keys(peers).filter((peer) => `${peer} again` in peers).map((peer) => peers[peer]! / peers[`${peer} again`]!)
  ).sort((a, b) => a - b);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "jobs", rows, control: controls[Math.floor(controls.length / 2)] ?? NaN, versions };
}

/** Returns what `bench jobs` should show. */
export function jobsGoals({ rows }: BenchReport): Goal[] {
  const ratio = (title: string, peer: string): Record<string, number> =>
    Object.fromEntries(
      rows.filter((row) => row.case === title && peer in row.peers).map((row) => [row.runtime, row.peers[peer]!]),
    );
  const figure = (title: string): Record<string, number> =>
    Object.fromEntries(rows.filter((row) => row.case === title).map((row) => [row.runtime, row.ours]));
  const long = ["sqlite", "postgres"].flatMap((store): Goal[] => [
    {
      text: `${store}: the exponent of a claim over the number of queued jobs is below 0.1`,
      values: figure(growthTitle(store, "claim")),
      isMet: (v) => v < 0.1,
    },
    {
      text: `${store}: a small tenant beside a noisy one waits at most 4 × as long as alone`,
      values: ratio(fairTitle(store), "alone"),
      isMet: (v) => v <= 4,
    },
  ]);
  return [
    ...long,
    { text: "sqlite: at least 0.5 × its bare commits", values: ratio("sqlite", "bare sqlite"), isMet: (v) => v >= 0.5 },
    { text: "postgres: at least 0.3 × the bare queue", values: ratio("postgres", "pg-boss"), isMet: (v) => v >= 0.3 },
  ];
}

function rowOf(runtime: string, title: string, { ours = 0, ...others }: Figures): BenchRow {
  const peers = Object.fromEntries(Object.entries(others).map(([peer, figure]) => [peer, ours / figure]));
  return { runtime, case: title, unit: "jobs/s", better: "higher", ours, peers };
}

const growthTitle = (store: string, step: string): string => `${store}: ${step}, exponent over the length of the queue`;
const fairTitle = (store: string): string => `${store}: ten jobs of a small tenant beside a noisy one`;

/** For each step its exponent, and its time at the greatest length beside that at the smallest. */
function growthRows(runtime: string, store: string, { again, ...curves }: Growth): BenchRow[] {
  return Object.entries(curves).flatMap(([step, curve]: [string, Curve]): BenchRow[] => {
    const sizes = Object.keys(curve).map(Number);
    const [least, most] = [Math.min(...sizes), Math.max(...sizes)];
    const time = curve[most]!;
    const first = curve[least]!;
    const peers = { "shortest queue": time / first, ...(step === "claim" && { "shortest queue again": time / again }) };
    const title = `${store}: ${step}, ${most.toLocaleString("en")} queued`;
    return [
      { runtime, case: title, unit: "ms", better: "lower", ours: time, peers },
      { runtime, case: growthTitle(store, step), unit: "", better: "lower", ours: exponentOf(curve), peers: {} },
    ];
  });
}

function fairRow(runtime: string, store: string, { beside, alone, "alone again": again, behind }: Fairness): BenchRow {
  const peers = { alone: beside / alone, "alone again": beside / again, "without turns, a tenth": beside / behind };
  return { runtime, case: fairTitle(store), unit: "ms", better: "lower", ours: beside, peers };
}
