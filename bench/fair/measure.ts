/**
 * Calls one plugin again and again, one call after the other, while ten others are quiet and while they flood; prints the
 * times as JSON.
 *
 * Usage: measure.ts <node> <rounds> <seconds of each phase>
 *
 * @module
 */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createHost, type Host, type Session } from "../../mod.ts";
import { type BenchPlugin, hostPlaces } from "../host_places.ts";

/** Percentiles of the sibling's calls, in ms. */
export interface CallTimes {
  readonly calls: number;
  readonly median: number;
  readonly p99: number;
  readonly longest: number;
}

/** The figures of one run; `quiet` and `quietAgain` are the rounds before and after each flood. */
export interface FairFigures {
  readonly quiet: CallTimes;
  readonly quietAgain: CallTimes;
  readonly flooded: CallTimes;
  /** While another plugin has 5,000 calls on their way. */
  readonly crowded: CallTimes;
  /** Part of one processor that the host took during the floods. */
  readonly hostLoad: number;
  /** Floods that ended their plugin: lines that are no messages, and answers nobody asked for. */
  readonly ended: number;
}

const KINDS = [
  ...["notifications", "notifications", "progress", "requests", "unknown_requests"],
  ...["answers", "noise", "big_lines", "stderr", "stderr"],
];
const CROWD = 5_000;
const [node = "node", rounds = "3", seconds = "2"] = process.argv.slice(2);
const ECHO = "tools: [{ name: echo, description: Answers at once, parameters_schema: { type: object } }]\n";
const programAt = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const dir = realpathSync(mkdtempSync(join(tmpdir(), "kaged-fair-")));
try {
  console.log(JSON.stringify(await measure()));
} finally {
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);

async function measure(): Promise<FairFigures> {
  const flooders = KINDS.map((kind, at) => [`flooder-${at}`, kind] as const);
  const plugins: Record<string, BenchPlugin> = {
    wire: { program: programAt("../host/echo_server.js"), manifest: `capabilities: []\n${ECHO}` },
  };
  for (const [name, kind] of flooders) {
    const manifest = "capabilities: [kaged:storage:read]\nmethods: [flood.switch]\n";
    plugins[name] = { program: programAt("flooding_plugin.js"), args: [name, kind], manifest };
  }
  const host = await createHost(hostPlaces({ dir, id: "fair", node }, plugins));
  const { failed } = await host.start();
  if (failed.length > 0) throw failed[0]!.error;
  const session = host.openSession();
  let ended = 0;
  let isFlooding = false;
  const turn = (name: string, on: boolean): Promise<unknown> => host.callMethod(name, "flood.switch", { on });
  host.onAudit(({ type, name }) => {
    if (type === "plugin.flood") ended++;
    // One that was ended floods again as soon as it is back.
    if (type === "plugin.initialized" && isFlooding) void turn(name, true).catch(() => {});
  });
  const phaseMs = Number(seconds) * 1000;
  const [quiet, quietAgain, flooded, crowded]: [number[], number[], number[], number[]] = [[], [], [], []];
  let loadMs = 0;
  await callFor(phaseMs, session);
  for (let round = 0; round < Number(rounds); round++) {
    quiet.push(...await callFor(phaseMs, session));
    isFlooding = true;
    await Promise.all(flooders.map(([name]) => turn(name, true).catch(() => {})));
    const before = process.cpuUsage();
    flooded.push(...await callFor(phaseMs, session));
    const { user, system } = process.cpuUsage(before);
    loadMs += (user + system) / 1000;
    isFlooding = false;
    await Promise.all(flooders.map(([name]) => turn(name, false).catch(() => {})));
    await settled(host);
    quietAgain.push(...await callFor(phaseMs, session));
  }
  crowded.push(...await withCrowd(host, () => callFor(phaseMs, session)));
  await host.stop();
  return {
    quiet: timesOf(quiet),
    quietAgain: timesOf(quietAgain),
    flooded: timesOf(flooded),
    crowded: timesOf(crowded),
    hostLoad: loadMs / (Number(rounds) * phaseMs),
    ended,
  };
}

/** Calls the sibling for a while; returns how long each call took, in ms. */
async function callFor(ms: number, session: Session): Promise<number[]> {
  const times: number[] = [];
  const endMs = performance.now() + ms;
  for (let nowMs = performance.now(); nowMs < endMs;) {
    await session.callTool("wire.echo", {});
    const thenMs = performance.now();
    times.push(thenMs - nowMs);
    nowMs = thenMs;
  }
  return times;
}

/** Resolves when no plugin is about to start: the floods that ended one leave it waiting to come back. */
async function settled(host: Host): Promise<void> {
  for (let turn = 0; turn < 100; turn++) {
    if (host.plugins().every(({ state }) => state === "running" || state === "failed")) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Does `run` while another plugin always has thousands of calls on their way. */
async function withCrowd<T>(host: Host, run: () => Promise<T>): Promise<T> {
  let isOver = false;
  const one = async (): Promise<void> => {
    while (!isOver) await host.callMethod("flooder-0", "flood.switch", { on: false });
  };
  const crowd = Promise.all(Array.from({ length: CROWD }, one));
  try {
    return await run();
  } finally {
    isOver = true;
    await crowd;
  }
}

function timesOf(times: readonly number[]): CallTimes {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
  return { calls: sorted.length, median: at(0.5), p99: at(0.99), longest: sorted.at(-1) ?? NaN };
}
