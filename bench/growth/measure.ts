/**
 * Costs over numbers, on the runtime that runs this; printed as JSON. Usage: measure.ts <node> <most plugins that run> <rounds>
 *
 * @module
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { createHost, type Host, type HostOptions, type Session } from "../../mod.ts";
import { hostPlaces } from "../host_places.ts";

/** One figure at one number of things. */
export interface Point {
  readonly n: number;
  readonly value: number;
}

/** Series by name. */
export type Growth = Readonly<
  Record<"restingStart" | "restingCall" | "runningStart" | "open" | "call" | "memory", Point[]>
>;

const [node = process.execPath, mostRunning = "100", rounds = "3"] = process.argv.slice(2);
const PER_AGENT = 5;
const CALLS = 1_500;
const ECHO = "capabilities: []\n" +
  "tools: [{ name: echo, description: Answers at once, parameters_schema: { type: object } }]\n";
const program = fileURLToPath(new URL("../host/echo_server.js", import.meta.url));
let projects = 0;
const growth: Growth = { restingStart: [], restingCall: [], runningStart: [], open: [], call: [], memory: [] };
const root = realpathSync(mkdtempSync(join(tmpdir(), "kaged-growth-")));
try {
  for (const n of [10, 10, 100, 1_000]) await growResting(n);
  const running = [5, 10, 20, 50, 100].filter((one) => one <= Number(mostRunning));
  await runningStart(5); // The first start of all reads programs from the disk.
  for (const n of running) growth.runningStart.push({ n, value: await medianOf(() => runningStart(n)) });
  await growSessions([1, 10, 100, 1_000, 10_000]);
  growth.restingStart.shift(); // The first round has only warmed up.
  growth.restingCall.shift();
  console.log(JSON.stringify(growth));
} finally {
  rmSync(root, { recursive: true, force: true });
}
process.exit(0);

type Places = Required<Pick<HostOptions, "project" | "home" | "plugins">>;

function placesOf(id: string, plugins: readonly string[]): Places {
  const dir = join(root, id);
  mkdirSync(dir);
  return hostPlaces({ dir, id, node }, Object.fromEntries(plugins.map((name) => [name, { program, manifest: ECHO }])));
}

/** The start of a host with `n` declared plugins that all rest, and calls of one of them. */
async function growResting(n: number): Promise<void> {
  const id = `resting${++projects}`;
  const places = placesOf(id, ["wire", "part1", "part2", "part3", "part4"]);
  const declared = Object.fromEntries(
    Object.keys(places.plugins).map((pkg) => [pkg.slice("@bench/".length), { package: pkg, start: "on_demand" }]),
  );
  const agents = Array.from({ length: n / PER_AGENT - 1 }, (_, at) => [`agent${at}`, { plugins: declared }]);
  const primary = { plugins: declared, subagents: Object.fromEntries(agents) };
  writeFileSync(join(places.project, "project.yaml"), JSON.stringify({ id, primary }));
  const startMs: number[] = [];
  let calls = NaN;
  for (let round = 0; round < 5; round++) {
    const host = await createHost(places);
    const beganMs = performance.now();
    const { failed } = await host.start();
    startMs.push(performance.now() - beganMs);
    if (failed.length > 0) throw failed[0]!.error;
    if (round === 4) calls = await callTime(host.openSession());
    await host.stop();
  }
  growth.restingStart.push({ n, value: median(startMs) });
  growth.restingCall.push({ n, value: calls });
}

/** Starts `n` caged plugins at once. Returns the milliseconds for each. */
async function runningStart(n: number): Promise<number> {
  const names = Array.from({ length: n }, (_, at) => `agent${at}`);
  // The echo server says that its name is `wire`: every plugin is an instance of that one, in an agent of its own.
  const id = `running${++projects}`;
  const places = placesOf(id, ["wire"]);
  const plugins = { wire: { package: "@bench/wire" } };
  const primary = { plugins, subagents: Object.fromEntries(names.slice(1).map((name) => [name, { plugins }])) };
  writeFileSync(join(places.project, "project.yaml"), JSON.stringify({ id, primary }));
  const host = await createHost(places);
  const beganMs = performance.now();
  const { running, failed } = await host.start();
  const tookMs = performance.now() - beganMs;
  if (running.length !== n) throw failed[0]?.error ?? new Error(`${running.length} of ${n} run`);
  await host.stop();
  return tookMs / n;
}

async function medianOf(measure: () => Promise<number>): Promise<number> {
  const values: number[] = [];
  for (let round = 0; round < Number(rounds); round++) values.push(await measure());
  return median(values);
}

/** Opens more and more sessions; measures one more of them, a call in one of them, and the memory of each. */
async function growSessions(numbers: readonly number[]): Promise<void> {
  const host: Host = await createHost(placesOf("sessions", ["wire"]));
  await host.start();
  const first = host.openSession();
  await callTime(first);
  await callTime(first);
  const sessions: Session[] = [first];
  const emptyKib = usedKib();
  for (const n of numbers) {
    const fresh = Math.max(0, n - sessions.length);
    const beganMs = performance.now();
    for (let at = 0; at < fresh; at++) sessions.push(host.openSession());
    if (fresh >= 100) growth.open.push({ n, value: (performance.now() - beganMs) * 1000 / fresh });
    // Used ones: what a session makes with its first call counts too.
    for (let at = 0; at < sessions.length; at += 100) {
      await Promise.all(sessions.slice(at, at + 100).map((session) => session.callTool("wire.echo", {})));
    }
    if (n >= 1_000) growth.memory.push({ n, value: (usedKib() - emptyKib) / n });
    growth.call.push({ n, value: await callTime(sessions[n >> 1] ?? first) });
  }
  await host.stop();
}

/** Median of the time of a call, one after the other, in µs. */
async function callTime(session: Session): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const beganMs = performance.now();
    await session.callTool("wire.echo", {});
    times.push((performance.now() - beganMs) * 1000);
  }
  return median(times);
}

function usedKib(): number {
  const { gc, Bun } = globalThis as { gc?: () => void; Bun?: { gc(sync: boolean): void } };
  for (let round = 0; round < 3; round++) Bun ? Bun.gc(true) : gc?.();
  return process.memoryUsage().heapUsed / 1024;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
