/**
 * The supervisor as an embedder makes it: on the runtime the program runs on.
 *
 * @module
 */
import { detectRuntime } from "./adapters/default.ts";
import { checkHome, homeFolder } from "./core/files/home.ts";
import type { Runtime } from "./core/ports/ports.ts";
import type { Supervisor, SupervisorOptions } from "./core/supervisor/types.ts";

/** How a supervisor is set up; runtime and home have defaults. */
export interface CreateSupervisorOptions extends Omit<SupervisorOptions, "runtime" | "home"> {
  /** The runtime it stands on. Default: the one the program runs on. */
  readonly runtime?: Runtime;
  /** The operator's folder, absolute. Default: `$KAGED_HOME`, else `~/.local/share/kaged`. */
  readonly home?: string;
}

/**
 * Makes a supervisor: it starts, watches, restarts and stops plugins, each in a cage of its own.
 *
 * @example Run one plugin and call it
 * ```ts
 * import { createSupervisor } from "@kaged/plugin-host";
 *
 * await using supervisor = await createSupervisor();
 * const { instance } = await supervisor.register({ dir: "/opt/plugins/hello" });
 * await supervisor.start(instance);
 * console.log(await supervisor.call(instance, "hello.greet", { name: "Ada" }));
 * ```
 */
export async function createSupervisor(options: CreateSupervisorOptions = {}): Promise<Supervisor> {
  const runtime = options.runtime ?? await detectRuntime();
  const { createSupervisor: createOn } = await import("./core/supervisor/supervisor.ts");
  const home = homeFolder(options.home, runtime.env);
  await checkHome(home, runtime);
  return createOn({ ...options, runtime, home });
}
