/**
 * The relay runs on the program that starts JavaScript files: the only one that is sure to exist on the machine.
 *
 * @module
 */
import type { Runtime } from "../../ports/ports.ts";
import type { RelayRuntime } from "./net_parts.ts";

/** Returns the relay's program and the command that starts it; `js` is the path that the operator named, if any. */
export async function relayRuntime({ scripts, files, network }: Runtime, js?: string): Promise<RelayRuntime> {
  const [{ executable, args, env }, program] = await Promise.all([scripts(js), network.relayProgram()]);
  return { executable: await files.realPath(executable), args: args.relay, env, program };
}
