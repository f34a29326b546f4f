/**
 * `bench jobs`: jobs in a second for each store, beside the bare writes or the bare queue under it.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import type { Figures } from "./host.ts";

const HOST: string = fileURLToPath(new URL("host.ts", import.meta.url));

/** Runs it whole. */
export function benchJobs({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows: BenchRow[] = [];
  for (const { name, file, args } of runtimes) {
    say(`jobs: host on ${name}`);
    const rest = [...args, HOST, ...(quick ? ["1", "100"] : ["3", "500"])];
    const text = execFileSync(file, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    const figures = Object.entries(JSON.parse(text) as Record<string, Figures>);
    rows.push(...figures.map(([title, each]) => rowOf(name, title, each)));
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
  return [
    { text: "sqlite: at least 0.5 × its bare commits", values: ratio("sqlite", "bare sqlite"), isMet: (v) => v >= 0.5 },
    { text: "postgres: at least 0.3 × the bare queue", values: ratio("postgres", "pg-boss"), isMet: (v) => v >= 0.3 },
  ];
}

function rowOf(runtime: string, title: string, { ours = 0, ...others }: Figures): BenchRow {
  const peers = Object.fromEntries(Object.entries(others).map(([peer, figure]) => [peer, ours / figure]));
  return { runtime, case: title, unit: "jobs/s", better: "higher", ours, peers };
}
