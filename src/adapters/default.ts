/**
 * Finds the runtime this program runs on.
 *
 * @module
 */
import type { Runtime } from "../core/ports/ports.ts";
import { bunVersion } from "./bun/runtime.ts";
import { denoVersion } from "./deno/runtime.ts";

/** Returns the ports of the runtime this program runs on; only its adapter is loaded. */
export async function detectRuntime(): Promise<Runtime> {
  // Node comes last: the other two also answer to its name. The paths are literals so that bundlers see them.
  if (denoVersion()) return (await import("./deno/mod.ts")).runtime;
  if (bunVersion()) return (await import("./bun/mod.ts")).runtime;
  return (await import("./node/mod.ts")).runtime;
}
