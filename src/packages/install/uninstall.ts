/**
 * Removes a plugin: its files, its record and its tables.
 *
 * @module
 */
import { HostError } from "../../core/errors/host_error.ts";
import { type InstallRecord, type LocalConfig, readLocalConfig } from "../../core/project/local_config.ts";
import { makeChange } from "../installed/journal.ts";
import { didYouMean } from "../../core/values/nearest_word.ts";
import { changingPackages, type InstallPorts } from "./install_ports.ts";

/**
 * Uninstalls a plugin. Its secrets in `local.toml` stay: they are the operator's.
 *
 * @throws {HostError} `plugin.not_installed` or `local.*`.
 */
export async function uninstallPlugin(plugin: string, ports: InstallPorts): Promise<void> {
  const { files, ids } = ports.runtime;
  const { version = "unknown" } = await changingPackages(ports, async (own) => {
    const record = recordOf(plugin, await readLocalConfig(ports.home, files));
    await makeChange({ op: "uninstall", plugin, old: `.${ids.create("old")}` }, own);
    return record;
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
