/**
 * From spawn to running: our supervisor beside a bare host that starts the same command line in the same cage.
 *
 * @module
 */
import { detectRuntime } from "../../src/adapters/default.ts";
import { openCage } from "../../src/core/cage/open_cage.ts";
import { createSupervisor } from "../../src/core/supervisor/supervisor.ts";
import { openBare } from "./bare.ts";
import { createBenchFolders } from "./bench_plugin.ts";
import type { Figures } from "./call_cases.ts";

/** Measures starts in milliseconds, the best of `rounds` each. */
export async function measureSpawn(node: string, rounds: number): Promise<Figures> {
  const runtime = await detectRuntime();
  const folders = createBenchFolders(["node", "main.mjs"], { "main.mjs": new URL("line_plugin.js", import.meta.url) });
  const supervisor = createSupervisor({ runtime, home: folders.home, runtimes: { node } });
  try {
    const { manifest, instance } = await supervisor.register({ dir: folders.plugin });

    const ours = async (): Promise<number> => {
      const startMs = performance.now();
      await supervisor.start(instance);
      const tookMs = performance.now() - startMs;
      await supervisor.stop(instance);
      return tookMs;
    };

    const bare = async (): Promise<number> => {
      const places = { installDir: folders.plugin, home: folders.home, projectDir: null };
      const cage = await openCage({ manifest, places, logLevel: "info", runtimes: { node } }, runtime);
      const { file, args, cwd, env } = cage.command;
      const startMs = performance.now();
      const host = openBare(file, args, { cwd, env });
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
      await cage.close();
      return tookMs;
    };

    const best: Figures = {};
    for (let round = 0; round <= rounds; round++) {
      for (const [name, run] of Object.entries({ ours, bare, "bare again": bare })) {
        const tookMs = await run();
        if (round > 0) best[name] = Math.min(best[name] ?? Infinity, tookMs);
      }
    }
    return best;
  } finally {
    await supervisor.stopAll();
    folders.remove();
  }
}
