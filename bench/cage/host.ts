/**
 * One host of `bench cage`: starts a trivial plugin on its own runtime, caged by our supervisor and uncaged by a bare
 * host, in turns, and prints the best of each in milliseconds as JSON. Another plugin runs meanwhile, as in any host that
 * is up: its cage keeps a launcher waiting. Arguments: how many rounds.
 *
 * @module
 */
import process from "node:process";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createSupervisor } from "../../src/core/supervisor/supervisor.ts";
import { createBenchFolders } from "../wire/bench_plugin.ts";
import { startUncaged } from "./uncaged.ts";

const rounds = Number(process.argv[2] ?? 10);
const runtime = await detectRuntime();
const folders = createBenchFolders(["js", "./main.mjs"], {
  "main.mjs": new URL("../wire/line_plugin.js", import.meta.url),
});
const supervisor = createSupervisor({ runtime, home: folders.home });
try {
  const { instance } = await supervisor.register({ dir: folders.plugin });
  await supervisor.register({ dir: folders.plugin, instance: "beside" });
  await supervisor.start("beside");
  let limits = "";

  const ours = async (): Promise<number> => {
    const startMs = performance.now();
    await supervisor.start(instance);
    const tookMs = performance.now() - startMs;
    limits = supervisor.plugin(instance).cage?.limits.tier ?? "";
    await supervisor.stop(instance);
    return tookMs;
  };

  const first = async (): Promise<number> => {
    await supervisor.stop("beside");
    const tookMs = await ours();
    await supervisor.start("beside");
    return tookMs;
  };

  const uncaged = async (args?: readonly string[]): Promise<number> => {
    const startMs = performance.now();
    const stop = await startUncaged(runtime, folders, args);
    const tookMs = performance.now() - startMs;
    await stop();
    return tookMs;
  };
  const { args } = await runtime.scripts();
  const cases = {
    ours,
    first,
    uncaged,
    "uncaged again": uncaged,
    // On Deno the cage goes without the cache of compiled code, which would have to outlive a start.
    "uncaged, same flags": () => uncaged(args.plugin),
  };

  const all: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries(cases)) {
      const tookMs = await run();
      if (round > 0) (all[name] ??= []).push(tookMs); // The first one warms the disk.
    }
  }
  const best = Object.fromEntries(Object.entries(all).map(([name, times]) => [name, Math.min(...times)]));
  console.log(JSON.stringify({ limits, best }));
} finally {
  await supervisor.stopAll();
  folders.remove();
}
