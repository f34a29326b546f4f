/**
 * `kaged plugin enable` and `kaged plugin disable`: record whether an installed plugin may run, and notify running hosts.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { addOperatorOptions, type OperatorFlags, withOperator } from "../operator.ts";
import { notifyHosts } from "../running_hosts.ts";
import type { Terminal } from "../terminal.ts";

export function addPluginEnable(parent: Command, terminal: Terminal): void {
  const enable = parent.command("enable")
    .summary("let a plugin run")
    .description("Lets an installed plugin run. Running hosts start it at once and forget its earlier failures.");
  const disable = parent.command("disable")
    .summary("stop a plugin and keep it down")
    .description("Keeps an installed plugin from running. Running hosts stop it at once.");
  for (const [command, enabled] of [[enable, true], [disable, false]] as const) {
    addOperatorOptions(command.argument("<name>", "the plugin's name"))
      .addHelpText("after", JSON_SHAPE)
      .action((name: string, flags: OperatorFlags) => setEnabled(name, enabled, flags, terminal));
  }
}

const JSON_SHAPE = `
With --json it prints { "name", "enabled", "changed", "hosts" }: whether that is new, and how many running hosts were notified.`;

async function setEnabled(name: string, enabled: boolean, flags: OperatorFlags, terminal: Terminal): Promise<void> {
  const { setEnabled: write } = await import("../../packages/install/set_enabled.ts");
  await withOperator(flags, terminal, async (operator) => {
    const changed = await write(name, enabled, operator);
    const { notified, failures: [failure] } = await notifyHosts(operator.home, name, enabled ? "enable" : "disable");
    if (changed) {
      const subject = { name, instance: name };
      if (enabled) operator.audit.emit("plugin.enabled", subject, {});
      else operator.audit.emit("plugin.disabled", subject, { reason: "operator" });
    }
    if (failure) {
      const state = enabled ? "enabled" : "disabled";
      throw new HostError("plugin.unavailable", `${name} is ${state}, but: ${failure.message}`, {
        data: { plugin: name, code: failure.code },
        hint: `See kaged plugin logs ${name}`,
      });
    }
    const { out } = terminal;
    if (flags.json) return out.json({ name, enabled, changed, hosts: notified });
    const hosts = notified === 0 ? "" : `, in ${notified} running ${notified === 1 ? "host" : "hosts"} too`;
    out.done(`${enabled ? "Enabled" : "Disabled"} ${name}${hosts}`);
  });
}
