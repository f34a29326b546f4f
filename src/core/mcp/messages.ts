/**
 * Messages of MCP that the host sends and reads, but for those about tools.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { HOST_VERSION } from "../values/version.ts";
import type { CallNotices } from "../wire/connection_types.ts";

/** Versions of the protocol the host speaks, newest first: the newest is what it asks for. */
export const MCP_VERSIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/** A server as its answer to `initialize` describes it; name and version are cut to 200 characters. */
export interface McpServerInfo {
  /** Version of the protocol, such as `2025-11-25`. */
  readonly protocol: string;
  readonly name: string;
  readonly version: string;
  readonly hasTools: boolean;
}

/** Params of `initialize`. The host offers a server nothing: no sampling, no roots, no questions to the user. */
export function initializeParams(): Record<string, unknown> {
  return {
    protocolVersion: MCP_VERSIONS[0],
    capabilities: {},
    clientInfo: { name: "kaged", version: HOST_VERSION },
  };
}

/**
 * Reads the answer to `initialize`.
 *
 * @throws {HostError} `mcp.malformed` or `mcp.version_unsupported`.
 */
export function readServerInfo(answer: unknown): McpServerInfo {
  if (!isMap(answer)) throw malformed("the result is no object");
  const { protocolVersion: protocol, capabilities, serverInfo } = answer;
  if (typeof protocol !== "string") throw malformed('"protocolVersion" is no string');
  if (!MCP_VERSIONS.includes(protocol)) {
    throw new HostError("mcp.version_unsupported", `The server speaks MCP ${shown(protocol)}`, {
      data: { protocol, supported: MCP_VERSIONS },
      hint: `The host speaks ${MCP_VERSIONS.join(", ")}`,
    });
  }
  if (!isMap(capabilities)) throw malformed('"capabilities" is no object');
  if (!isMap(serverInfo)) throw malformed('"serverInfo" is no object');
  const { name, version } = serverInfo;
  if (typeof name !== "string" || typeof version !== "string") throw malformed('"serverInfo" lacks name or version');
  return { protocol, name: name.slice(0, 200), version: version.slice(0, 200), hasTools: isMap(capabilities.tools) };
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
    if (method !== "tools/call") return params;
    const { _meta, ...rest } = params as { _meta?: object };
    return { ...rest, _meta: { ..._meta, progressToken } };
  },
};

const MAX_LOG_CHARS = 4096;

/** Returns the line of a `notifications/message`. */
export function logLine(params: unknown): string {
  const { level, logger, data } = isMap(params) ? params : {};
  const text = typeof data === "string" ? data : JSON.stringify(data) ?? "";
  const from = typeof logger === "string" && logger !== "" ? `${logger}: ` : "";
  const line = `[${typeof level === "string" ? level : "info"}] ${from}${text}`.replace(/[\r\n]+/g, " ");
  return line.length > MAX_LOG_CHARS ? `${line.slice(0, MAX_LOG_CHARS)} …` : line;
}

function malformed(reason: string): HostError {
  return new HostError("mcp.malformed", `The answer to initialize is malformed: ${reason}`, {
    data: { reason },
    hint: "Answer with protocolVersion, capabilities and serverInfo",
  });
}
