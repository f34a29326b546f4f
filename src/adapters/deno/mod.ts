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
import type { Runtime } from "../../core/ports/ports.ts";
import { composeRuntime } from "../shared/runtime.ts";
import { bytes } from "./bytes.ts";
import { httpServers } from "./http_server.ts";
import { denoVersion } from "./runtime.ts";

export type * from "../../core/ports/http.ts";
export type * from "../../core/ports/ports.ts";

const version = denoVersion();
if (version === null) throw new TypeError("This adapter is for Deno: another runtime runs here");

/** Deno, as the host uses it. */
export const runtime: Runtime = composeRuntime({ name: "deno", version, bytes, http: httpServers });
