/**
 * `bench hooks`: chains of handlers and events to subscribers beside other hook libraries, command hooks beside a plain
 * spawn, and reading projects and manifests, on each runtime.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { BenchOptions, BenchReport, BenchRow, Goal } from "../report.ts";
import { type RuntimeCommand, runtimeCommands } from "../wire/runtimes.ts";

const CONTROL = "bare again";
const program = fileURLToPath(new URL("measure.ts", import.meta.url));

/** Runs it whole. */
export default function benchHooks({ quick, say }: BenchOptions): BenchReport {
  const runtimes = runtimeCommands();
  const rows = runtimes.flatMap((runtime) => {
    say(`hooks: on ${runtime.name}`);
    return rowsOn(runtime, quick ? ["2", "20"] : ["12", "120"]);
  });
  // Two measurements of one thing: what lies between them is noise.
  const controls = rows.flatMap(({ peers }) => CONTROL in peers ? [peers["bare"]! / peers[CONTROL]!] : []);
  const versions = Object.fromEntries(runtimes.map(({ name, version }) => [name, version]));
  return { name: "hooks", rows, control: controls.toSorted((a, b) => a - b)[controls.length >> 1] ?? NaN, versions };
}

/** What is wanted of the figures. */
export function hooksGoals({ rows }: BenchReport): Goal[] {
  const worst = (wanted: RegExp, peer: string, worse: (...values: number[]) => number): Record<string, number> => {
    const values: Record<string, number> = {};
    for (const { runtime, case: name, peers } of rows) {
      if (wanted.test(name) && peer in peers) values[runtime] = worse(values[runtime] ?? peers[peer]!, peers[peer]!);
    }
    return values;
  };
  const nearlyEven = (value: number): boolean => value >= 0.9;
  const even = (value: number): boolean => value >= 1;
  return [
    ...["1 sync", "1 async"].map((chain) => ({
      text: `a chain of ${chain} ÷ a bare loop that makes the same frozen copy, at least 0.9`,
      values: worst(new RegExp(`^chain of ${chain}$`), "bare, frozen copy", Math.min),
      isMet: nearlyEven,
    })),
    ...["1 sync", "5 sync", "20 sync", "1 async", "5 async", "20 async"].map((chain) => ({
      text: `a chain of ${chain} ÷ a bare \`for await\`, at least 0.9`,
      values: worst(new RegExp(`^chain of ${chain}$`), "for await", Math.min),
      isMet: nearlyEven,
    })),
    {
      text: "chains with a copy each ÷ a bare `for await`, at least 0.9",
      values: worst(/^chain of .* copy/, "for await", Math.min),
      isMet: nearlyEven,
    },
    {
      text: "events with a copy each ÷ hookable, at least 1",
      values: worst(/^event .*copy/, "hookable", Math.min),
      isMet: even,
    },
    {
      text: "events with a copy each ÷ tapable, at least 1",
      values: worst(/^event .*copy/, "tapable", Math.min),
      isMet: even,
    },
    {
      text: "reading and checking ÷ the YAML library alone, at most 3",
      values: worst(/resolve|validate/, "yaml alone", Math.max),
      isMet: (value) => value <= 3,
    },
  ];
}

function rowsOn({ name: runtime, file, args }: RuntimeCommand, effort: readonly string[]): BenchRow[] {
  const output = execFileSync(file, [...args, program, ...effort], { encoding: "utf8" });
  const figures: Record<string, Record<string, number>> = JSON.parse(output);
  return Object.entries(figures).map(([name, { ours = NaN, ...others }]) => {
    const isRate = name.startsWith("event to") || name.startsWith("chain of");
    const peers = Object.fromEntries(Object.entries(others).map(([peer, figure]) => [peer, ours / figure]));
    return { runtime, case: name, unit: isRate ? "events/s" : "ms", better: isRate ? "higher" : "lower", ours, peers };
  });
}
