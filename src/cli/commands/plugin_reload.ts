/**
 * `kaged plugin reload`: has every host that runs a plugin start it anew, with nothing lost in between.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError, isErrorCode } from "../../core/errors/host_error.ts";
import { addOperatorOptions, type OperatorFlags, withOperator } from "../operator.ts";
import { tellHosts } from "../running_hosts.ts";
import type { Terminal } from "../terminal.ts";

/** Adds the command. */
export function addPluginReload(parent: Command, terminal: Terminal): void {
  const command = parent.command("reload")
    .summary("start a running plugin anew, without a gap")
    .description(
      "Has every host that runs a plugin take up its files as they are: the new process starts beside the old one, which " +
        "goes on until the new one is ready, or for good when that fails. Calls under way are answered.",
    )
    .argument("<name>", "the plugin's name");
  addOperatorOptions(command)
    .addHelpText("after", '\nWith --json it prints { "name", "hosts" }: how many running hosts have reloaded it.')
    .action((name: string, flags: OperatorFlags) => reload(name, flags, terminal));
}

async function reload(name: string, flags: OperatorFlags, terminal: Terminal): Promise<void> {
  await withOperator(flags, terminal, async ({ home }) => {
    const { told, failures: [failure] } = await tellHosts(home, name, "reload");
    if (told === 0) {
      throw new HostError("plugin.unavailable", `No running host has a plugin "${name}"`, {
        data: { plugin: name, home },
        hint: "Start one, for example with kaged serve; kaged plugin list shows what runs",
      });
    }
    if (failure) {
      const { code, message, hint } = failure;
      const known = isErrorCode(code) ? code : "plugin.reload_failed";
      throw new HostError(known, message, { data: { plugin: name }, ...(hint !== undefined && { hint }) });
    }
    const { out } = terminal;
    if (flags.json) return out.line(JSON.stringify({ name, hosts: told }, null, 2));
    out.line(`${out.paint.green("✓")} Reloaded ${name} in ${told} running ${told === 1 ? "host" : "hosts"}`);
  });
}
