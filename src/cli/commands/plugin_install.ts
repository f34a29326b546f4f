/**
 * `kaged plugin install` and `kaged plugin upgrade`: nothing is copied until the operator confirms.
 *
 * @module
 */
import { type Command, Option } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { ReplacedVersion } from "../../packages/install/apply.ts";
import { contributionsOf } from "../../packages/install/consent_offer.ts";
import type { InstallPlan } from "../../packages/install/plan.ts";
import { sourceText } from "../../packages/install/source.ts";
import { addGrantOptions, answerOf, type GrantFlags, withoutText } from "../grants.ts";
import { installFlow, type InstallWish } from "../install_flow.ts";
import { operate, type Operator } from "../operator.ts";
import { wholeNumber } from "../options.ts";
import { printToolChanges, shownPins } from "../print_pins.ts";
import { sourceOf } from "../plugin_place.ts";
import { upgradeHosts } from "../../http/running_hosts.ts";
import type { Terminal } from "../terminal.ts";

interface InstallFlags extends GrantFlags {
  readonly allowHttp?: boolean;
  readonly release?: string;
  readonly package?: string;
  readonly replace?: boolean;
}

export function addPluginInstall(parent: Command, terminal: Terminal): void {
  const install = parent.command("install")
    .summary("install a plugin, after showing its capabilities")
    .description(
      "Shows a plugin's manifest and the capabilities it asks for, and copies it to the home once you confirm. It stays\n" +
        "disabled. Without a terminal nothing is asked, and only the capabilities that --grant names are granted.\n" +
        "The plugin runs without those that --withhold names, until you grant them (kaged plugin grant).",
    )
    .argument(
      "<source>",
      "a folder or an archive by its path, such as ./notes or ./notes.tgz, https://… or git+https://…",
    )
    .option("--package <name>", "package it is known by in projects, such as @kaged/memory-markdown")
    .addHelpText("after", INSTALL_EXAMPLES);
  operate(addInstallOptions(install), terminal, installSource);
  const upgrade = parent.command("upgrade")
    .summary("replace a plugin by another version, after showing the changes")
    .description(
      "Shows the capabilities that another version adds or gives up, and replaces the installed one once you confirm.\n" +
        "A plugin that runs is restarted. If the new version cannot start, the old one stays: exit code 1. Capabilities\n" +
        "that you withheld stay withheld unless --grant names them.",
    )
    .argument("<name>", "the plugin's name")
    .argument("[source]", "a folder, an archive, https://… or git+https://… (default: where it was installed from)")
    .addHelpText("after", UPGRADE_EXAMPLES);
  operate(addInstallOptions(upgrade), terminal, upgradePlugin);
}

function addInstallOptions(command: Command): Command {
  return addGrantOptions(command)
    .option("--release <range>", "take the newest tag of a repository in this range, such as ^1.2")
    .option("--allow-http", "allow plain http, to this machine only")
    .addOption(maxSizeOption())
    .addOption(maxFilesOption())
    .option("--replace", "let it replace a plugin of the same name from another source");
}

/** Returns `--max-size`, for every command that installs. */
export function maxSizeOption(): Option {
  return new Option("--max-size <mb>", "largest plugin to install, in MB (default: 256)")
    .argParser(wholeNumber("a number of MB", 1));
}

/** Returns `--max-files`, for the same commands. */
export function maxFilesOption(): Option {
  return new Option("--max-files <count>", "most files, folders and links of a plugin to install (default: 20000)")
    .argParser(wholeNumber("a number of files", 1));
}

const INSTALL_EXAMPLES = `
Examples:
  kaged plugin install ./oh-my-pi
  kaged plugin install ./oh-my-pi-1.4.0.tgz
  kaged plugin install https://github.com/example/oh-my-pi --release ^1.4
  kaged plugin install ./oh-my-pi --grant read:fs:/opt/oh-my-pi --grant exec:bash:/opt/oh-my-pi
  kaged plugin install ./oh-my-pi --grant read:fs:/opt/oh-my-pi --withhold exec:bash:/opt/oh-my-pi
With --json it prints { "name", "version", "done": "installed" | "upgraded" | "nothing", "hash", "source",
"capabilities": [], "withheld": [], "added": [], "removed": [], "roles": [], "hooks": [], "tools": [ { "name", "description" } ],
"protocol", "restarted" }.`;

