/**
 * `kaged plugin uninstall`: a plugin goes, with its files, its record and what it kept.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { addOperatorOptions, type OperatorFlags, withOperator } from "../operator.ts";
import { hostsWith, isUp, type PluginInHost, tellHosts } from "../running_hosts.ts";
import type { Terminal } from "../terminal.ts";

interface UninstallFlags extends OperatorFlags {
  readonly force?: boolean;
}

/** Adds the command. */
export function addPluginUninstall(parent: Command, terminal: Terminal): void {
  const command = parent.command("uninstall")
    .summary("remove a plugin and everything it kept")
    .description(
      "Stops a plugin, removes its files and its entry in local.toml, and drops its tables. Its secrets in local.toml\n" +
        "stay. To keep what it stored, run kaged plugin export first.",
    )
    .argument("<name>", "the plugin's name")
    .option("--force", "do it even while sessions use the plugin");
  addOperatorOptions(command)
    .addHelpText("after", EXAMPLES)
    .action((name: string, flags: UninstallFlags) => uninstall(name, flags, terminal));
}

const EXAMPLES = `
Examples:
  kaged plugin export notes -o notes.sqlite && kaged plugin uninstall notes
  kaged plugin uninstall notes --force
With --json it prints { "name", "stopped": true | false, "tables": [] }.`;

async function uninstall(name: string, { force = false, ...flags }: UninstallFlags, terminal: Terminal): Promise<void> {
  const { recordOf, uninstallPlugin } = await import("../../packages/install/uninstall.ts");
  const { out } = terminal;
  const done = (text: string): void => {
    if (!flags.json) out.line(`${out.paint.green("✓")} ${text}`);
  };
  await withOperator(flags, terminal, async (operator) => {
    recordOf(name, await operator.local());
    const hosts = await hostsWith(operator.home, name);
    if (!force) refuseActive(name, hosts);
    const isRunning = hosts.some(isUp);
    if (hosts.length > 0) await tellHosts(operator.home, name, "disable");
    if (isRunning) done(`Stopped ${name}`);
    const tables: string[] = [];
    const audit: typeof operator.audit = {
      emit(type, subject, data) {
        if (type === "plugin.storage_dropped") tables.push(...(data as { tables: string[] }).tables);
        operator.audit.emit(type, subject, data);
      },
    };
    await uninstallPlugin(name, { ...operator, audit });
    await tellHosts(operator.home, name, "reload");
    done("Removed plugin files");
    done("Removed local config entry");
    if (tables.length > 0) {
      done(`Dropped ${tables.length === 1 ? "1 table" : `${tables.length} tables`}: ${tables.join(", ")}`);
    }
    if (flags.json) out.line(JSON.stringify({ name, stopped: isRunning, tables }, null, 2));
  });
}

function refuseActive(name: string, hosts: readonly PluginInHost[]): void {
  const active = hosts.filter(isUp);
  const sessions = active.reduce((sum, host) => sum + host.sessions, 0);
  if (sessions === 0) return;
  throw new HostError(
    "install.sessions_active",
    `Plugin ${name} is active in ${sessions} session(s). Stop sessions first, or use --force.`,
    { data: { plugin: name, sessions, projects: active.map(({ project }) => project.id) } },
  );
}
