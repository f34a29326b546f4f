/**
 * The record and the manifest of an installed MCP server, for the commands under `kaged mcp`.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Manifest } from "../core/manifest/manifest.ts";
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

/** Keeps with the record what a trial has shown of a server. */
export async function keepTrial(name: string, info: PluginInfo | null, { home, runtime }: Operator): Promise<void> {
  const { withHomeLock } = await import("../core/files/file_lock.ts");
  const { writeRecord } = await import("../packages/installed/records.ts");
  const protocol = info?.mcp?.protocol;
  if (protocol === undefined) return;
  await withHomeLock(home, runtime, () => writeRecord(home, name, { ...runtime, fields: { protocol } }));
}