const UPGRADE_EXAMPLES = `
Examples:
  kaged plugin upgrade oh-my-pi
  kaged plugin upgrade oh-my-pi ./oh-my-pi-v2 --grant net:api.openai.com:443
With --json it prints what kaged plugin install prints.`;

async function installSource(operator: Operator, text: string, flags: InstallFlags): Promise<void> {
  const source = await sourceOf(text, operator.terminal, flags.allowHttp);
  const plan = { replace: flags.replace ?? false, package: flags.package ?? null };
  await runFlow(operator, flags, { source, plan });
}

async function upgradePlugin(
  operator: Operator,
  name: string,
  given: string | undefined,
  flags: InstallFlags,
): Promise<void> {
  const { recordOf } = await import("../../packages/install/change_installed.ts");
  const record = recordOf(name, await operator.local());
  const text = given ?? record.source;
  if (text === undefined) {
    throw new HostError("install.source_unspecified", `The record of "${name}" names no source`, {
      data: { plugin: name },
      hint: `Name it: kaged plugin upgrade ${name} <source>`,
    });
  }
  const source = await sourceOf(text, operator.terminal, flags.allowHttp);
  const check = ({ manifest }: InstallPlan): void => {
    if (manifest.name === name) return;
    throw new HostError("install.name_taken", `"${text}" holds the plugin "${manifest.name}", not "${name}"`, {
      hint: `Install it under its own name: kaged plugin install ${text}`,
    });
  };
  await runFlow(operator, flags, { source, check, plan: { replace: flags.replace ?? false } });
}

async function runFlow(
  operator: Operator,
  flags: InstallFlags,
  wish: Pick<InstallWish, "source" | "plan" | "check">,
): Promise<void> {
  const { json, terminal } = operator;
  const answer = await answerOf(flags, terminal);
  const release = flags.release ?? null;
  const { plan, replaced, granted } = await installFlow(
    { ...wish, release, answer, each: flags.each ?? false },
    operator,
  );
  await using _old = replaced;
  if (!json) printDone(plan, granted, terminal);
  const restarted = plan.kind === "upgrade" && await restart(plan, replaced, operator);
  if (json) terminal.out.json({ ...planJson(plan, granted), restarted });
}

function printDone(
  { kind, manifest: { name, version }, installed }: InstallPlan,
  { withheld = [] }: Manifest,
  { out }: Terminal,
): void {
  if (kind === "same") {
    const { local, projects } = installed!.record;
    const whom = local ? "" : `, for ${projects.length === 0 ? "no project" : projects.join(", ")}`;
    return out.line(`Plugin ${name} ${version} is installed already${whom}: nothing to do`);
  }
  const without = withoutText(withheld);
  if (kind === "upgrade") return out.done(`Upgraded ${name} to ${version}${without}`);
  out.done(`Installed ${name} ${version}${without}`);
  if (!installed) out.line(`  ${out.paint.dim("→")} enable with: kaged plugin enable ${name}`);
}

/** Has running hosts take up the other version; returns whether the plugin ran and runs again. */
export async function restart(
  plan: InstallPlan,
  replaced: ReplacedVersion | null,
  operator: Operator,
): Promise<boolean> {
  const { settleUpgrade } = await import("../../packages/install/settle_upgrade.ts");
  const { home, json, terminal: { out, err } } = operator;
  const { name } = plan.manifest;
  const hosts = await upgradeHosts(home, name);
  if (!json && hosts.some(({ wasUp }) => wasUp)) out.line("  Plugin was running; restarting...");
  const { isUp, failures } = await settleUpgrade(plan, replaced, hosts);
  for (const { message } of failures) err.warning(`${name} was not restarted: ${message}`);
  if (isUp && !json) out.done(`${name} restarted`);
  // Where the new version has listed its tools already; else info shows the difference after its first start.
  const pins = json ? null : await shownPins(home, name, plan.hash, operator.runtime.files).catch(() => null);
  if (pins) printToolChanges(pins, out);
  return isUp;
}

function planJson({ kind, hash, source, diff }: InstallPlan, manifest: Manifest): Record<string, unknown> {
  const { name, version, capabilities, withheld = [] } = manifest;
  return {
    name,
    version,
    done: { install: "installed", upgrade: "upgraded", same: "nothing" }[kind],
    hash,
    source: sourceText(source),
    capabilities,
    withheld,
    added: diff.added,
    removed: diff.removed,
    ...contributionsOf(manifest),
  };
}
