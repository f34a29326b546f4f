/**
 * `bench http`: a call of a caged plugin through the HTTP API, beside the same call in process and beside a route that
 * does nothing, on each runtime.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { runtimeCommands } from "../wire/runtimes.ts";

const HOST: string = fileURLToPath(new URL("host.ts", import.meta.url));
const [BARE, CONTROL, IN_PROCESS] = ["bare Hono route", "bare Hono route again", "in process"] as const;

/** Runs it whole. */
export function benchHttp({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap(({ name: runtime, file, args }): BenchRow[] => {
    say(`http: server on ${runtime}`);
    const rest = [...args, HOST, process.execPath, ...(quick ? ["2", "1"] : ["5", "3"])];
    const text = execFileSync(file, rest, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const { "over HTTP": ours = NaN, ...others } = JSON.parse(text) as Record<string, number>;
    const peers = Object.fromEntries(Object.entries(others).map(([peer, rate]) => [peer, ours / rate]));
    const shared = { runtime, unit: "calls/s", better: "higher" } as const;
    return [
      { ...shared, case: "call over HTTP", ours, peers },
      { ...shared, case: "call in process", ours: others[IN_PROCESS] ?? NaN, peers: {} },
      { ...shared, case: "bare Hono route", ours: others[BARE] ?? NaN, peers: {} },
    ];
  });
  // One thing measured twice: what lies between is noise.
  const controls = rows.flatMap(({ peers }) => CONTROL in peers ? [peers[CONTROL]! / peers[BARE]!] : []);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "http", rows, control: controls.toSorted((a, b) => a - b)[controls.length >> 1] ?? NaN, versions };
}

/** What is wanted of the figures. */
export function httpGoals({ rows }: BenchReport): Goal[] {
  const values = Object.fromEntries(
    rows.filter(({ peers }) => BARE in peers).map(({ runtime, peers }) => {
      // Ours ÷ a peer is the peer's time ÷ ours: the two together are the share of our time that cannot be had cheaper.
      return [runtime, 1 / (peers[BARE]! + peers[IN_PROCESS]!)];
    }),
  );
  return [{
    text: "time of a call over HTTP ÷ (a bare route + the call in process), at most 2",
    values,
    isMet: (value) => value <= 2,
  }];
}
