/**
 * `bench storage`: what a storage call costs beside the same prepared statement, and beside a ping.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import type { Figures } from "./engine_case.ts";

const HOST: string = fileURLToPath(new URL("host.ts", import.meta.url));

/** Runs it whole. */
export function benchStorage({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows: BenchRow[] = [];
  for (const { name, file, args } of runtimes) {
    say(`storage: host on ${name}`);
    const rest = [...args, HOST, process.execPath, quick ? "6" : "30"];
    const text = execFileSync(file, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    rows.push(
      ...Object.entries(JSON.parse(text) as Record<string, Figures>).map(([title, figures]) =>
        rowOf(name, title, figures)
      ),
    );
  }
  const controls = rows.flatMap(({ peers }) =>
    ["direct", "ping"].flatMap((peer) => peer in peers ? [peers[peer]! / peers[`${peer} again`]!] : [])
  );
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "storage", rows, control: median(controls), versions };
}

/** Returns what `bench storage` should show. */
export function storageGoals({ rows }: BenchReport): Goal[] {
  const ratio = (title: string, peer: string): Record<string, number> =>
    Object.fromEntries(
      rows.filter((row) => row.case === title && peer in row.peers).map((row) => [row.runtime, row.peers[peer]!]),
    );
  const atMost = (most: number) => (value: number): boolean => value <= most;
  return [
    ...["point select", "100-row select", "insert"].map((title) => ({
      text: `${title}: the engine at most 1.3 × the prepared statement`,
      values: ratio(title, "direct"),
      isMet: atMost(1.3),
    })),
    ...([["plugin: select", 2.2], ["plugin: insert", 2.5], ["plugin: row of a batch of 100", 1]] as const).map(
      ([title, most]) => ({
        text: `${title}: at most ${most} × a ping`,
        values: ratio(title, "ping"),
        isMet: atMost(most),
      }),
    ),
  ];
}

function rowOf(runtime: string, title: string, { ours = 0, ...others }: Figures): BenchRow {
  const peers = Object.fromEntries(Object.entries(others).map(([peer, figure]) => [peer, ours / figure]));
  return { runtime, case: title, unit: "µs", better: "lower", ours, peers };
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}
