/**
 * An MCP server as it describes itself: in its answer to `initialize`, or to `server/discover`.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { isMap } from "../values/plain_data.ts";
import { shown } from "../values/shown_value.ts";
import { LEGACY_VERSIONS, MCP_VERSIONS, META, MODERN_VERSIONS } from "./messages.ts";
import type { McpDefinition, McpServerInfo } from "./peer.ts";

const MAX_NAME_CHARS = 200;
/** Longest text for the model, and longest description of itself, that is kept of a server. */
const MAX_CHARS = 64 * 1024;

/**
 * Reads the answer to `initialize`.
 *
 * @throws {HostError} `mcp.malformed` or `mcp.version_unsupported`.
 */
export function readServerInfo(answer: unknown): McpServerInfo {
  const method = "initialize";
  if (!isMap(answer)) throw malformed(method, "the result is no object");
  const { protocolVersion: protocol, capabilities, serverInfo, instructions } = answer;
  if (typeof protocol !== "string") throw malformed(method, '"protocolVersion" is no string');
  if (!LEGACY_VERSIONS.includes(protocol)) throw unsupported([protocol]);
  if (!isMap(capabilities)) throw malformed(method, '"capabilities" is no object');
  if (!isMap(serverInfo)) throw malformed(method, '"serverInfo" is no object');
  if (typeof serverInfo.name !== "string" || typeof serverInfo.version !== "string") {
    throw malformed(method, '"serverInfo" lacks name or version');
  }
  return { protocol, ...identity(serverInfo), instructions: textFor(instructions), capabilities };
}

/**
 * Reads the answer to `server/discover`. A server need not say its name there.
 *
 * @throws {HostError} `mcp.malformed` or `mcp.version_unsupported`.
 */
export function readDiscovery(answer: unknown): McpServerInfo {
  const method = "server/discover";
  if (!isMap(answer)) throw malformed(method, "the result is no object");
  const { supportedVersions, capabilities, instructions, _meta } = answer;
  if (!Array.isArray(supportedVersions)) throw malformed(method, '"supportedVersions" is no list');
  const protocol = MODERN_VERSIONS.find((version) => supportedVersions.includes(version));
  if (protocol === undefined) throw unsupported(supportedVersions);
  if (!isMap(capabilities)) throw malformed(method, '"capabilities" is no object');
  const serverInfo = isMap(_meta) && isMap(_meta[META.serverInfo]) ? _meta[META.serverInfo] as McpDefinition : {};
  return { protocol, ...identity(serverInfo), instructions: textFor(instructions), capabilities };
}

function identity(serverInfo: McpDefinition): Pick<McpServerInfo, "name" | "version" | "definition"> {
  const text = (value: unknown, instead: string): string =>
    typeof value === "string" ? value.slice(0, MAX_NAME_CHARS) : instead;
  const [name, version] = [text(serverInfo.name, "unnamed"), text(serverInfo.version, "0")];
  const isShort = JSON.stringify(serverInfo).length <= MAX_CHARS;
  return { name, version, definition: isShort ? serverInfo : { name, version } };
}

function textFor(instructions: unknown): string | null {
  return typeof instructions === "string" && instructions !== "" ? instructions.slice(0, MAX_CHARS) : null;
}

function unsupported(versions: readonly unknown[]): HostError {
  const named = versions.slice(0, 10).map((version) => shown(version)).join(", ");
  return new HostError("mcp.version_unsupported", `The server speaks MCP ${named}`, {
    data: { protocol: versions.length === 1 ? versions[0] : versions.slice(0, 10), supported: MCP_VERSIONS },
    hint: `The host speaks ${MCP_VERSIONS.join(", ")}`,
  });
}

function malformed(method: "initialize" | "server/discover", reason: string): HostError {
  const wanted = method === "initialize"
    ? "protocolVersion, capabilities and serverInfo"
    : "supportedVersions and capabilities";
  return new HostError("mcp.malformed", `The answer to ${method} is malformed: ${reason}`, {
    data: { reason },
    hint: `Answer with ${wanted}`,
  });
}
