/**
 * A session of a host as an MCP server, for any MCP client; and the types of what MCP servers offer agents.
 *
 * @example The tools of an agent for a client in the same process
 * ```ts
 * import type { Session } from "@kaged/plugin-host";
 * import { mcpServer, type McpTransport } from "@kaged/plugin-host/mcp";
 *
 * export async function serve(session: Session, transport: McpTransport): Promise<void> {
 *   await mcpServer(session, { names: "short" }).connect(transport);
 * }
 * ```
 *
 * @module
 */
export { type McpHostServer, mcpServer, type McpServerOptions } from "./mcp_server.ts";
export type { NameStyle } from "./offered_names.ts";
export type { McpTransport } from "../core/mcp/sdk_types.ts";
export type { ClientSide, HostMcp, HostPrompt, HostResource, RequestOrigin } from "../host/mcp_types.ts";
export type { McpAuditData, McpUseAudit } from "../core/audit/mcp_events.ts";
export { CLIENT_OFFERS, MCP_LOG_LEVELS } from "../core/mcp/peer.ts";
export type {
  ClientOffer,
  McpCallOptions,
  McpCallPlace,
  McpDefinition,
  McpEvent,
  McpLogLevel,
  McpPeer,
  McpPrompt,
  McpResource,
  McpResourceTemplate,
  McpServerInfo,
  McpServerRequest,
} from "../core/mcp/peer.ts";
