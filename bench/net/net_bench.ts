/**
 * `bench net`: requests through the gatekeeper, in an opaque tunnel and with a bound secret, beside a direct connection
 * and beside a plain CONNECT proxy, on each runtime. Client and server are processes of their own.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import type { Figures } from "./host.ts";

const HOST: string = fileURLToPath(new URL("host.ts", import.meta.url));
const PEERS = ["direct", "direct again", "plain proxy"];
const FIGURES = [
  { figure: "perSecond", title: "requests", unit: "requests/s", better: "higher" },
  { figure: "latencyMs", title: "a request", unit: "ms", better: "lower" },
  { figure: "firstMs", title: "the first request", unit: "ms", better: "lower" },
] as const;

/** Runs it whole. */
export function benchNet({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap(({ name: runtime, file, args }): BenchRow[] => {
    say(`net: gatekeeper on ${runtime}`);
    const rest = [...args, HOST, process.execPath, ...(quick ? ["2", "0.5"] : ["5", "2"])];
    const text = execFileSync(file, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    const best = JSON.parse(text) as Record<string, Figures>;
    return ["opaque", "bound"].flatMap((way) =>
      FIGURES.map(({ figure, title, unit, better }): BenchRow => {
        const ours = best[way]![figure];
        const peers = Object.fromEntries(PEERS.map((peer) => [peer, ours / best[peer]![figure]]));
        return { runtime, case: `${title}, ${way}`, unit, better, ours, peers };
      })
    );
  });
  const controls = rows.map(({ peers }) => peers["direct"]! / peers["direct again"]!).sort((a, b) => a - b);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "net", rows, control: controls[controls.length >> 1] ?? NaN, versions };
}

/** Returns what `bench net` should show. */
export function netGoals({ rows }: BenchReport): Goal[] {
  const ratios = (title: string): Record<string, number> =>
    Object.fromEntries(rows.filter((row) => row.case === title).map((row) => [row.runtime, row.peers["plain proxy"]!]));
  return [
    {
      text: "requests, opaque: at least half as many as through the plain proxy",
      values: ratios("requests, opaque"),
      isMet: (value) => value >= 0.5,
    },
    {
      text: "a request with a bound secret takes at most 3 × as long as through the plain proxy",
      values: ratios("a request, bound"),
      isMet: (value) => value <= 3,
    },
  ];
}
