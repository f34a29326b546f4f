/**
 * `bench cage`: what the cage adds to the start of a plugin, on each runtime. The uncaged start exists only here.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";

const HOST: string = fileURLToPath(new URL("host.ts", import.meta.url));
const CASE = "spawn to running";

/** Runs it whole. */
export function benchCage({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.map(({ name, file, args }): BenchRow => {
    const text = execFileSync(file, [...args, HOST, quick ? "12" : "60"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const { limits, best: { ours = 0, ...others } } = JSON.parse(text) as {
      limits: string;
      best: Record<string, number>;
    };
    say(`cage: host and plugin on ${name}, limits by ${limits}`);
    const peers = Object.fromEntries(Object.entries(others).map(([peer, figure]) => [peer, ours / figure]));
    return { runtime: name, case: CASE, unit: "ms", better: "lower", ours, peers };
  });
  const controls = rows.map(({ peers }) => peers["uncaged"]! / peers["uncaged again"]!).sort((a, b) => a - b);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "cage", rows, control: controls[Math.floor(controls.length / 2)] ?? NaN, versions };
}

/** Returns what `bench cage` should show. */
export function cageGoals({ rows }: BenchReport): Goal[] {
  const ratios = rows.filter(({ runtime }) => runtime !== "deno").map((row) => [row.runtime, row.peers["uncaged"]!]);
  return [{
    text: `${CASE} at most 1.4 × the same program without a cage`,
    values: Object.fromEntries(ratios),
    isMet: (value) => value <= 1.4,
  }];
}
