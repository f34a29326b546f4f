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
import { denoVersion } from "./runtime.ts";

export type * from "../../core/ports/http.ts";
export type * from "../../core/ports/ports.ts";

// The cage is the permission system: Deno's own would only ask the same questions a second time.
const RUN: readonly string[] = ["run", "-A", "--quiet", "--no-lock"];
/** For programs that come with the host whole: nothing in a folder or on a registry changes how they run. */
const RUN_ALONE: readonly string[] = [...RUN, "--no-config", "--no-remote", "--no-npm"];

/** Deno, as the host uses it. Importing this module on another runtime throws a `TypeError`. */
export const runtime: Runtime = composeRuntime({
  name: "deno",
  version: denoVersion(),
  http: httpServers,
  // Twice as fast as the method of Buffer on Deno.
  indexOfNewline: (chunk, from) => chunk.indexOf(0x0a, from),
  scriptArgs: {
    // A cage keeps no compiled code from one start to the next: writing it would cost a third of the start.
    plugin: [...RUN, "--no-code-cache"],
    relay: [...RUN, "--no-config", "--no-code-cache"],
    storage: RUN_ALONE,
  },
  permissions: { files: kernelFiles(files, RUN_ALONE), missingPermissions },
});

// Deno opens a pipe for signals at the first process it starts, and panics where no descriptor is left for it. A
// listener opens that pipe now; SIGWINCH, because the system ignores that one by default, before and after.
const ignore = (): void => {};
process.on("SIGWINCH", ignore);
process.off("SIGWINCH", ignore);
