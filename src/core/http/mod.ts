/**
 * The HTTP API: one function from a request to its response.
 *
 * @example A host's API in a server of your own
 * ```ts ignore
 * import { createHost, detectRuntime } from "@kaged/plugin-host";
 * import { createApp, readToken } from "@kaged/plugin-host/http";
 *
 * const runtime = await detectRuntime();
 * await using host = await createHost({ project: "./my-project", runtime });
 * await host.start();
 * const app = createApp({ host, token: await readToken(host.view.home, runtime) });
 * await runtime.http.listen({ at: { hostname: "127.0.0.1", port: 4717 }, handler: app.fetch });
 * ```
 *
 * @module
 */
export { type App, type AppOptions, createApp, type MountedApp } from "./create_app.ts";
export { type JobRoutes, jobRoutes, type JobRoutesOptions } from "./job_routes.ts";
export type { Problem } from "./problem.ts";
export { readToken } from "./token.ts";
export type {
  HttpConnection,
  HttpHandler,
  HttpListenOptions,
  HttpServer,
  HttpServers,
  ListenAddress,
  WebSocketPeer,
  WebSocketUpgrade,
} from "../http_port.ts";
