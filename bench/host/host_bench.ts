/**
 * `bench host`: a tool call on the path a user takes, `session.callTool` with audit and gate on, beside the official MCP
 * SDK's `client.callTool`, once on the same server and once on an echo tool of the SDK's own, and beside the bare wire, on
 * each runtime.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import type { Figures } from "../wire/call_cases.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import { type HostFigures, UNGATED } from "./gate_cost.ts";

const MEASURE: string = fileURLToPath(new URL("measure.ts", import.meta.url));
const [WIRE, MADE] = ["ours, plugin wire", "ours, SDK plugin"] as const;
const [BARE, CONTROL, SDK, SDK_PAIR] = ["bare", "bare again", "mcp-sdk", "mcp-sdk, its own server"] as const;

/** Runs every case on every runtime. */
export function benchHost({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap(({ name, file, args }): BenchRow[] => {
    say(`host: on ${name}`);
    const rest = [...args, MEASURE, process.execPath, ...(quick ? ["8", "50", "30"] : ["30", "200", "300"])];
    const text = execFileSync(file, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    return rowsOf(name, JSON.parse(text) as HostFigures);
  });
  const controls = rows.flatMap(({ peers: { [BARE]: once, [CONTROL]: again } }) => once && again ? [once / again] : [])
    .toSorted((a, b) => a - b);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "host", rows, control: controls[controls.length >> 1] ?? NaN, versions };
}

function rowsOf(runtime: string, { rates, processor }: HostFigures): BenchRow[] {
  const rate = { runtime, unit: "calls/s", better: "higher" } as const;
  return [
    ...Object.entries(rates).flatMap((
      [name, { ours = NaN, [WIRE]: wire = NaN, [MADE]: made = NaN, ...peers }],
    ): BenchRow[] => [
      { ...rate, case: `MCP tool, ${name}`, ours, peers: ratios(ours, peers) },
      { ...rate, case: `plugin's tool, ${name}`, ours: wire, peers: ratios(wire, peers) },
      { ...rate, case: `tool of a plugin by our SDK, ${name}`, ours: made, peers: ratios(made, peers) },
    ]),
    ...Object.entries(processor).map(([name, { ours = NaN, ...peers }]): BenchRow => ({
      ...{ runtime, unit: "µs", better: "lower", ours, peers: ratios(ours, peers) },
      case: `processor time of a call, ${name}`,
    })),
  ];
}

const ratios = (ours: number, peers: Figures): Figures =>
  Object.fromEntries(Object.entries(peers).map(([peer, figure]) => [peer, ours / figure]));

/** The least that a plugin's tool should reach beside each peer, by calls in flight. */
const LEAST: readonly { readonly inFlight: number; readonly peer: string; readonly ratio: number }[] = [
  { inFlight: 512, peer: BARE, ratio: 0.6 },
  { inFlight: 64, peer: BARE, ratio: 0.5 },
  ...[SDK_PAIR, SDK].flatMap((peer) => [
    { inFlight: 512, peer, ratio: 3.5 },
    { inFlight: 64, peer, ratio: 2.5 },
    { inFlight: 1, peer, ratio: 1.2 },
  ]),
];

/** A whole call beside the bare wire and the SDK, and the gate's own cost. */
export function hostGoals(report: BenchReport): Goal[] {
  return [...LEAST.map((least) => callGoal(report, least)), ...gateGoals(report)];
}

function callGoal({ rows }: BenchReport, { inFlight, peer, ratio }: (typeof LEAST)[number]): Goal {
  const named = rows.filter((row) => row.case === `plugin's tool, ${inFlight} in flight`);
  return {
    text: `a call of a plugin's tool at least ${ratio} × ${peer}, ${inFlight} in flight`,
    values: Object.fromEntries(named.map(({ runtime, peers }) => [runtime, peers[peer]!])),
    isMet: (value) => value >= ratio,
  };
}

function gateGoals({ rows }: BenchReport): Goal[] {
  return [64, 512].map((inFlight) => ({
    text: `a call through the gate at most 1.05 × the processor time of one without it, ${inFlight} in flight`,
    values: Object.fromEntries(
      rows.filter((row) => row.case === `processor time of a call, ${inFlight} in flight`)
        .map(({ runtime, peers }) => [runtime, peers[UNGATED]!]),
    ),
    isMet: (value) => value <= 1.05,
  }));
}
