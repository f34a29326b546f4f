/**
 * Memory a host takes per idle plugin: a process of its own, which prints KiB per plugin: the growth of its resident
 * memory from so many running plugins to four times as many.
 *
 * Usage: memory_host.ts <ours|bare> <plugins>
 *
 * @module
 */
import process from "node:process";
import { detectRuntime } from "../../src/adapters/default.ts";
import { createSupervisor } from "../../src/core/supervisor/supervisor.ts";
import { openBare } from "./bare.ts";
import { createBenchFolders } from "./bench_plugin.ts";

const [which = "ours", count = "20"] = process.argv.slice(2);

// The plugin's own memory is not the host's: the smallest program that shakes hands will do.
const PLUGIN = `
while read -r line; do
  case "$line" in
    *'"id":'*) id=\${line#*'"id":'}; id=\${id%%[!0-9]*} ;;
    *'"shutdown"'*) exit 0 ;;
    *) continue ;;
  esac
  case "$line" in
    *'"initialize"'*) result='{"name":"bench-plugin","version":"1.0.0","api_version":1,"methods":["bench.small"],"notifications":[],"capabilities_used":[]}' ;;
    *) result='{"status":"ok"}' ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\\n' "$id" "$result"
done
`;

const runtime = await detectRuntime();
const folders = createBenchFolders(["bash", "main.sh"], { "main.sh": PLUGIN });
const stops: (() => unknown)[] = [];
const start = which === "ours" ? await ourStarter() : bareStarter;
try {
  // The first ones bring in code, caches and room in the heap that all later ones share.
  for (let warm = 0; warm < Number(count); warm++) stops.push(await start(`warm-${warm}`));
  const before = await settledKiB();
  const more = 3 * Number(count);
  for (let at = 0; at < more; at++) stops.push(await start(`plugin-${at}`));
  console.log(Math.max(0, (await settledKiB() - before) / more));
} finally {
  await Promise.all(stops.map((stop) => stop()));
  folders.remove();
}
process.exit(0);

function ourStarter() {
  const supervisor = createSupervisor({ runtime, home: folders.home });
  return async (instance: string): Promise<() => unknown> => {
    await supervisor.register({ dir: folders.plugin, instance });
    await supervisor.start(instance);
    return () => supervisor.stop(instance);
  };
}

async function bareStarter(): Promise<() => unknown> {
  const host = openBare("/bin/bash", [`${folders.plugin}/main.sh`]);
  await host.call("initialize", {});
  return () => host.child.kill();
}

/**
 * The resident memory once garbage is gone and its pages are given back. An ordinary collection keeps V8's young
 * generation as large as the starts have made it: one step of 16 MiB, at whichever plugin it comes, would hide the rest.
 */
async function settledKiB(): Promise<number> {
  const { gc, Bun } = globalThis as { gc?: (options: object) => void; Bun?: { gc(force: boolean): void } };
  for (let turn = 0; turn < 4; turn++) {
    if (Bun) Bun.gc(true);
    else gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
    await new Promise((resolve) => setTimeout(resolve, 100)); // Pages are given back behind.
  }
  return process.memoryUsage().rss / 1024;
}
