/**
 * Changes of one installed plugin: enabled, disabled, in use by one more project, uninstalled.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { verifyTree } from "../../core/files/tree.ts";
import { readManifest } from "../../core/manifest/read_manifest.ts";
import { type InstallRecord, type LocalConfig, readLocalConfig } from "../../core/project/local_config.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { makeChange, type PackagePorts } from "../installed/journal.ts";
import { writeRecord } from "../installed/records.ts";
import { changingPackages, type InstallPorts } from "./install_ports.ts";

/**
 * Records whether a plugin may run; returns whether that is new. A plugin whose files changed, or whose manifest is
 * invalid, is not enabled.
 *
 * @throws {HostError} `plugin.not_installed`, `plugin.tampered`, `manifest.*` or `local.*`.
 */
export async function setEnabled(plugin: string, enabled: boolean, ports: InstallPorts): Promise<boolean> {
  return await changing(plugin, ports, async (record, own) => {
    const dir = `${own.home}/plugins/${plugin}`;
    if (enabled) {
      await verifyTree(plugin, dir, record.hash ?? "", own.files);
      await readManifest(dir, own.files);
    }
    if (record.enabled === enabled) return false;
    await writeRecord(own.home, plugin, { ...own, fields: { enabled } });
    return true;
  });
}

/**
 * Lets an installed plugin serve one more project.
 *
 * @throws {HostError} `plugin.not_installed` or `local.*`.
 */
export async function addProject(plugin: string, projectId: string, ports: InstallPorts): Promise<void> {
  await changing(plugin, ports, async ({ projects }, own) => {
    const fields = { projects: [...new Set([...projects, projectId])], enabled: true };
    await writeRecord(own.home, plugin, { ...own, fields });
  });
}

/**
 * Uninstalls a plugin: removes its files, its record and its tables. Its secrets in `local.toml` stay: they are the
 * operator's.
 *
 * @throws {HostError} `plugin.not_installed` or `local.*`.
 */
export async function uninstallPlugin(plugin: string, ports: InstallPorts): Promise<void> {
  const version = await changing(plugin, ports, async ({ version = "unknown" }, own) => {
    await makeChange({ op: "uninstall", plugin, old: `.${own.ids.create("old")}` }, own);
    return version;
  });
  ports.audit.emit("plugin.uninstalled", { name: plugin, instance: plugin }, { version });
}

/** Returns the record of a plugin. Throws `plugin.not_installed`. */
export function recordOf(plugin: string, { records }: Pick<LocalConfig, "records">): InstallRecord {
  const record = records.get(plugin);
  if (record) return record;
  const known = [...records.keys()];
  throw new HostError("plugin.not_installed", `No plugin "${plugin}" is installed`, {
    data: { plugin, installed: known },
    hint: didYouMean(plugin, known, known.length > 0 ? `Installed: ${known.join(", ")}` : "Run kaged plugin install"),
  });
}

/** Runs `work` on the record of a plugin, under the lock of the home. */
async function changing<T>(
  plugin: string,
  ports: InstallPorts,
  work: (record: InstallRecord, own: PackagePorts) => Promise<T>,
): Promise<T> {
  return await changingPackages(ports, async (own) => {
    return await work(recordOf(plugin, await readLocalConfig(own.home, own.files)), own);
  });
}
