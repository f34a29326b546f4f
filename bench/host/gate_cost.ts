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

const CALLS_OF_A_ROUND = 5_000;

/**
 * Returns the processor time of a call in microseconds, by way. The ways take turns, each beginning a round in its turn;
 * those beside `ours` are given by the middle of their ratios to it within a round, which a machine that is busy for a
 * while does not move.
 */
export async function processorTimes(
  ways: Readonly<Record<"ours", Call> & Record<string, Call>>,
  inFlight: number,
  rounds: number,
): Promise<Figures> {
  const all = Object.entries(ways);
  const seen: Figures[] = [];
  for (const [, call] of all) await timeOf(call, inFlight); // Warm code.
  for (let round = 0; round < rounds; round++) {
    const times: Figures = {};
    for (const [name, call] of shuffled(all, round)) times[name] = await timeOf(call, inFlight);
    seen.push(times);
  }
  const ours = median(seen.map((times) => times["ours"]!));
  return Object.fromEntries(all.map(([name]) => {
    return [name, ours / median(seen.map((times) => times["ours"]! / times[name]!))];
  }));
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

/** Returns the items in another order for each seed: what one way leaves behind for the next to clean up is spread. */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const order = [...items];
  let state = (seed + 1) * 2_654_435_761;
  for (let at = order.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    const other = Math.floor(state / 2 ** 32 * (at + 1));
    [order[at], order[other]] = [order[other]!, order[at]!];
  }
  return order;
}
