/**
 * The host's ports on Node.
 *
 * @example Starting from an explicit adapter
 * ```ts ignore
 * import { runtime } from "@kaged/plugin-host/node";
 * console.log(runtime.name, runtime.version);
 * ```
 *
 * @module
 */
import type { Runtime } from "../../core/ports/ports.ts";
import { composeRuntime } from "../shared/runtime.ts";
import { bytes } from "./bytes.ts";
import { httpServers } from "./http_server.ts";
import { nodeVersion } from "./runtime.ts";

export type * from "../../core/ports/http.ts";
export type * from "../../core/ports/ports.ts";

const version = nodeVersion();
if (version === null) throw new TypeError("This adapter is for Node: another runtime runs here");

/** Node, as the host uses it. */
export const runtime: Runtime = composeRuntime({ name: "node", version, bytes, http: httpServers });
