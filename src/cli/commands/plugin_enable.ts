/**
 * `kaged plugin enable` and `kaged plugin disable`: whether an installed plugin may run, written down and told to the
 * hosts that run.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { addOperatorOptions, type OperatorFlags, withOperator } from "../operator.ts";
import { tellHosts } from "../running_hosts.ts";
import type { Terminal } from "../terminal.ts";

/** Adds both commands. */
export function addPluginEnable(parent: Command, terminal: Terminal): void {
  const enable = parent.command("enable")
    .summary("let a plugin run")
    .description("Lets an installed plugin run. Hosts that run start it at once, its earlier failures forgotten.")
    .argument("<name>", "the plugin's name");
  addOperatorOptions(enable)
    .addHelpText("after", JSON_SHAPE)
    .action((name: string, flags: OperatorFlags) => setEnabled(name, true, flags, terminal));
  const disable = parent.command("disable")
    .summary("stop a plugin and keep it down")
    .description("Keeps an installed plugin from running. Hosts that run stop it at once.")
    .argument("<name>", "the plugin's name");
  addOperatorOptions(disable)
    .addHelpText("after", JSON_SHAPE)
    .action((name: string, flags: OperatorFlags) => setEnabled(name, false, flags, terminal));
}

const JSON_SHAPE = `
With --json it prints { "name", "enabled", "changed", "hosts" }: whether that is new, and how many running hosts were told.`;

async function setEnabled(name: string, enabled: boolean, flags: OperatorFlags, terminal: Terminal): Promise<void> {
  const { setEnabled: write } = await import("../../packages/install/set_enabled.ts");
  await withOperator(flags, terminal, async (operator) => {
    const changed = await write(name, enabled, operator);
    const { told, failures: [failure] } = await tellHosts(operator.home, name, enabled ? "enable" : "disable");
    if (changed) {
      const subject = { name, instance: name };
      if (enabled) operator.audit.emit("plugin.enabled", subject, {});
      else operator.audit.emit("plugin.disabled", subject, { reason: "operator" });
    }
    if (failure) {
      throw new HostError(
        "plugin.unavailable",
        `${name} is ${enabled ? "enabled" : "disabled"}, but: ${failure.message}`,
        {
          data: { plugin: name, code: failure.code },
          hint: `See kaged plugin logs ${name}`,
        },
      );
    }
    const { out } = terminal;
    if (flags.json) return out.line(JSON.stringify({ name, enabled, changed, hosts: told }, null, 2));
    const hosts = told === 0 ? "" : `, in ${told} running ${told === 1 ? "host" : "hosts"} too`;
    out.line(`${out.paint.green("✓")} ${enabled ? "Enabled" : "Disabled"} ${name}${hosts}`);
  });
}
