/**
 * How fast calls go: rounds of each host in turn, the best round of each counts.
 *
 * @module
 */
import { implementations, type OpenHost } from "./implementations.ts";

/** Figures of one case, by implementation. */
export type Figures = Record<string, number>;

/** How long to measure. */
export interface Effort {
  /** Rounds per case. */
  readonly rounds: number;
  /** Length of a round. */
  readonly roundMs: number;
}

/** Calls of one method, so many at a time. */
export interface CallCase {
  readonly name: string;
  readonly method: string;
  readonly inFlight: number;
  /** MiB of one answer, for cases that are told in MiB/s. */
  readonly mebibytes?: number;
}

/** Every case, by name and unit. */
export const callCases: readonly CallCase[] = [
  { name: "sequential", method: "bench.small", inFlight: 1 },
  { name: "64 in flight", method: "bench.small", inFlight: 64 },
  { name: "512 in flight", method: "bench.small", inFlight: 512 },
  { name: "1 MiB results", method: "bench.mebibyte", inFlight: 1, mebibytes: 1 },
  { name: "4 MiB line", method: "bench.exact", inFlight: 1, mebibytes: 4 },
];

/** What the supervisor adds to the params of each call, beside arguments of the usual size. */
const params = {
  query: "notes about the quick brown fox",
  limit: 10,
  _context: {
    operator_id: "operator",
    project_id: "music",
    agent_path: "primary.subagents.researcher",
    session_id: "ses_01j9z3k7",
    request_id: "req_01j9z3k7qm",
  },
};

/** Measures every case with every host. */
export async function measureCalls(node: string, effort: Effort): Promise<Record<string, Figures>> {
  const hosts: [string, OpenHost][] = [];
  for (const [name, open] of Object.entries(implementations)) hosts.push([name, await open(node)]);
  try {
    const figures: Record<string, Figures> = {};
    for (const kase of callCases) figures[kase.name] = await measureCase(kase, hosts, effort);
    return figures;
  } finally {
    for (const [, host] of hosts) host.close();
  }
}

/** Measures one case: each host in turn, round by round; the best round of each counts. */
export async function measureCase(kase: CallCase, hosts: [string, OpenHost][], effort: Effort): Promise<Figures> {
  const best: Figures = {};
  const counts: Figures = {};
  const spentMs: Figures = {};
  const least = kase.mebibytes ? 1 : Math.max(kase.inFlight * 2, 100);
  for (const [name, host] of hosts) {
    // The second look is at warm code, and says how many calls make a round.
    await callsPerSecond(kase, host, least * 4);
    const rate = await callsPerSecond(kase, host, least);
    counts[name] = Math.max(least, Math.round(rate * effort.roundMs / 1000));
  }
  for (let round = 0; round < effort.rounds; round++) {
    // Each round starts with another host: none is always first after a pause.
    for (let turn = 0; turn < hosts.length; turn++) {
      const [name, host] = hosts[(round + turn) % hosts.length]!;
      // A host that takes far longer than its share has shown enough after a few rounds.
      if (round > 2 && spentMs[name]! > effort.rounds * effort.roundMs * 2) continue;
      const rate = await callsPerSecond(kase, host, counts[name]!);
      best[name] = Math.max(best[name] ?? 0, rate * (kase.mebibytes ?? 1));
      spentMs[name] = (spentMs[name] ?? 0) + counts[name]! / rate * 1000;
    }
  }
  return best;
}

async function callsPerSecond({ method, inFlight }: CallCase, host: OpenHost, count: number): Promise<number> {
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) await host.call(method, params);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, caller));
  return count / (performance.now() - start) * 1000;
}
