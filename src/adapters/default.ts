/**
 * Finds the runtime this program runs on.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Runtime } from "../core/ports/ports.ts";
import { bunVersion } from "./bun/runtime.ts";
import { denoVersion } from "./deno/runtime.ts";
import { oldRuntime } from "./runtime_floor.ts";

/**
 * Returns the ports of the runtime this program runs on; only its adapter is loaded.
 *
 * @throws {HostError} `host.runtime_old`.
 */
export async function detectRuntime(): Promise<Runtime> {
  const old = oldRuntime("@kaged/plugin-host");
  if (old !== null) throw new HostError("host.runtime_old", old, { hint: "Install a newer one, then run this again" });
  // Node comes last: the other two also answer to its name. The paths are literals so that bundlers see them.
  if (denoVersion()) return (await import("./deno/mod.ts")).runtime;
  if (bunVersion()) return (await import("./bun/mod.ts")).runtime;
  return (await import("./node/mod.ts")).runtime;
}
