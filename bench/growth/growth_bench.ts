/**
 * `bench growth`: costs over the number of plugins and of sessions, each with the exponent of its curve: 0 when the cost
 * stays, 1 when it grows as the number does.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import type { Growth, Point } from "./measure.ts";

const MEASURE: string = fileURLToPath(new URL("measure.ts", import.meta.url));

/** A curve: the figure in words, its unit, the things that are counted, and the exponent it may have. */
interface Curve {
  readonly of: string;
  readonly unit: string;
  readonly things: string;
  readonly bound: number;
}

const CURVES: Readonly<Record<keyof Growth, Curve>> = {
  restingStart: { of: "host.start()", unit: "ms", things: "resting plugins", bound: 0.15 },
  restingCall: { of: "a call", unit: "µs", things: "resting plugins", bound: 0.1 },
  runningStart: { of: "start of each plugin", unit: "ms", things: "caged plugins at once", bound: 0.1 },
  open: { of: "opening a session", unit: "µs", things: "sessions", bound: 0.1 },
  call: { of: "a call", unit: "µs", things: "sessions", bound: 0.1 },
  memory: { of: "heap of each session", unit: "KiB", things: "sessions", bound: 0.1 },
};
const exponentName = ({ of, things }: Curve): string => `exponent: ${of} over ${things}`;

/** Runs it on every runtime. */
export function benchGrowth({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap(({ name: runtime, file, args }): BenchRow[] => {
    say(`growth: on ${runtime}`);
    const rest = [...args, MEASURE, process.execPath, quick ? "20" : "100", quick ? "3" : "5"];
    const growth = JSON.parse(execFileSync(file, rest, { encoding: "utf8" })) as Growth;
    return Object.entries(CURVES).flatMap(([key, curve]) => rowsOf(runtime, curve, growth[key as keyof Growth]));
  });
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "growth", rows, control: NaN, versions };
}

function rowsOf(runtime: string, curve: Curve, points: readonly Point[]): BenchRow[] {
  const { of, unit, things } = curve;
  const [least] = points;
  const alike = { runtime, better: "lower" } as const;
  return [
    ...points.map(({ n, value }) => ({
      ...{ ...alike, case: `${of}, ${n.toLocaleString("en")} ${things}`, unit, ours: value },
      peers: least && n > least.n ? { "with the fewest": value / least.value } : {},
    })),
    { ...alike, case: exponentName(curve), unit: "", ours: exponentOf(points), peers: {} },
  ];
}

/** Returns the slope of log cost over log number, by least squares. */
export function exponentOf(points: readonly Point[]): number {
  const logs = points.map(({ n, value }) => [Math.log(n), Math.log(value)] as const);
  const mean = (of: (pair: readonly [number, number]) => number): number =>
    logs.reduce((sum, pair) => sum + of(pair), 0) / logs.length;
  const [x, y] = [mean(([n]) => n), mean(([, value]) => value)];
  return mean(([n, value]) => (n - x) * (value - y)) / mean(([n]) => (n - x) ** 2);
}

/** No cost grows with the number of other plugins or sessions. */
export function growthGoals({ rows }: BenchReport): Goal[] {
  return Object.values(CURVES).map((curve) => ({
    text: `${exponentName(curve)}, at most ${curve.bound}`,
    values: Object.fromEntries(
      rows.filter((row) => row.case === exponentName(curve)).map(({ runtime, ours }) => [runtime, ours]),
    ),
    isMet: (value) => value <= curve.bound,
  }));
}
