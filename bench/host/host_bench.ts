/**
 * `bench host`: a tool call on the path a user takes, `session.callTool` with audit and gate on, beside the official MCP
 * SDK's `client.callTool` on the same server and beside the bare wire, on each runtime.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import type { Figures } from "../wire/call_cases.ts";
import { runtimeCommands } from "../wire/runtimes.ts";

const MEASURE: string = fileURLToPath(new URL("measure.ts", import.meta.url));
const [WIRE, UNGATED, BARE, CONTROL] = ["ours, plugin wire", "without the gate", "bare", "bare again"] as const;

/** Runs every case on every runtime. */
export function benchHost({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap(({ name: runtime, file, args }): BenchRow[] => {
    say(`host: on ${runtime}`);
    const rest = [...args, MEASURE, process.execPath, ...(quick ? ["8", "60"] : ["30", "200"])];
    const text = execFileSync(file, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return Object.entries(JSON.parse(text) as Record<string, Figures>).flatMap(([name, figures]) => {
      const { ours = NaN, [WIRE]: wire = NaN, [UNGATED]: ungated = NaN, ...peers } = figures;
      const shared = { runtime, unit: "calls/s", better: "higher" } as const;
      return [
        { ...shared, case: `MCP tool, ${name}`, ours, peers: ratios(ours, peers) },
        {
          ...shared,
          case: `plugin's tool, ${name}`,
          ours: wire,
          peers: ratios(wire, { ...peers, [UNGATED]: ungated }),
        },
      ];
    });
  });
  const controls = rows.map(({ peers }) => peers[BARE]! / peers[CONTROL]!).toSorted((a, b) => a - b);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "host", rows, control: controls[controls.length >> 1] ?? NaN, versions };
}

const ratios = (ours: number, peers: Figures): Figures =>
  Object.fromEntries(Object.entries(peers).map(([peer, rate]) => [peer, ours / rate]));

/** The gate's own cost; what a whole call should reach beside the SDK is written down and not yet a goal. */
export function hostGoals({ rows }: BenchReport): Goal[] {
  return [64, 512].map((inFlight) => ({
    text: `a tool through the gate at least 0.95 × the same call without it, ${inFlight} in flight`,
    values: Object.fromEntries(
      rows.filter((row) => row.case === `plugin's tool, ${inFlight} in flight`)
        .map(({ runtime, peers }) => [runtime, peers[UNGATED]!]),
    ),
    isMet: (value) => value >= 0.95,
  }));
}
