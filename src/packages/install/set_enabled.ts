/**
 * Enables and disables installed plugins, in their records.
 *
 * @module
 */
import { readManifest } from "../../core/manifest/read_manifest.ts";
import { readLocalConfig } from "../../core/project/local_config.ts";
import { writeRecord } from "../installed/records.ts";
import { verifyTree } from "../../core/files/verify_tree.ts";
import { changingPackages, type InstallPorts } from "./install_ports.ts";
import { recordOf } from "./uninstall.ts";

/**
 * Records whether a plugin may run; returns whether that is new. A plugin whose files changed, or whose manifest is
 * invalid, is not enabled.
 *
 * @throws {HostError} `plugin.not_installed`, `plugin.tampered`, `manifest.*` or `local.*`.
 */
export async function setEnabled(plugin: string, enabled: boolean, ports: InstallPorts): Promise<boolean> {
  const { home, runtime: { files, ids } } = ports;
  return await changingPackages(ports, async () => {
    const record = recordOf(plugin, await readLocalConfig(home, files));
    const dir = `${home}/plugins/${plugin}`;
    if (enabled) {
      await verifyTree(plugin, dir, record.hash ?? "", files);
      await readManifest(dir, files);
    }
    if (record.enabled === enabled) return false;
    await writeRecord(home, plugin, { files, ids, fields: { enabled } });
    return true;
  });
}

/**
 * Lets an installed plugin serve one more project.
 *
 * @throws {HostError} `plugin.not_installed` or `local.*`.
 */
export async function addProject(plugin: string, projectId: string, ports: InstallPorts): Promise<void> {
  const { home, runtime: { files, ids } } = ports;
  await changingPackages(ports, async () => {
    const { projects } = recordOf(plugin, await readLocalConfig(home, files));
    const fields = { projects: [...new Set([...projects, projectId])], enabled: true };
    await writeRecord(home, plugin, { files, ids, fields });
  });
}
