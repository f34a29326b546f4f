/**
 * What is known of an instance, put together for whoever asks.
 *
 * @module
 */
import type { AuditSubject } from "../audit/audit.ts";
import type { HostError } from "../errors/host_error.ts";
import type { Manifest } from "../manifest/manifest.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { Generation } from "./generation.ts";
import type { InstanceState } from "./next_state.ts";
import type { PluginInfo } from "./types.ts";

/** Where an instance stands. */
export interface InstanceFacts {
  /** Which instance, of which plugin. */
  readonly subject: AuditSubject;
  /** Its folder. */
  readonly dir: string;
  /** Its manifest. */
  readonly manifest: Manifest;
  /** Where it is in its life. */
  readonly state: InstanceState;
  /** The process that serves, or is coming up to, or null. */
  readonly current: Generation | null;
  /** Tools an MCP server has listed. */
  readonly mcpTools: readonly McpTool[];
  /** Why it is down, or null. */
  readonly error: HostError | null;
}

/** Returns what is known of an instance. */
export function instanceInfo({ subject, dir, manifest, state, current, mcpTools, error }: InstanceFacts): PluginInfo {
  const { live, profile = null } = current ?? {};
  const mcp = profile?.mcp;
  return {
    instance: subject.instance,
    plugin: subject.name,
    version: manifest.version,
    dir,
    manifest,
    status: state.status,
    pid: live?.pid ?? null,
    cage: live?.cage ?? null,
    restarts: state.restarts,
    methods: profile?.methods ?? [],
    features: profile?.features ?? [],
    tools: manifest.runtime === "mcp_stdio" ? mcpTools : manifest.tools,
    mcp: mcp ? { protocol: mcp.protocol, name: mcp.name, version: mcp.version } : null,
    error,
  };
}
