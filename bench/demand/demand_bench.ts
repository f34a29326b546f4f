/**
 * `bench demand`: a project of 1,000 plugins that start on demand beside the same project with 5, on each runtime: the
 * start of the host, the memory of an instance that rests, and its first call beside the start of a host with that one
 * plugin, eager.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import process from "node:process";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { type RuntimeCommand, runtimeCommands } from "../wire/runtimes.ts";

const START = "host.start(), 1,000 resting";
const CREATE = "createHost(), 1,000 declared";
const FIRST = "first call of a resting plugin";
const HEAP = "heap per resting instance";
const RSS = "resident memory per resting instance";
const CONTROL = "again";
const MANY = 200;
const INSTANCES = (MANY - 1) * 5;
const program = fileURLToPath(new URL("measure.ts", import.meta.url));

/** Figures of one runtime: what was measured → name → milliseconds. */
type Figures = Readonly<Record<"start" | "create" | "first", Readonly<Record<string, number>>>>;

export function benchDemand({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap((runtime) => {
    say(`demand: on ${runtime.name}`);
    return rowsOn(runtime, quick ? 5 : 15);
  });
  const controls = rows.flatMap(({ peers }) => CONTROL in peers ? [peers[CONTROL]!] : []);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "demand", rows, control: controls.toSorted((a, b) => a - b)[controls.length >> 1] ?? NaN, versions };
}

/** The bounds of the issue: twice the start of five, and 64 KiB for an instance that rests. */
export function demandGoals({ rows }: BenchReport): Goal[] {
  const values = (name: string, of: (row: BenchRow) => number): Record<string, number> =>
    Object.fromEntries(rows.filter((row) => row.case === name).map((row) => [row.runtime, of(row)]));
  return [
    {
      text: "host.start() with 1,000 resting plugins takes less than 2 × that with 5",
      values: values(START, ({ peers }) => peers["with 5"] ?? NaN),
      isMet: (value) => value < 2,
    },
    {
      text: "less than 64 KiB of heap per resting instance",
      values: values(HEAP, ({ ours }) => ours),
      isMet: (value) => value < 64,
    },
    {
      text: "less than 64 KiB of resident memory per resting instance",
      values: values(RSS, ({ ours }) => ours),
      isMet: (value) => value < 64,
    },
  ];
}

function rowsOn(runtime: RuntimeCommand, rounds: number): BenchRow[] {
  const { start, create, first } = run<Figures>(runtime, String(rounds), process.execPath);
  const row = (name: string, unit: string, ours: number, peers: Record<string, number> = {}): BenchRow => {
    const ratios = Object.fromEntries(Object.entries(peers).map(([peer, figure]) => [peer, ours / figure]));
    return { runtime: runtime.name, case: name, unit, better: "lower", ours, peers: ratios };
  };
  const few = heldBy(runtime, 1);
  const many = heldBy(runtime, MANY);
  const each = (kind: "heap" | "rss"): number => Math.max(0, (many[kind] - few[kind]) / INSTANCES);
  return [
    row(START, "ms", start["large"]!, { "with 5": start["small"]! }),
    row("host.start(), 5 resting", "ms", start["small"]!, { [CONTROL]: start["again"]! }),
    row(CREATE, "ms", create["large"]!, { "with 5": create["small"]! }),
    row(FIRST, "ms", first["first call"]!, { "eager start": first["eager start"]! }),
    row(HEAP, "KiB", each("heap")),
    row(RSS, "KiB", each("rss")),
  ];
}

/** KiB of a process that holds a project of so many agents; the least of three, as other use of memory only adds. */
function heldBy(runtime: RuntimeCommand, agents: number): { readonly heap: number; readonly rss: number } {
  const all = Array.from({ length: 3 }, () => {
    return run<{ heap: number; rss: number }>(runtime, "0", process.execPath, String(agents));
  });
  return { heap: Math.min(...all.map(({ heap }) => heap)), rss: Math.min(...all.map(({ rss }) => rss)) };
}

function run<T>({ file, args }: RuntimeCommand, ...given: readonly string[]): T {
  return JSON.parse(execFileSync(file, [...args, program, ...given], { encoding: "utf8" }));
}
