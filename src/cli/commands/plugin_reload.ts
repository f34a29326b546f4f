/**
 * `kaged plugin reload`: has every host that runs a plugin restart it without losing a call.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { addOperatorOptions, type OperatorFlags, withOperator } from "../operator.ts";
import { notifyHosts } from "../running_hosts.ts";
import type { Terminal } from "../terminal.ts";

export function addPluginReload(parent: Command, terminal: Terminal): void {
  const command = parent.command("reload")
    .summary("restart a running plugin without a gap")
    .description(
      "Has every host that runs a plugin load its files again. The new process starts beside the old one, which serves " +
        "calls until the new one is ready, and keeps running if the new one fails.",
    )
    .argument("<name>", "the plugin's name");
  addOperatorOptions(command)
    .addHelpText("after", '\nWith --json it prints { "name", "hosts" }: how many running hosts have reloaded it.')
    .action((name: string, flags: OperatorFlags) => reload(name, flags, terminal));
}

async function reload(name: string, flags: OperatorFlags, terminal: Terminal): Promise<void> {
  await withOperator(flags, terminal, async ({ home }) => {
    const { notified, failures: [failure] } = await notifyHosts(home, name, "reload");
    if (notified === 0) {
      throw new HostError("plugin.unavailable", `No running host has a plugin "${name}"`, {
        data: { plugin: name, home },
        hint: "Start one, for example with kaged serve; kaged plugin list shows what runs",
      });
    }
    if (failure) throw failure;
    const { out } = terminal;
    if (flags.json) return out.json({ name, hosts: notified });
    out.done(`Reloaded ${name} in ${notified} running ${notified === 1 ? "host" : "hosts"}`);
  });
}
