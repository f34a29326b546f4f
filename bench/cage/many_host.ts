/**
 * One host of `bench cage`: starts many plugins at once on its own runtime, caged by our supervisor and uncaged by bare
 * hosts, in turns, and prints the best milliseconds per plugin of each as JSON. Arguments: how many plugins, how many
 * rounds.
 *
 * @module
 */
import process from "node:process";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createSupervisor } from "../../src/core/supervisor/supervisor.ts";
import { createBenchFolders } from "../wire/bench_plugin.ts";
import { startUncaged } from "./uncaged.ts";

const [count = 100, rounds = 2] = process.argv.slice(2).map(Number);
const runtime = await detectRuntime();
const folders = createBenchFolders(["js", "./main.mjs"], {
  "main.mjs": new URL("../wire/line_plugin.js", import.meta.url),
});
const supervisor = createSupervisor({ runtime, home: folders.home });
const instances = Array.from({ length: count }, (_, at) => `bench-${at}`);

async function caged(): Promise<number> {
  const startMs = performance.now();
  const { failed } = await supervisor.startAll();
  const tookMs = performance.now() - startMs;
  for (const { error } of failed) throw error;
  await Promise.all(instances.map((instance) => supervisor.stop(instance)));
  return tookMs / count;
}

async function uncaged(): Promise<number> {
  const startMs = performance.now();
  const stops = await Promise.all(instances.map(() => startUncaged(runtime, folders)));
  const tookMs = performance.now() - startMs;
  await Promise.all(stops.map((stop) => stop()));
  return tookMs / count;
}

try {
  for (const instance of instances) await supervisor.register({ dir: folders.plugin, instance });
  await uncaged(); // Warms the disk.
  const best: Record<string, number> = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, run] of Object.entries({ ours: caged, uncaged, "uncaged again": uncaged })) {
      best[name] = Math.min(best[name] ?? Infinity, await run());
    }
  }
  console.log(JSON.stringify(best));
} finally {
  await supervisor.stopAll();
  folders.remove();
}
process.exit(0);
