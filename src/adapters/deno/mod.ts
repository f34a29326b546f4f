/**
 * The host's ports on Deno.
 *
 * @example Starting from an explicit adapter
 * ```ts ignore
 * import { runtime } from "@kaged/plugin-host/deno";
 * console.log(runtime.name, runtime.version);
 * ```
 *
 * @module
 */
import process from "node:process";
import type { Runtime } from "../../core/ports/ports.ts";
import { files } from "../shared/files.ts";
import { composeRuntime } from "../shared/runtime.ts";
import { httpServers } from "./http_server.ts";
import { kernelFiles } from "../shared/kernel_files.ts";
import { missingPermissions } from "./permissions.ts";
import { SCRIPT_ARGS } from "../shared/script_programs.ts";
import { denoVersion, isDenoCompiled } from "./runtime.ts";

export type * from "../../core/ports/http.ts";
export type * from "../../core/ports/ports.ts";

/** Deno, as the host uses it. Importing this module on another runtime throws a `TypeError`. */
export const runtime: Runtime = composeRuntime({
  name: "deno",
  version: denoVersion(),
  http: httpServers,
  // Twice as fast as the method of Buffer on Deno.
  indexOfNewline: (chunk, from) => chunk.indexOf(0x0a, from),
  isCompiled: isDenoCompiled(),
  permissions: {
    // A compiled program cannot start the helper: it would start itself.
    files: isDenoCompiled() ? files : kernelFiles(files, SCRIPT_ARGS.deno.storage),
    missingPermissions,
  },
});

// Deno opens a pipe for signals at the first process it starts, and panics where no descriptor is left for it. A
// listener opens that pipe now; SIGWINCH, because the system ignores that one by default, before and after.
const ignore = (): void => {};
process.on("SIGWINCH", ignore);
process.off("SIGWINCH", ignore);
