/**
 * The relay and the runtime it runs on: the host's own, which is the one program that is surely there.
 *
 * @module
 */
import type { Runtime } from "../../ports/ports.ts";
import type { RelayRuntime } from "./net_parts.ts";

/** How each starts a program with all permissions and without a look at the plugin's settings. */
const ARGS: Readonly<Record<Runtime["name"], readonly string[]>> = {
  // One thread of V8's less to count against the limit of the cage for each left out.
  node: ["--v8-pool-size=1"],
  bun: ["--config=/dev/null", "--no-env-file", "--no-install"],
  deno: ["run", "-A", "--quiet", "--no-lock", "--no-config", "--no-code-cache"],
};

/** Returns the relay with the runtime for it. */
export async function relayRuntime({ name, executable, files, network }: Runtime): Promise<RelayRuntime> {
  const [path, program] = await Promise.all([files.realPath(executable), network.relayProgram()]);
  return { executable: path, args: ARGS[name], program };
}
