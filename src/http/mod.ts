/**
 * The HTTP API of a host, served at an address or as a plain function from a request to its response.
 *
 * @example A host's API beside an agent loop of your own
 * ```ts ignore
 * import { createHost, detectRuntime } from "@kaged/plugin-host";
 * import { serveHost } from "@kaged/plugin-host/http";
 *
 * const runtime = await detectRuntime();
 * await using host = await createHost({ project: "./my-project", runtime });
 * const served = await serveHost({ host, runtime });
 * await host.start();
 * console.log(served.address);
 * ```
 *
 * @module
 */
export { type App, type AppOptions, createApp, type MountedApp } from "./create_app.ts";
export {
  type HonoApp,
  type JobRoutes,
  jobRoutes,
  type JobRoutesOptions,
  type Middleware,
  type RouteOperation,
} from "./job_app.ts";
export type { Problem } from "./problem.ts";
export { DEFAULT_PORT, type ServedHost, serveHost, type ServeOptions } from "./serve_host.ts";
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
} from "../core/ports/http.ts";
export type { ApprovalEvent, Approvals, DeskFigures, OnAsk } from "../core/approvals/desk_types.ts";
export type {
  Approval,
  ApprovalAnswer,
  ApprovalEnd,
  ApprovalQuery,
  ApprovalRequest,
  ApprovalScope,
  ApprovalSource,
  ApprovalState,
  ApprovalStore,
  StandingAnswer,
} from "../core/approvals/types.ts";
export type { Page, PageQuery } from "../core/values/page_of.ts";
export type { ApprovalAudit, ApprovalAuditData } from "../core/audit/approval_events.ts";
export type { PinAuditData } from "../core/audit/pin_events.ts";
export type { RestAuditData } from "../core/audit/rest_events.ts";
export type { TrailAuditData } from "../core/audit/trail_events.ts";
export type { QuarantinedTool } from "../core/pins/tool_diff.ts";
export type { DiffLine } from "../core/values/line_diff.ts";
export type { McpAuditData, McpUseAudit } from "../core/audit/mcp_events.ts";
export type { CompactionView, HostView, PluginUse, PluginView } from "../host/view_types.ts";
export type { CompactionRecord } from "../host/compaction_log.ts";
export { Feed, type FeedEntry, type FeedOptions, type FeedPlace } from "../core/values/feed.ts";
export type {
  AuditPlace,
  CompactionAuditData,
  ConsentAudit,
  InstalledAudit,
  Trail,
  VersionAudit,
} from "../core/audit/events.ts";
export type { CompactionAudit } from "../core/compaction/types.ts";
export type { StoredEvent, TrailPage, TrailQuery } from "../core/audit/read_trail.ts";
export type { TrailBreak, TrailVerdict } from "../core/audit/verify_trail.ts";
export type { SecretDescription } from "../packages/consent/describe_secret.ts";
export type { NetLimit } from "../core/cage/net/bound_secret.ts";
