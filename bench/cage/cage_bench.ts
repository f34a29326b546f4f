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
const MANY_HOST: string = fileURLToPath(new URL("many_host.ts", import.meta.url));
const PROFILE_HOST: string = fileURLToPath(new URL("profile_host.ts", import.meta.url));
const CASE = "spawn to running";
const FIRST_CASE = "spawn to running, the only plugin of its host";
const MANY_CASE = "100 at once, each";
const MOST = { node: 1.3, others: 1.4 } as const;
const MANY_MOST = 1.4;
const HOG_CASE = "end after 512 MiB in ";

/** Runs it whole. */
export function benchCage({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const run = (file: string, args: readonly string[]): string =>
    execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  const peersOf = (ours: number, others: Record<string, number>): Record<string, number> =>
    Object.fromEntries(Object.entries(others).map(([peer, figure]) => [peer, ours / figure]));
  const rows = runtimes.flatMap(({ name, file, args }): BenchRow[] => {
    const text = run(file, [...args, HOST, quick ? "12" : "60"]);
    const { limits, best: { ours = 0, first = 0, ...others } } = JSON.parse(text) as {
      limits: string;
      best: Record<string, number>;
    };
    say(`cage: host and plugin on ${name}, limits by ${limits}`);
    const row = { runtime: name, unit: "ms", better: "lower" } as const;
    return [
      { ...row, case: CASE, ours, peers: peersOf(ours, others) },
      { ...row, case: FIRST_CASE, ours: first, peers: peersOf(first, others) },
    ];
  });
  const many = runtimes.map(({ name, file, args }): BenchRow => {
    say(`cage: many plugins of a host on ${name}`);
    const { ours = 0, ...others } = JSON.parse(run(file, [...args, MANY_HOST, "100", quick ? "1" : "3"])) as Record<
      string,
      number
    >;
    return { runtime: name, case: MANY_CASE, unit: "ms", better: "lower", ours, peers: peersOf(ours, others) };
  });
  const profile = runtimes.flatMap(({ name, file, args }): BenchRow[] => {
    say(`cage: profile by step on ${name}`);
    const steps = JSON.parse(run(file, [...args, PROFILE_HOST, quick ? "5" : "30"])) as Record<string, number>;
    return Object.entries(steps).map(([step, ours]) => (
      { runtime: name, case: `step: ${step}`, unit: "ms", better: "lower", ours, peers: {} }
    ));
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
    rows: [...rows, ...many, ...profile, ...hogs],
    control: controls[Math.floor(controls.length / 2)] ?? NaN,
    versions,
  };
}

/** Returns what `bench cage` should show. */
export function cageGoals({ rows }: BenchReport): Goal[] {
  const ratios = (name: string): Record<string, number> =>
    Object.fromEntries(rows.filter((row) => row.case === name).map((row) => [row.runtime, row.peers["uncaged"]!]));
  const { node, ...others } = ratios(CASE);
  const hogs = rows.filter((row) => row.case.startsWith(HOG_CASE));
  const latest = [...new Set(hogs.map(({ runtime }) => runtime))].map((name) => [
    name,
    Math.max(...hogs.filter(({ runtime }) => runtime === name).map(({ ours }) => ours)),
  ]);
  return [{
    text: `${CASE} on Node at most ${MOST.node} × the same program without a cage`,
    values: node === undefined ? {} : { node },
    isMet: (value) => value <= MOST.node,
  }, {
    text: `${CASE} on Bun and Deno at most ${MOST.others} × the same program without a cage`,
    values: others,
    isMet: (value) => value <= MOST.others,
  }, {
    text: `${MANY_CASE} at most ${MANY_MOST} × the same programs without cages`,
    values: ratios(MANY_CASE),
    isMet: (value) => value <= MANY_MOST,
  }, {
    text: "without control groups, a plugin ended at most 1000 ms after it took its 512 MiB",
    values: Object.fromEntries(latest),
    isMet: (value) => value <= 1000,
  }];
}
