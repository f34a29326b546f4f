/**
 * Which plugins are MCP servers.
 *
 * @module
 */
import type { PluginProtocol } from "./manifest.ts";

/** Whether a plugin is an MCP server, whatever carries its messages: it says what it offers once it runs. */
export function speaksMcp({ runtime }: { readonly runtime?: PluginProtocol | undefined }): boolean {
  return runtime === "mcp_stdio" || runtime === "mcp_http";
}

/** Whether a plugin is a server elsewhere, so that nothing of it runs on this machine. */
export function isRemote({ runtime }: { readonly runtime?: PluginProtocol | undefined }): boolean {
  return runtime === "mcp_http";
}
