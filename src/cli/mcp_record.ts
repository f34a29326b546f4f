/**
 * The record and the manifest of an installed MCP server, for the commands under `kaged mcp`.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
import type { McpTool } from "../core/mcp/mcp_tool.ts";
import type { PinnedTools } from "../core/pins/tool_pins.ts";
import type { InstallRecord } from "../core/project/local_config.ts";
import type { PluginInfo } from "../core/supervisor/types.ts";
import type { Operator } from "./operator.ts";

/**
 * Returns the record of an installed MCP server, and its manifest as its file has it.
 *
 * @throws {HostError} `plugin.not_installed`, `mcp_add.not_mcp` or `manifest.*`.
 */
export async function requireServerRecord(
  name: string,
  operator: Operator,
): Promise<{ readonly record: InstallRecord; readonly manifest: Manifest }> {
  const [{ recordOf }, { readManifest }, { speaksMcp }] = await Promise.all([
    import("../packages/install/change_installed.ts"),
    import("../core/manifest/read_manifest.ts"),
    import("../core/manifest/speaks_mcp.ts"),
  ]);
  const record = recordOf(name, await operator.local());
  const { manifest } = await readManifest(`${operator.home}/plugins/${name}`, operator.runtime.files);
  if (speaksMcp(manifest)) return { record, manifest };
  throw new HostError("mcp_add.not_mcp", `The plugin "${name}" is no MCP server`, {
    data: { plugin: name },
    hint: `Use kaged plugin info ${name}, kaged plugin upgrade or kaged plugin uninstall`,
  });
}

/** Returns the pins of the tools that a server listed in its trial. */
export async function trialPins(info: PluginInfo): Promise<PinnedTools> {
  const { pinsOf } = await import("../core/pins/tool_pins.ts");
  return await pinsOf(mcpTools(info));
}

/** Keeps what a trial has shown: the revision with the record, and the tools as those that the operator agreed to. */
export async function keepTrial(name: string, info: PluginInfo | null, operator: Operator): Promise<void> {
  const { withHomeLock } = await import("../core/files/file_lock.ts");
  const { writeRecord } = await import("../packages/installed/records.ts");
  const { pinTools } = await import("../packages/install/pin_tools.ts");
  if (!info?.mcp) return;
  const { home, runtime } = operator;
  const { protocol } = info.mcp;
  await withHomeLock(home, runtime, () => writeRecord(home, name, { ...runtime, fields: { protocol } }));
  await pinTools(name, mcpTools(info), operator);
}

function mcpTools({ tools }: PluginInfo): McpTool[] {
  return tools.filter((tool): tool is McpTool => "definition" in tool);
}
