/**
 * `kaged plugin approve-tools`: takes tools of an MCP server as they are now, after showing how they differ.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import { type QuarantinedTool, quarantinedTools } from "../../core/pins/tool_diff.ts";
import { notifyHosts } from "../../http/running_hosts.ts";
import { operate, type Operator } from "../operator.ts";
import { requirePluginName } from "../options.ts";
import { printQuarantined, shownPins } from "../print_pins.ts";
import { declined } from "../questions.ts";
import { counted, type Terminal } from "../terminal.ts";

interface ApproveFlags {
  readonly yes?: boolean;
}

export function addPluginApproveTools(parent: Command, terminal: Terminal): void {
  const command = parent.command("approve-tools")
    .summary("take quarantined tools of an MCP server as they are now")
    .description(
      "Shows how the quarantined tools of an installed MCP server differ from those that you agreed to, and keeps them\n" +
        "as they are once you confirm. Agents of running hosts have them at once.",
    )
    .argument("<name>", "the plugin's name")
    .argument("[tool...]", "tools to approve, such as send_mail (default: all that are quarantined)")
    .option("--yes", "approve what is shown, without a question")
    .addHelpText("after", EXAMPLES);
  operate(command, terminal, approve);
}

const EXAMPLES = `
Examples:
  kaged plugin approve-tools mail
  kaged plugin approve-tools mail send_mail --yes
With --json it prints { "name", "approved": [ { "tool", "kind": "new" | "changed", "pinned", "listed", "diff": [ { "mark",
"text" } ] } ], "left": [ names that stay quarantined ], "hosts": how many running hosts were notified }.`;

async function approve(operator: Operator, name: string, names: string[], flags: ApproveFlags): Promise<void> {
  const [{ recordOf }, { approveTools }] = await Promise.all([
    import("../../packages/install/change_installed.ts"),
    import("../../packages/install/pin_tools.ts"),
  ]);
  const { home, runtime, json, terminal: { out } } = operator;
  requirePluginName(name);
  const { hash = "" } = recordOf(name, await operator.local());
  const shown = await shownPins(home, name, hash, runtime.files);
  const held = shown ? quarantinedTools(shown.pins) : [];
  const chosen = await chosenTools(name, names, held);
  if (chosen.length === 0) {
    return json ? out.json({ name, approved: [], left: [], hosts: 0 }) : out.line(`No tool of ${name} is quarantined`);
  }
  if (!json) {
    out.line(`${out.paint.bold(name)}: ${counted(chosen.length, "tool")} ${chosen.length === 1 ? "is" : "are"} held`);
    for (const one of chosen) printQuarantined(name, one, out);
  }
  if (!flags.yes) await agree(name, chosen, operator);
  // By the hashes of what was shown: a server that lists others meanwhile gets no approval for those.
  await approveTools(name, hash, Object.fromEntries(chosen.map(({ tool, listed }) => [tool, listed])), operator);
  const { notified: hosts } = await notifyHosts(home, name, "repin");
  const left = held.filter((one) => !chosen.includes(one)).map(({ tool }) => tool);
  if (json) return out.json({ name, approved: chosen, left, hosts });
  const where = hosts === 0 ? "" : `; agents of ${counted(hosts, "running host")} have them now`;
  out.done(`Approved ${chosen.map(({ tool }) => `${name}.${tool}`).join(", ")}${where}`);
}

/** Returns the held tools that were named, by their names with or without the plugin's; all where none was. */
async function chosenTools(
  plugin: string,
  names: readonly string[],
  held: readonly QuarantinedTool[],
): Promise<readonly QuarantinedTool[]> {
  if (names.length === 0) return held;
  const { notQuarantined } = await import("../../packages/installed/pin_store.ts");
  const short = names.map((name) => name.startsWith(`${plugin}.`) ? name.slice(plugin.length + 1) : name);
  const unknown = short.find((name) => !held.some(({ tool }) => tool === name));
  if (unknown !== undefined) throw notQuarantined(plugin, unknown, held.map(({ tool }) => tool));
  return held.filter(({ tool }) => short.includes(tool));
}

async function agree(name: string, chosen: readonly QuarantinedTool[], { ask }: Operator): Promise<void> {
  if (!ask.canAsk) {
    const tools = chosen.map(({ tool }) => tool);
    throw new HostError("install.consent_missing", `Nobody agreed to ${counted(tools.length, "tool")} of "${name}"`, {
      data: { plugin: name, tools: chosen },
      hint: `Read how they differ, then: kaged plugin approve-tools ${name} ${tools.join(" ")} --yes`,
    });
  }
  const what = chosen.length === 1 ? `${name}.${chosen[0]!.tool}` : `these ${chosen.length} tools`;
  if (!await ask.confirm(`Take ${what} as shown?`)) throw declined();
}
