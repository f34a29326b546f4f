/**
 * From samples to what is kept of a long run.
 *
 * @module
 */
import { type Bounds, figure, judge, type Sample, type Verdict } from "./verdict.ts";

/** What is sampled: its name in a sample, in words, its unit, and how much of it may still grow. */
export interface Watched {
  readonly key: string;
  readonly name: string;
  readonly unit: string;
  readonly bounds: Bounds;
}

/** What is watched in a long run. */
export const WATCHED: readonly Watched[] = [
  { key: "host", name: "memory of the host", unit: "MiB", bounds: { absolute: 8, relative: 0.05 } },
  { key: "heap", name: "heap of the host", unit: "MiB", bounds: { absolute: 2, relative: 0.05 } },
  { key: "children", name: "memory of its children", unit: "MiB", bounds: { absolute: 16, relative: 0.05 } },
  { key: "descriptors", name: "descriptors of the host", unit: "", bounds: { absolute: 2, relative: 0 } },
  { key: "processes", name: "processes below the host", unit: "", bounds: { absolute: 2, relative: 0 } },
  { key: "disk", name: "disk", unit: "MiB", bounds: { absolute: 1, relative: 0.1 } },
];

/** A sample as the host of a run tells it. */
export interface Told {
  readonly t: number;
  readonly figures: Readonly<Record<string, number>>;
}

/** One series, judged. */
export interface JudgedSeries {
  readonly name: string;
  readonly unit: string;
  readonly samples: readonly Sample[];
  /** In words. */
  readonly verdict: string;
  readonly isFlat: boolean | null;
  readonly first: number;
  readonly last: number;
}

/** A long run as it is kept in `bench/results/soak-<runtime>.json`. */
export interface SoakResult {
  readonly name: "soak";
  readonly date: string;
  readonly machine: string;
  readonly runtime: string;
  readonly minutes: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly series: readonly JudgedSeries[];
}

/** Judges every series of a run. */
export function judgeAll(told: readonly Told[]): JudgedSeries[] {
  return WATCHED.map(({ key, name, unit, bounds }) => {
    const samples = told.map(({ t, figures }) => ({ t: round(t), value: round(figures[key]!) }));
    const { text, isFlat }: Verdict = judge(samples, bounds, unit);
    return {
      name,
      unit,
      samples,
      verdict: text,
      isFlat,
      first: samples[0]?.value ?? 0,
      last: samples.at(-1)?.value ?? 0,
    };
  });
}

/** Returns the series as a table, first, last and what was made of them. */
export function soakTable(series: readonly JudgedSeries[]): string {
  const cells = series.map(({ name, unit, first, last, verdict }) => {
    const shown = (value: number): string => `${figure(value)} ${unit}`.trimEnd();
    return [name, shown(first), shown(last), verdict];
  });
  const rows = [["figure", "first", "last", "verdict"], ...cells];
  const widths = rows[0]!.map((_, at) => Math.max(...rows.map((row) => row[at]!.length)));
  const line = (row: readonly string[]): string => `| ${row.map((cell, at) => cell.padEnd(widths[at]!)).join(" | ")} |`;
  return [line(rows[0]!), line(widths.map((width) => "-".repeat(width))), ...rows.slice(1).map(line)].join("\n");
}

/** What a run is called among the results: each runtime keeps its last one. */
export function soakName({ runtime }: Pick<SoakResult, "runtime">): string {
  return `soak-${runtime.split(" ")[0]}`;
}

/** Returns the section of `RESULTS.md`. */
export function soakMarkdown(result: SoakResult): string {
  const { date, machine, runtime, minutes, counts, series } = result;
  const name = soakName(result);
  return `# Benchmark results

Written by \`npm run bench -- <name> --write\`; figures are what that run measured.

## ${name}

${date}, ${machine}, ${runtime}. \`npm run soak -- --runtime ${
    runtime.split(" ")[0]
  } --minutes ${minutes}\`: ten plugins under load for ${minutes} minutes, five
of them started on demand and at rest after a second, each figure sampled while the load is held, memory once V8 has
given back the pages of its young generation. ${
    countsLine(counts)
  }. Flat means that the slope of the second half stays within
bounds.

![the figures over time](../docs/img/${name}.svg)

${soakTable(series)}
`;
}

/** What was done, in one line. */
export function countsLine(
  { calls, rows, hooks, crashes, reloads, wakes, rests, cut, lost }: SoakResult["counts"],
): string {
  const n = (value = 0): string => value.toLocaleString("en");
  return `${n(calls)} calls, ${n(rows)} rows, ${n(hooks)} hooks, ${n(crashes)} crashes, ${n(reloads)} reloads, ` +
    `${n(wakes)} starts on demand, ${n(rests)} returns to rest; ` +
    `${n(cut)} calls ended with a plugin that crashed, ${n(lost)} failed otherwise`;
}

const round = (value: number): number => Math.round(value * 100) / 100;
