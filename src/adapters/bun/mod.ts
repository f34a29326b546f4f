/**
 * The host's ports on Bun.
 *
 * @example Starting from an explicit adapter
 * ```ts ignore
 * import { runtime } from "@kaged/plugin-host/bun";
 * console.log(runtime.name, runtime.version);
 * ```
 *
 * @module
 */
import type { Runtime } from "../../core/ports/ports.ts";
import { composeRuntime } from "../shared/runtime.ts";
import { bytes } from "./bytes.ts";
import { httpServers } from "./http_server.ts";
import { bunVersion } from "./runtime.ts";

export type * from "../../core/ports/http.ts";
export type * from "../../core/ports/ports.ts";

const version = bunVersion();
if (version === null) throw new TypeError("This adapter is for Bun: another runtime runs here");

/** Bun, as the host uses it. */
export const runtime: Runtime = composeRuntime({ name: "bun", version, bytes, http: httpServers });
