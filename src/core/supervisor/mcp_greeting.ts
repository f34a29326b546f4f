/**
 * The first words to an MCP server, in the way of its era.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { legacyConversation, type McpConversation } from "../mcp/conversation.ts";
import { initializeParams, type McpEra, MODERN_VERSIONS, requestMeta } from "../mcp/messages.ts";
import { modernConversation, type ModernOptions } from "../mcp/modern_conversation.ts";
import type { McpServerInfo } from "../mcp/peer.ts";
import { readDiscovery, readServerInfo } from "../mcp/server_info.ts";
import { isMap } from "../values/plain_data.ts";
import { handshakeStep } from "./handshake.ts";

/** The server, and what is known of it. */
export interface GreetingOptions extends Omit<ModernOptions, "info"> {
  readonly era: McpEra;
  /** Whether it is reached over HTTP: then the newest revision is tried first, whatever `era` says. */
  readonly isElsewhere: boolean;
  /** Runs when the server has shown a sign of life. */
  readonly beforeConfig: () => Promise<void>;
}

/** Greets the server. Rejects with `initialize.*`, `mcp.*` or what ended the connection. */
export async function greet(options: GreetingOptions): Promise<McpConversation> {
  const { connection, requests, era, isElsewhere, beforeConfig } = options;
  const info = isElsewhere ? await discoverIfModern(options) : era === "modern" ? await discover(options) : null;
  if (info !== null) {
    await beforeConfig();
    return modernConversation({ ...options, info });
  }
  const params = initializeParams(requests.offers);
  const legacy = readServerInfo(await handshakeStep(connection, "initialize", params));
  await beforeConfig();
  connection.notify("notifications/initialized", {});
  return legacyConversation(connection, legacy, requests);
}

/** Asked a second time where the server refuses the version that was named, and lists that very version. */
async function discover(options: GreetingOptions, isRepeated = false): Promise<McpServerInfo> {
  const { connection, requests } = options;
  try {
    return readDiscovery(await handshakeStep(connection, "server/discover", { _meta: requestMeta(requests.offers) }));
  } catch (error) {
    if (isRepeated || !isListedVersion((error as HostError).cause)) throw error;
    return await discover(options, true);
  }
}

/** A server elsewhere is asked at each start: a refusal over HTTP harms nothing, and the server may be another by then. */
async function discoverIfModern(options: GreetingOptions): Promise<McpServerInfo | null> {
  try {
    return await discover(options);
  } catch (error) {
    if (options.connection.closed || !NO_MODERN.has((error as HostError).code)) throw error;
    return null;
  }
}

/** Failures of the newer greeting that leave the older one to try. */
const NO_MODERN: ReadonlySet<string> = new Set(["initialize.refused", "mcp.version_unsupported", "mcp.malformed"]);

/** Whether a server refuses a version (-32022) and lists one that is spoken here. */
function isListedVersion(error: unknown): boolean {
  const { rpc, data } = error instanceof HostError ? error : { rpc: 0, data: null };
  const supported = isMap(data) ? data.supported : undefined;
  return rpc === -32022 && Array.isArray(supported) && supported.some((one) => MODERN_VERSIONS.includes(one));
}
