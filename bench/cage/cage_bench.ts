/**
 * `bench cage`: what the cage adds to the start of a plugin, on each runtime, and how soon a plugin is ended that takes
 * too much memory where there are no control groups. The uncaged start exists only here.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";

const HOST: string = fileURLToPath(new URL("host.ts", import.meta.url));
const HOG_HOST: string = fileURLToPath(new URL("hog_host.ts", import.meta.url));
const CASE = "spawn to running";
const HOG_CASE = "end after 512 MiB in ";

/** Runs it whole. */
export function benchCage({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const run = (file: string, args: readonly string[]): string =>
    execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const rows = runtimes.map(({ name, file, args }): BenchRow => {
    const text = run(file, [...args, HOST, quick ? "12" : "60"]);
    const { limits, best: { ours = 0, ...others } } = JSON.parse(text) as {
      limits: string;
      best: Record<string, number>;
    };
    say(`cage: host and plugin on ${name}, limits by ${limits}`);
    const peers = Object.fromEntries(Object.entries(others).map(([peer, figure]) => [peer, ours / figure]));
    return { runtime: name, case: CASE, unit: "ms", better: "lower", ours, peers };
  });
  const controls = rows.map(({ peers }) => peers["uncaged"]! / peers["uncaged again"]!).sort((a, b) => a - b);
  const hogs = runtimes.flatMap(({ name, file, args }): BenchRow[] => {
    say(`cage: memory of a host on ${name}, limits by watchdog`);
    const ends = JSON.parse(run(file, [...args, HOG_HOST, quick ? "1" : "5"])) as Record<string, number>;
    return Object.entries(ends).map(([way, ours]) => (
      { runtime: name, case: `${HOG_CASE}${way}`, unit: "ms", better: "lower", ours, peers: {} }
    ));
  });
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return {
    name: "cage",
    rows: [...rows, ...hogs],
    control: controls[Math.floor(controls.length / 2)] ?? NaN,
    versions,
  };
}

/** Returns what `bench cage` should show. */
export function cageGoals({ rows }: BenchReport): Goal[] {
  const starts = rows.filter((row) => row.case === CASE && row.runtime !== "deno");
  const ratios = starts.map((row) => [row.runtime, row.peers["uncaged"]!]);
  const hogs = rows.filter((row) => row.case.startsWith(HOG_CASE));
  const latest = [...new Set(hogs.map(({ runtime }) => runtime))].map((name) => [
    name,
    Math.max(...hogs.filter(({ runtime }) => runtime === name).map(({ ours }) => ours)),
  ]);
  return [{
    text: `${CASE} at most 1.4 × the same program without a cage`,
    values: Object.fromEntries(ratios),
    isMet: (value) => value <= 1.4,
  }, {
    text: "without control groups, a plugin ended at most 1000 ms after it took its 512 MiB",
    values: Object.fromEntries(latest),
    isMet: (value) => value <= 1000,
  }];
}
