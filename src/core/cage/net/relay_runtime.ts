/**
 * The relay runs on the host's own runtime: the only program that is sure to exist on the machine.
 *
 * @module
 */
import type { Runtime } from "../../ports/ports.ts";
import type { RelayRuntime } from "./net_parts.ts";

/** Returns the relay's program and the command that starts it. */
export async function relayRuntime({ executable, scriptArgs, files, network }: Runtime): Promise<RelayRuntime> {
  const [path, program] = await Promise.all([files.realPath(executable), network.relayProgram()]);
  return { executable: path, args: scriptArgs.relay, program };
}
