/**
 * The host of a long run, on the runtime under test. Arguments: seconds to run, seconds between samples. Prints one line
 * of JSON for each sample; SIGINT and SIGTERM end it early and in order.
 *
 * @module
 */
import process from "node:process";
import { createHost } from "../../mod.ts";
import { detectRuntime } from "../../src/adapters/default.ts";
import { jsonlFile } from "../../src/core/audit/jsonl_file.ts";
import { layGround } from "./ground.ts";
import { startLoad } from "./load.ts";
import { childCount, measure } from "./measure.ts";

const PLUGINS = 10;
const [seconds = 600, periodSeconds = 10] = process.argv.slice(2).map(Number);
const ending = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => ending.abort());

const tell = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** Resolves after `ms`, or when the run is to end. */
function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    if (ending.signal.aborted || ms <= 0) return resolve();
    const timer = setTimeout(resolve, ms);
    ending.signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
  });
}

/** Resolves when no process comes or goes: those that were replaced or crashed take a moment to be gone. */
async function rest(): Promise<void> {
  let last = -1;
  for (let same = 0, turn = 0; same < 3 && turn < 50; turn++) {
    const now = childCount();
    same = now === last ? same + 1 : 0;
    last = now;
    await new Promise((go) => setTimeout(go, 50));
  }
}

const runtime = await detectRuntime();
using ground = layGround(PLUGINS);
const { files, clock } = runtime;
await files.makeDir(`${ground.home}/audit`, { recursive: true, mode: 0o700 });
// Small files: the run is to reach the size at which they are rotated, and go on from there.
const audit = jsonlFile({ path: `${ground.home}/audit/soak.jsonl`, files, clock, maxBytes: 256 * 1024, keep: 2 });
const { project, home, plugins } = ground;
const host = await createHost({ project, home, plugins, runtime, audit: [audit], control: false });
const { running, failed } = await host.start();
if (failed.length > 0) throw new Error(`Only ${running.length} plugins run: ${failed[0]?.error.message}`);
const load = startLoad(host, ground);
const startMs = performance.now();
const elapsed = (): number => (performance.now() - startMs) / 1000;
try {
  while (elapsed() < seconds && !ending.signal.aborted) {
    await wait(Math.min(periodSeconds, seconds - elapsed()) * 1000);
    await load.hold();
    await rest();
    tell({ t: elapsed(), figures: measure(ground.home), counts: load.counts });
    load.release();
  }
  load.release();
  await load.stop();
} finally {
  await host.stop();
}
tell({ done: true, isWhole: !ending.signal.aborted, counts: load.counts, failures: load.failures, left: childCount() });
