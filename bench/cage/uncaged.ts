/**
 * The uncaged start of `bench cage`: the same program on the same runtime, started by a bare host that shakes hands as
 * ours does.
 *
 * @module
 */
import type { Runtime } from "../../src/core/ports/ports.ts";
import { openBare } from "../wire/bare.ts";
import type { BenchFolders } from "../wire/bench_plugin.ts";

/** The arguments between each runtime and the program. */
const FLAGS: Readonly<Record<Runtime["name"], readonly string[]>> = {
  node: [],
  bun: ["--config=/dev/null", "--no-env-file", "--no-install"],
  deno: ["run", "-A", "--quiet", "--no-lock"],
};

/** Starts `main.mjs` of the plugin's folder and shakes hands. Returns the function that ends it. */
export async function startUncaged(
  runtime: Runtime,
  folders: BenchFolders,
  flags: readonly string[] = FLAGS[runtime.name],
): Promise<() => Promise<void>> {
  const env = { HOME: folders.plugin, DENO_DIR: `${folders.home}/deno`, DENO_NO_UPDATE_CHECK: "1" };
  const host = openBare(runtime.executable, [...flags, "./main.mjs"], { cwd: folders.plugin, env });
  await host.call("initialize", {
    daemon_version: "0.1.0",
    api_version: 1,
    plugin_name: "bench-plugin",
    storage_available: false,
    projects: [],
  });
  await host.call("config.update", {});
  host.notify("initialized", {});
  return async () => {
    const ended = new Promise((resolve) => host.child.once("exit", resolve));
    host.notify("shutdown", {});
    await ended;
  };
}
