/**
 * `kaged plugin enable`, `disable` and `reload`: orders about an installed plugin, which running hosts carry out at once.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { operate, type Operator } from "../operator.ts";
import { notifyHosts } from "../../http/running_hosts.ts";
import { counted, type Terminal } from "../terminal.ts";

export function addPluginSwitch(parent: Command, terminal: Terminal): void {
  const enable = parent.command("enable")
    .summary("let a plugin run")
    .description("Lets an installed plugin run. Running hosts start it at once and forget its earlier failures.")
    .argument("<name>", "the plugin's name")
    .addHelpText("after", JSON_SHAPE);
  operate(enable, terminal, (operator, name: string) => setEnabled(operator, name, true));
  const disable = parent.command("disable")
    .summary("stop a plugin and keep it down")
    .description("Keeps an installed plugin from running. Running hosts stop it at once.")
    .argument("<name>", "the plugin's name")
    .addHelpText("after", JSON_SHAPE);
  operate(disable, terminal, (operator, name: string) => setEnabled(operator, name, false));
  const reloading = parent.command("reload")
    .summary("restart a running plugin without a gap")
    .description(
      "Has every host that runs a plugin load its files again. The new process starts beside the old one, which serves " +
        "calls until the new one is ready, and keeps running if the new one fails.",
    )
    .argument("<name>", "the plugin's name")
    .addHelpText("after", '\nWith --json it prints { "name", "hosts" }: how many running hosts have reloaded it.');
  operate(reloading, terminal, reload);
}

const JSON_SHAPE = `
With --json it prints { "name", "enabled", "changed", "hosts" }: whether that is new, and how many running hosts were notified.`;

async function setEnabled(operator: Operator, name: string, enabled: boolean): Promise<void> {
  const { setEnabled: write } = await import("../../packages/install/change_installed.ts");
  const { home, audit, json, terminal: { out } } = operator;
  const changed = await write(name, enabled, operator);
  const { notified, failures: [failure] } = await notifyHosts(home, name, enabled ? "enable" : "disable");
  const subject = { name, instance: name };
  if (changed && enabled) audit.emit("plugin.enabled", subject, {});
  if (changed && !enabled) audit.emit("plugin.disabled", subject, { reason: "operator" });
  if (failure) {
    const state = enabled ? "enabled" : "disabled";
    throw new HostError("plugin.unavailable", `${name} is ${state}, but: ${failure.message}`, {
      data: { plugin: name, code: failure.code },
      hint: `See kaged plugin logs ${name}`,
    });
  }
  if (json) return out.json({ name, enabled, changed, hosts: notified });
  const hosts = notified === 0 ? "" : `, in ${counted(notified, "running host")} too`;
  out.done(`${enabled ? "Enabled" : "Disabled"} ${name}${hosts}`);
}

async function reload({ home, json, terminal: { out } }: Operator, name: string): Promise<void> {
  const { notified, failures: [failure] } = await notifyHosts(home, name, "reload");
  if (notified === 0) {
    throw new HostError("plugin.unavailable", `No running host has a plugin "${name}"`, {
      data: { plugin: name, home },
      hint: "Start one, for example with kaged serve; kaged plugin list shows what runs",
    });
  }
  if (failure) throw failure;
  if (json) return out.json({ name, hosts: notified });
  out.done(`Reloaded ${name} in ${counted(notified, "running host")}`);
}
