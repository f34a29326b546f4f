/**
 * `bench mcp`: an MCP server in its cage, through a host and through `kaged mcp`, beside the official clients with the
 * same server uncaged: from nothing to the first list of tools, and calls per second, on each runtime.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import type { Figures } from "../wire/call_cases.ts";
import { runtimeCommands } from "../wire/runtimes.ts";
import type { McpFigures } from "./measure.ts";

const MEASURE: string = fileURLToPath(new URL("measure.ts", import.meta.url));
const ROOT: string = fileURLToPath(new URL("../../", import.meta.url));
const SERVER = "node_modules/@modelcontextprotocol/server-everything/dist/transports/stdio.js";
const [OURS, SERVED, SDK, CONTROL] = ["ours", "kaged mcp", "sdk 1", "sdk 1 again"] as const;

/** Runs every case on every runtime. */
export function benchMcp({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const dir = mkdtempSync(join(tmpdir(), "kaged-bench-"));
  try {
    const bundle = bundled(dir);
    const rows = runtimes.flatMap(({ name, file, args }): BenchRow[] => {
      say(`mcp: on ${name}`);
      const effort = quick ? ["2", "6", "60"] : ["6", "20", "200"];
      const rest = [...args, MEASURE, process.execPath, bundle, ...effort];
      const text = execFileSync(file, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
      return rowsOf(name, JSON.parse(text) as McpFigures);
    });
    const controls = rows.flatMap(({ peers: { [SDK]: once, [CONTROL]: again } }) => once && again ? [once / again] : [])
      .toSorted((a, b) => a - b);
    const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
    return { name: "mcp", rows, control: controls[controls.length >> 1] ?? NaN, versions };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The server in one file: a cage has no node_modules. */
function bundled(dir: string): string {
  const file = join(dir, "server.mjs");
  const args = [
    "build",
    join(ROOT, SERVER),
    "--target=node",
    "--format=esm",
    `--outfile=${file}`,
    "--config=/dev/null",
  ];
  execFileSync(join(ROOT, "node_modules/.bin/bun"), args, { cwd: ROOT, stdio: "ignore" });
  return file;
}

function rowsOf(runtime: string, { start, rates }: McpFigures): BenchRow[] {
  const both = (what: string, unit: string, better: BenchRow["better"], figures: Figures): BenchRow[] => {
    const { [OURS]: ours = NaN, [SERVED]: served = NaN, ...peers } = figures;
    return [
      { runtime, case: `${what}, host`, unit, better, ours, peers: ratios(ours, peers) },
      { runtime, case: `${what}, kaged mcp`, unit, better, ours: served, peers: ratios(served, peers) },
    ];
  };
  return [
    ...both("start to first tool list", "ms", "lower", start),
    ...Object.entries(rates).flatMap(([name, figures]) => both(`calls, ${name}`, "calls/s", "higher", figures)),
  ];
}

const ratios = (ours: number, peers: Figures): Figures =>
  Object.fromEntries(Object.entries(peers).map(([peer, figure]) => [peer, ours / figure]));

/** A host beside the client that it takes the place of; `kaged mcp` is one more process, and has no goal. */
export function mcpGoals({ rows }: BenchReport): Goal[] {
  const goal = (name: string, text: string, isMet: Goal["isMet"]): Goal => ({
    text,
    values: Object.fromEntries(
      rows.filter((row) => row.case === name).map(({ runtime, peers }) => [runtime, peers[SDK]!]),
    ),
    isMet,
  });
  return [
    goal(
      "start to first tool list, host",
      "a caged server lists its tools within 1.5 × the time of an uncaged one",
      (value) => value <= 1.5,
    ),
    goal(
      "calls, 64 in flight, host",
      "calls of a caged server at least 0.9 × as fast as the SDK's, 64 in flight",
      (value) => value >= 0.9,
    ),
  ];
}
