/**
 * `kaged plugin grant` and `kaged plugin withhold`: other grants for an installed plugin, which running hosts take up.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { GrantAnswer } from "../../packages/consent/withholding.ts";
import { canonical } from "../grants.ts";
import { operate, type Operator } from "../operator.ts";
import { collected, requirePluginName } from "../options.ts";
import { notifyHosts } from "../../http/running_hosts.ts";
import { counted, type Terminal } from "../terminal.ts";

export function addPluginGrant(parent: Command, terminal: Terminal): void {
  const grant = parent.command("grant")
    .summary("grant capabilities that were withheld")
    .description(
      "Grants an installed plugin capabilities that it asks for and that were withheld. Running hosts reload it.",
    )
    .argument("<name>", "the plugin's name")
    .argument("<capability...>", "as the manifest has it, such as net:api.example.com:443", collected(canonical))
    .addHelpText("after", JSON_SHAPE);
  operate(grant, terminal, (operator, name: string, granted: string[]) => change(operator, name, { granted }));
  const withhold = parent.command("withhold")
    .summary("have a plugin run without some of its capabilities")
    .description(
      "Takes capabilities from an installed plugin, and with them every other that would give it the same. Running hosts\n" +
        "reload it; where it cannot start without them, it stays down. An upgrade does not bring them back. A host that\n" +
        "was added at the desk (kaged approvals, always) is taken back by it too.",
    )
    .argument("<name>", "the plugin's name")
    .argument("<capability...>", "as the manifest has it, such as net:api.example.com:443", collected(canonical))
    .addHelpText("after", JSON_SHAPE);
  operate(withhold, terminal, (operator, name: string, given: string[]) => {
    return change(operator, name, { granted: [], withhold: given });
  });
}

const JSON_SHAPE = `
With --json it prints { "name", "changed", "capabilities": [], "withheld": [], "hosts" }: whether that is new, the lists
that hold now, and how many running hosts were notified.`;

async function change(operator: Operator, name: string, answer: GrantAnswer): Promise<void> {
  const { changeGrants } = await import("../../packages/install/change_installed.ts");
  const { json, terminal: { out } } = operator;
  requirePluginName(name);
  const { changed, capabilities, withheld } = await changeGrants(name, answer, operator);
  const hosts = changed ? await renew(name, operator) : 0;
  if (json) return out.json({ name, changed, capabilities, withheld, hosts });
  const left = withheld.length === 0 ? "with all it asks for" : `without ${withheld.join(", ")}`;
  const where = hosts === 0 ? "" : `, in ${counted(hosts, "running host")} too`;
  out.done(changed ? `${name} runs ${left}${where}` : `${name} runs ${left} already: nothing to do`);
}

/**
 * Has running hosts take up the grants; returns how many. A process that goes on because the new one failed would keep a
 * capability that was just taken away, so that the plugin is stopped and started there instead.
 */
async function renew(name: string, { home }: Operator): Promise<number> {
  const { notified, failures } = await notifyHosts(home, name, "reload");
  if (failures.some(({ code }) => code === "plugin.reload_failed")) {
    const { failures: [failure] } = await notifyHosts(home, name, "restart");
    if (failure) {
      const message = `The grants of ${name} are changed, but a running host could not start it so: ${failure.message}`;
      throw new HostError("plugin.unavailable", message, {
        data: { plugin: name, code: failure.code },
        hint: failure.hint ?? `See kaged plugin logs ${name}`,
      });
    }
  }
  return notified;
}
