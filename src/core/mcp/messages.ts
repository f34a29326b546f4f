/**
 * Messages of MCP that the host sends and reads, but for those about tools.
 *
 * @module
 */
import { isMap } from "../values/plain_data.ts";
import { HOST_VERSION } from "../values/version.ts";
import type { CallNotices } from "../wire/connection_types.ts";
import { type ClientOffer, MCP_LOG_LEVELS, type McpEvent, type McpLogLevel } from "./peer.ts";

/** Revisions of the protocol that begin with `initialize`, newest first: the newest is what the host asks for. */
export const LEGACY_VERSIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** Revisions without a handshake, in which every request says what the client is and can, newest first. */
export const MODERN_VERSIONS: readonly string[] = ["2026-07-28"];

/** Every revision of the protocol the host speaks, newest first. */
export const MCP_VERSIONS: readonly string[] = [...MODERN_VERSIONS, ...LEGACY_VERSIONS];

/** The two ways to begin a conversation with a server. */
export type McpEra = "legacy" | "modern";

const CLIENT_INFO = { name: "kaged", version: HOST_VERSION };

/** Fields of the protocol's own in `_meta`. */
export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  relatedTask: "io.modelcontextprotocol/related-task",
  subscription: "io.modelcontextprotocol/subscriptionId",
} as const;

/** The extension under which servers of the newer revisions run tools as tasks. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/** Returns the capabilities of a client that offers these parts, and no other. */
export function clientCapabilities(offers: readonly ClientOffer[]): Record<string, unknown> {
  const all: Record<ClientOffer, object> = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
  return Object.fromEntries(offers.map((offer) => [offer, all[offer]]));
}

/** Params of `initialize`. */
export function initializeParams(offers: readonly ClientOffer[] = []): Record<string, unknown> {
  const capabilities = clientCapabilities(offers);
  return {
    protocolVersion: LEGACY_VERSIONS[0],
    // Only these revisions have news of roots.
    capabilities: { ...capabilities, ...(offers.includes("roots") && { roots: { listChanged: true } }) },
    clientInfo: CLIENT_INFO,
  };
}

/** Returns the `_meta` with which a request of the newer revisions says what its client is and can. */
export function requestMeta(
  offers: readonly ClientOffer[],
  logLevel: McpLogLevel | null = null,
): Record<string, unknown> {
  return {
    [META.version]: MODERN_VERSIONS[0],
    [META.clientInfo]: CLIENT_INFO,
    [META.clientCapabilities]: { ...clientCapabilities(offers), extensions: { [TASKS_EXTENSION]: {} } },
    ...(logLevel !== null && { [META.logLevel]: logLevel }),
  };
}

/** `notifications/cancelled { requestId }` and `notifications/progress { progressToken, … }`. */
export const MCP_NOTICES: CallNotices = {
  cancel: "notifications/cancelled",
  progress: "notifications/progress",
  cancelParams: (requestId) => ({ requestId, reason: "The caller gave up" }),
  cancelledId: (params) => (params as { requestId?: unknown } | undefined)?.requestId,
  progressId: (params) => (params as { progressToken?: unknown } | undefined)?.progressToken,
  // The token is the call's own id; a server reports progress only to those who gave it one.
  callParams(method, params, progressToken) {
    if (!REPORTS_PROGRESS.has(method)) return params;
    const { _meta } = params as { _meta?: object };
    return { ...params as object, _meta: _meta ? { ..._meta, progressToken } : { progressToken } };
  },
};

const REPORTS_PROGRESS: ReadonlySet<string> = new Set(["tools/call", "resources/read", "prompts/get"]);

const MAX_LOG_CHARS = 4096;

/** Returns the line of a `notifications/message`. */
export function logLine(params: unknown): string {
  const { level, logger, data } = isMap(params) ? params : {};
  const text = typeof data === "string" ? data : JSON.stringify(data) ?? "";
  const from = typeof logger === "string" && logger !== "" ? `${logger}: ` : "";
  const line = `[${typeof level === "string" ? level : "info"}] ${from}${text}`.replace(/[\r\n]+/g, " ");
  return line.length > MAX_LOG_CHARS ? `${line.slice(0, MAX_LOG_CHARS)} …` : line;
}

/** Returns the event of a `notifications/message`. A level that the protocol does not know counts as `info`. */
export function logEvent(params: unknown): Extract<McpEvent, { type: "log" }> {
  const { level, logger, data = null } = isMap(params) ? params : {};
  return {
    type: "log",
    level: MCP_LOG_LEVELS.find((known) => known === level) ?? "info",
    ...(typeof logger === "string" && { logger: logger.slice(0, 200) }),
    data,
  };
}
