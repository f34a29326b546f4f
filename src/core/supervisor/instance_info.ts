/**
 * An instance as operators see it.
 *
 * @module
 */
import type { AuditSubject } from "../audit/audit.ts";
import type { Manifest } from "../manifest/manifest.ts";
import { speaksMcp } from "../manifest/speaks_mcp.ts";
import type { McpTool } from "../mcp/mcp_tool.ts";
import type { Lifeline } from "./lifeline.ts";
import type { PluginProcess } from "./plugin_process.ts";
import type { PluginInfo, PluginSpec } from "./types.ts";

export function instanceInfo(
  subject: AuditSubject,
  { manifest, spec: { dir }, life: { state: { status, restarts }, error }, live, tools }: {
    readonly manifest: Manifest;
    readonly spec: PluginSpec;
    readonly life: Pick<Lifeline, "state" | "error">;
    readonly live: PluginProcess | null;
    /** Those of an MCP server, as they are known. */
    readonly tools: readonly McpTool[] | null;
  },
): PluginInfo {
  const { mcp, methods = [], features = [] } = live?.profile ?? {};
  const { pid = null, cage } = live?.caged ?? {};
  return {
    instance: subject.instance,
    plugin: subject.name,
    version: manifest.version,
    dir,
    manifest,
    status,
    pid,
    cage: cage ? { id: cage.id, limits: cage.limits } : null,
    restarts,
    net_refused: live?.net.counts() ?? [],
    methods,
    features,
    tools: speaksMcp(manifest) ? tools ?? [] : manifest.tools,
    mcp: mcp ? { protocol: mcp.protocol, name: mcp.name, version: mcp.version } : null,
    error,
  };
}

/** Fields of {@link PluginInfo} that stay while a manifest does. */
const FIXED: ReadonlySet<string> = new Set(["instance", "plugin", "version", "dir", "manifest"]);

/** Returns facts that are looked up as they are read: most handlers of requests read only the name. */
export function liveInfo(info: () => PluginInfo): PluginInfo {
  const live = info();
  for (const field of Object.keys(live) as (keyof PluginInfo)[]) {
    if (!FIXED.has(field)) Object.defineProperty(live, field, { get: () => info()[field] });
  }
  return live;
}
