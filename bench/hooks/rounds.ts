/**
 * Rounds of several ways to do one thing, in turn; the best round of each counts.
 *
 * @module
 */

/** Does a thing `count` times and resolves when all of it is done. */
export type Repeat = (count: number) => Promise<void>;

/** How long to measure. */
export interface Effort {
  /** Rounds per case. */
  readonly rounds: number;
  /** Length of a round. */
  readonly roundMs: number;
}

const PARTS = 8;

/** Returns times per second for each way, by name. */
export async function timesPerSecond(
  ways: Readonly<Record<string, Repeat>>,
  effort: Effort,
): Promise<Record<string, number>> {
  const names = Object.keys(ways);
  const counts: Record<string, number> = {};
  const best: Record<string, number> = {};
  for (const name of names) {
    const { count, rate } = await warmUp(ways[name]!, effort.roundMs);
    counts[name] = count;
    best[name] = rate;
  }
  for (let round = 0; round < effort.rounds; round++) {
    // Each round starts with another one: none is always first after a pause.
    for (let turn = 0; turn < names.length; turn++) {
      const name = names[(round + turn) % names.length]!;
      best[name] = Math.max(best[name]!, await bestPart(ways[name]!, counts[name]!));
    }
  }
  return best;
}

/** Warms a way up with ever longer rounds; returns the rate of the last one, and how many times fill a round. */
async function warmUp(way: Repeat, roundMs: number): Promise<{ count: number; rate: number }> {
  for (let count = 1;; count *= 4) {
    // Of three, the best: a pause of the machine must not pass for a full round.
    const rate = Math.max(await rateOf(way, count), await rateOf(way, count), await rateOf(way, count));
    if (count / rate * 1000 > roundMs / 4) return { count: Math.max(1, Math.round(rate * roundMs / 1000)), rate };
  }
}

/** Does a round in parts, of which the best counts: what other programs take of the machine spoils some, and not all. */
async function bestPart(way: Repeat, count: number): Promise<number> {
  const parts = Math.min(PARTS, count);
  let best = 0;
  for (let part = 0; part < parts; part++) best = Math.max(best, await rateOf(way, Math.ceil(count / parts)));
  return best;
}

async function rateOf(way: Repeat, count: number): Promise<number> {
  const start = performance.now();
  await way(count);
  return count / Math.max(performance.now() - start, 0.001) * 1000;
}
