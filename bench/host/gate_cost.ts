/**
 * What the walk through the gate costs: processor time of this process for a call with it and without it. Wall-clock
 * rates of one call differ more from round to round than the walk costs.
 *
 * @module
 */
import process from "node:process";
import type { Figures } from "../wire/call_cases.ts";

/** The way of calling that a call through the gate is put beside. */
export const UNGATED = "without the gate";

/** Everything one runtime measured: by case, then by way of calling. */
export interface HostFigures {
  /** Answers per second. */
  readonly rates: Readonly<Record<string, Figures>>;
  /** Microseconds of processor time that a call takes. */
  readonly processor: Readonly<Record<string, Figures>>;
}

/** One way of calling. */
type Call = () => Promise<unknown>;

const CALLS_OF_A_ROUND = 4_000;

/**
 * Returns the processor time of a call in microseconds, by way. The ways take turns, each beginning a round in its turn,
 * and the middle round of each counts.
 */
export async function processorTimes(
  ways: Readonly<Record<string, Call>>,
  inFlight: number,
  rounds: number,
): Promise<Figures> {
  const all = Object.entries(ways);
  const seen: Record<string, number[]> = {};
  for (const [, call] of all) await timeOf(call, inFlight); // Warm code.
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < all.length; turn++) {
      const [name, call] = all[(round + turn) % all.length]!;
      (seen[name] ??= []).push(await timeOf(call, inFlight));
    }
  }
  return Object.fromEntries(Object.entries(seen).map(([name, times]) => [name, median(times)]));
}

async function timeOf(call: Call, inFlight: number): Promise<number> {
  let left = CALLS_OF_A_ROUND;
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: inFlight }, async () => {
    while (left-- > 0) await call();
  }));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / CALLS_OF_A_ROUND;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
