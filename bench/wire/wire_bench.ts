/**
 * `bench wire`: ours beside the bare limit and other hosts, on each runtime, with a plugin on Node.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow } from "../report.ts";
import { callCases, type Figures } from "./call_cases.ts";
import { measureImport } from "./import_case.ts";
import { type RuntimeCommand, runtimeCommands } from "./runtimes.ts";

const CONTROL = "bare again";
const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Runs it whole. */
export function benchWire({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows: BenchRow[] = [];
  for (const runtime of runtimes) {
    say(`wire: host on ${runtime.name}`);
    rows.push(...hostRows(runtime, quick), memoryRow(runtime));
  }
  say("wire: import");
  for (const [runtime, { mebibytes, ms, emptyModule, withHost }] of measureImport(runtimes, quick ? 2 : 7)) {
    const row = { runtime, better: "lower", peers: {} } as const;
    const memory = { ...row, unit: "MiB over an empty program" } as const;
    rows.push({ ...memory, case: "import of .", ours: mebibytes });
    rows.push({ ...memory, case: "import of an empty module", ours: emptyModule });
    rows.push({ ...memory, case: "import of . and a host", ours: withHost });
    rows.push({ ...row, case: "cold import of .", unit: "ms", ours: ms });
  }
  // Two measurements of one thing: what lies between them is noise.
  const controls = rows.flatMap(({ peers }) => CONTROL in peers ? [peers["bare"]! / peers[CONTROL]!] : []);
  return { name: "wire", rows, control: median(controls), versions: versionsOf(runtimes) };
}

function hostRows(runtime: RuntimeCommand, quick: boolean): BenchRow[] {
  const effort = quick ? ["10", "12", "4"] : ["60", "25", "20"];
  const figures: Record<string, Figures> = JSON.parse(run(runtime, "host.ts", [process.execPath, ...effort]));
  return Object.entries(figures).map(([name, byHost]) => {
    const mebibytes = callCases.find((kase) => kase.name === name)?.mebibytes;
    const unit = name === "spawn to running" ? "ms" : mebibytes ? "MiB/s" : "calls/s";
    return { runtime: runtime.name, case: name, unit, better: unit === "ms" ? "lower" : "higher", ...ratios(byHost) };
  });
}

function memoryRow(runtime: RuntimeCommand): BenchRow {
  const kib = (which: string): number => Number(run(runtime, "memory_host.ts", [which, "40"]));
  const figures = ratios({ ours: kib("ours"), bare: kib("bare") });
  return { runtime: runtime.name, case: "memory per idle plugin", unit: "KiB", better: "lower", ...figures };
}

function ratios({ ours = 0, ...others }: Figures): Pick<BenchRow, "ours" | "peers"> {
  // Too small to measure is no number to divide by.
  const measured = Object.entries(others).filter(([, figure]) => figure > 0);
  const pairs = measured.map(([peer, figure]) => [peer, ours / figure]);
  return { ours, peers: Object.fromEntries(pairs) };
}

function run({ file, args }: RuntimeCommand, program: string, rest: readonly string[]): string {
  // What a peer writes to stderr (warnings about its listeners) is its own affair.
  const stdio: ["ignore", "pipe", "ignore"] = ["ignore", "pipe", "ignore"];
  return execFileSync(file, [...args, script(program), ...rest], { encoding: "utf8", stdio });
}

function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

function versionsOf(runtimes: readonly RuntimeCommand[]): Record<string, string> {
  return Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
}
