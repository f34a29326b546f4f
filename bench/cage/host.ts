/**
 * One host of `bench cage`: starts a trivial plugin on its own runtime, caged by our supervisor and uncaged by a bare
 * host, in turns, and prints the best of each in milliseconds as JSON. Arguments: how many rounds.
 *
 * @module
 */
import process from "node:process";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createSupervisor } from "../../src/core/supervisor/supervisor.ts";
import { openBare } from "../wire/bare.ts";
import { createBenchFolders } from "../wire/bench_plugin.ts";

const rounds = Number(process.argv[2] ?? 10);
const runtime = await detectRuntime();
const folders = createBenchFolders(["js", "./main.mjs"], {
  "main.mjs": new URL("../wire/line_plugin.js", import.meta.url),
});
const supervisor = createSupervisor({ runtime, home: folders.home });
/** What the host puts between the runtime and a plugin's program. */
const flags = {
  node: [],
  bun: ["--config=/dev/null", "--no-env-file", "--no-install"],
  deno: ["run", "-A", "--quiet", "--no-lock"],
}[runtime.name];

try {
  const { instance, manifest } = await supervisor.register({ dir: folders.plugin });
  let limits = "";

  const ours = async (): Promise<number> => {
    const startMs = performance.now();
    await supervisor.start(instance);
    const tookMs = performance.now() - startMs;
    limits = supervisor.plugin(instance).cage?.limits.tier ?? "";
    await supervisor.stop(instance);
    return tookMs;
  };

  const uncaged = async (): Promise<number> => {
    const env = { HOME: folders.plugin, DENO_DIR: `${folders.home}/deno`, DENO_NO_UPDATE_CHECK: "1" };
    const startMs = performance.now();
    const host = openBare(runtime.executable, [...flags, "./main.mjs"], { cwd: folders.plugin, env });
    await host.call("initialize", {
      daemon_version: "0.1.0",
      api_version: 1,
      plugin_name: manifest.name,
      storage_available: false,
      projects: [],
    });
    await host.call("config.update", {});
    host.notify("initialized", {});
    const tookMs = performance.now() - startMs;
    const ended = new Promise((resolve) => host.child.once("exit", resolve));
    host.notify("shutdown", {});
    await ended;
    return tookMs;
  };

  const all: Record<string, number[]> = {};
  for (let round = 0; round <= rounds; round++) {
    for (const [name, run] of Object.entries({ ours, uncaged, "uncaged again": uncaged })) {
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
