/**
 * What `bench wire` should show.
 *
 * @module
 */
import type { BenchReport, Goal } from "../report.ts";

/** Returns every goal with the values of `report`. */
export function wireGoals({ rows }: BenchReport): Goal[] {
  const ratio = (name: string, peer: string): Record<string, number> =>
    Object.fromEntries(
      rows.filter((row) => row.case === name && peer in row.peers).map((row) => [row.runtime, row.peers[peer]!]),
    );
  const figure = (name: string): Record<string, number> =>
    Object.fromEntries(rows.filter((row) => row.case === name).map((row) => [row.runtime, row.ours]));
  const [perMebibyte, perFour] = [figure("1 MiB results"), figure("4 MiB line")];
  const atLeast = (least: number) => (value: number): boolean => value >= least;
  const atMost = (most: number) => (value: number): boolean => value <= most;
  return [
    {
      text: "at least 1.0 × the bare limit at 512 in flight",
      values: ratio("512 in flight", "bare"),
      isMet: atLeast(1),
    },
    { text: "at least 0.9 × the bare limit one by one", values: ratio("sequential", "bare"), isMet: atLeast(0.9) },
    { text: "at least 4 × the MCP SDK at 512 in flight", values: ratio("512 in flight", "mcp-sdk"), isMet: atLeast(4) },
    {
      text: "4 MiB per byte at least as fast as 1 MiB",
      values: Object.fromEntries(Object.entries(perFour).map(([name, rate]) => [name, rate / perMebibyte[name]!])),
      isMet: atLeast(1),
    },
    {
      text: "spawn to running at most 1.1 × a bare host in the same cage",
      values: ratio("spawn to running", "bare"),
      isMet: atMost(1.1),
    },
    {
      text: "less than 150 KiB of the host for each idle plugin on Node and Bun",
      values: without(figure("memory per idle plugin"), "deno"),
      isMet: (value) => value < 150,
    },
    {
      text: "less than 100 KiB of the host for each idle plugin on Deno",
      values: without(figure("memory per idle plugin"), "node", "bun"),
      isMet: (value) => value < 100,
    },
    { text: "import of . at most 10 MiB over an empty program", values: figure("import of ."), isMet: atMost(10) },
  ];
}

function without(values: Record<string, number>, ...names: readonly string[]): Record<string, number> {
  return Object.fromEntries(Object.entries(values).filter(([name]) => !names.includes(name)));
}
