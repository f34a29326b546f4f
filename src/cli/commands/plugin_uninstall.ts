/**
 * `kaged plugin uninstall`: removes a plugin with its files, its record and its tables.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { operate, type Operator } from "../operator.ts";
import { hostsWith, isUp, notifyHosts, type PluginInHost } from "../../http/running_hosts.ts";
import { counted, type Terminal } from "../terminal.ts";

export function addPluginUninstall(parent: Command, terminal: Terminal): void {
  const command = parent.command("uninstall")
    .summary("remove a plugin and its data")
    .description(
      "Stops a plugin, removes its files and its entry in local.toml, and drops its tables. Its secrets in local.toml\n" +
        "stay. To keep its data, run kaged plugin export first.",
    )
    .argument("<name>", "the plugin's name")
    .option("--force", "remove it even while sessions use it")
    .addHelpText("after", EXAMPLES);
  operate(command, terminal, uninstall);
}

const EXAMPLES = `
Examples:
  kaged plugin export notes -o notes.sqlite && kaged plugin uninstall notes
  kaged plugin uninstall notes --force
With --json it prints { "name", "stopped": true | false, "tables": [] }.`;

async function uninstall(operator: Operator, name: string, { force }: { readonly force?: boolean }): Promise<void> {
  const { recordOf, uninstallPlugin } = await import("../../packages/install/change_installed.ts");
  const { home, json, terminal: { out } } = operator;
  const done = (text: string): void => {
    if (!json) out.done(text);
  };
  recordOf(name, await operator.local());
  const hosts = await hostsWith(home, name);
  if (!force) refuseActive(name, hosts);
  const isRunning = hosts.some(isUp);
  if (hosts.length > 0) await notifyHosts(home, name, "disable");
  if (isRunning) done(`Stopped ${name}`);
  const tables: string[] = [];
  const audit: typeof operator.audit = {
    emit(type, subject, data) {
      if (type === "plugin.storage_dropped") tables.push(...(data as { tables: string[] }).tables);
      operator.audit.emit(type, subject, data);
    },
  };
  await uninstallPlugin(name, { ...operator, audit });
  await notifyHosts(home, name, "reload");
  done("Removed plugin files");
  done("Removed local config entry");
  if (tables.length > 0) done(`Dropped ${counted(tables.length, "table")}: ${tables.join(", ")}`);
  if (json) out.json({ name, stopped: isRunning, tables });
}

/** Refuses to remove a plugin that open sessions may use. */
export function refuseActive(name: string, hosts: readonly PluginInHost[]): void {
  const active = hosts.filter(isUp);
  const sessions = active.reduce((sum, host) => sum + host.sessions, 0);
  if (sessions === 0) return;
  throw new HostError(
    "install.sessions_active",
    `Plugin ${name} is active in ${sessions} session(s). Stop sessions first, or use --force.`,
    { data: { plugin: name, sessions, projects: active.map(({ project }) => project.id) } },
  );
}
