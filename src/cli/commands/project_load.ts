/**
 * `kaged project load`: asks for each plugin that a project declares and lacks, and installs it for that project.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { ConsentDesk } from "../../packages/install/consent_desk.ts";
import type { ConsentOffer, ConsentRequest } from "../../packages/install/consent_types.ts";
import { isAddress } from "../../packages/install/source.ts";
import { addGrantOptions, type GrantFlags, grantsOf } from "../grants.ts";
import { fetching } from "../install_flow.ts";
import { operate, type Operator } from "../operator.ts";
import { addPluginOption, collected, collectedPairs, pluginFolders, type ProjectFlags } from "../options.ts";
import { printCapabilities, printFacts } from "../print_plan.ts";
import { declined, grantQuestion, type Questions } from "../questions.ts";
import { notifyHosts } from "../running_hosts.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";
import { maxSizeOption } from "./plugin_install.ts";

interface LoadFlags extends ProjectFlags, GrantFlags {
  readonly fetch?: readonly string[];
  readonly source?: Readonly<Record<string, string>>;
  readonly allowHttp?: boolean;
}

/** Adds the command; `exit` gets 1 when the project stays pending. */
export function addProjectLoad(parent: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = parent.command("load")
    .summary("install the plugins a project declares, after asking for each")
    .description(
      "Asks for each plugin that the project declares and lacks, or has in another version: whether its source may be\n" +
        "fetched, and whether it may have its capabilities. A plugin installed this way serves this project only.\n" +
        "While a plugin is missing the project is pending: exit code 1.",
    )
    .argument("<dir>", "folder that holds project.yaml")
    .addOption(
      new Option("--fetch <address>", "agree to fetch this address, without a question; may be repeated")
        .argParser(collected(String)),
    )
    .addOption(
      new Option("--source <package=source>", "folder or address to install a package from; may be repeated")
        .argParser(collectedPairs("package=source")),
    )
    .option("--allow-http", "allow plain http, to this machine only")
    .addOption(maxSizeOption())
    .addHelpText("after", EXAMPLES);
  operate(addPluginOption(addGrantOptions(command)), terminal, async (operator, dir: string, flags: LoadFlags) => {
    exit(await load(operator, dir, flags) ? 0 : 1);
  });
}

const EXAMPLES = `
Examples:
  kaged project load .
  kaged project load . --fetch https://github.com/example/notes --grant kaged:storage:write
With --json it prints { "project", "state": "ready" | "pending", "installed": [], "pending": [ { "package", "source",
"step", "state", "error" } ] }.`;

async function load(operator: Operator, given: string, flags: LoadFlags): Promise<boolean> {
  const [{ ConsentDesk }, { loadProject }] = await Promise.all([
    import("../../packages/install/consent_desk.ts"),
    import("../../core/project/load_project.ts"),
  ]);
  const { runtime: { files, env }, home, terminal } = operator;
  const granted = await grantsOf(flags, terminal);
  const dir = await existing(resolve(terminal.cwd, given), files.realPath);
  await operator.local();
  const { resolved } = await loadProject({ dir, home, plugins: pluginFolders(flags, terminal), files, env });
  const installed: string[] = [];
  const onInstalled = async (plugin: string): Promise<void> => {
    installed.push(plugin);
    await notifyHosts(home, plugin, "enable");
  };
  const desk = new ConsentDesk({ ports: operator, project: { id: resolved.id, dir }, onInstalled });
  try {
    await desk.update([...resolved.missing, ...resolved.unfit]);
    for (const { id } of desk.list()) await settle(id, desk, { ...operator, flags, granted });
    report(resolved.id, installed, desk.list(), operator);
    return desk.list().length === 0;
  } finally {
    await desk.close();
  }
}

interface Asking extends Operator {
  readonly flags: LoadFlags;
  readonly granted: readonly string[];
}

/** Takes one request as far as the answers go. An error is printed and leaves the request pending. */
async function settle(id: string, desk: ConsentDesk, asking: Asking): Promise<void> {
  const { flags, ask, json, terminal: { out, err } } = asking;
  const current = (): ConsentRequest => desk.list().find((one) => one.id === id)!;
  const { allowHttp = false } = flags;
  try {
    const { package: pkg, agents, version } = current();
    const wanted = version === null ? pkg : `${pkg} ${version}`;
    if (!json) out.line(printable(`${wanted}: declared by ${agents.join(", ")}, not installed`));
    if (current().step === "source") {
      await desk.approve(id, { source: await sourceFor(pkg, asking), allowHttp });
    } else if (current().step === "fetch") {
      const address = current().source!;
      if (!flags.fetch?.includes(address)) await agree(ask, `Fetch ${printable(address)}?`, `--fetch '${address}'`);
      await ask.during(desk.approve(id, { allowHttp }), fetching(address));
    } else if (current().offer === null) await desk.approve(id);
    const offer = current().offer!;
    if (!json) printOffer(offer, out);
    await agreeTo(offer, asking);
    await desk.approve(id, { hash: offer.hash, grant: offer.added });
    if (!json) {
      out.done(`${isUpgrade(offer) ? `Upgraded ${offer.name} to` : `Installed ${offer.name}`} ${offer.version}`);
    }
  } catch (error) {
    if (!(error instanceof HostError) || error.code === "host.interrupted") throw error;
    if (error.code === "install.declined") await desk.decline(id);
    if (json) return;
    err.line(`${err.paint.yellow("pending")}: ${printable(error.message)}`);
    err.hint(error.hint);
  }
}

async function agreeTo(offer: ConsentOffer, { granted, ask }: Asking): Promise<void> {
  const { name, version, installed, added } = offer;
  const missing = added.filter((capability) => !granted.includes(capability));
  if (missing.length === 0 && (granted.length > 0 || !ask.canAsk)) return;
  const flag = missing.map((capability) => `--grant '${capability}'`).join(" ");
  if (isUpgrade(offer) && missing.length > 0) await agree(ask, grantQuestion(name, missing), flag);
  await agree(ask, isUpgrade(offer) ? `Upgrade ${name} ${installed} → ${version}?` : `Install ${name}?`, flag);
}

/** Asks; where nobody can be asked, throws an error that names the flag for the same answer. */
async function agree(ask: Questions, question: string, flag: string): Promise<void> {
  if (!ask.canAsk) {
    throw new HostError("install.consent_missing", `Nobody could be asked: ${question}`, {
      hint: `Agree with ${flag}`,
    });
  }
  if (!await ask.confirm(question)) throw declined();
}

async function sourceFor(pkg: string, { flags, ask, terminal }: Asking): Promise<string> {
  const { source: sources = {} } = flags;
  const text = Object.hasOwn(sources, pkg)
    ? sources[pkg]!
    : await ask.text(`${printable(pkg)}: source not specified. Folder or address to install it from`);
  if (text === "") {
    throw new HostError("install.source_unspecified", `${pkg}: source not specified`, {
      data: { package: pkg },
      hint: `Name it with --source '${pkg}=<folder>', or install it by hand`,
    });
  }
  return isAddress(text) ? text : resolve(terminal.cwd, text);
}

/** Whether another version is installed, for this project or for others. */
function isUpgrade({ installed, version }: ConsentOffer): boolean {
  return installed !== null && installed !== version;
}

function printOffer(offer: ConsentOffer, out: Printer): void {
  const { name, kaged_api, description, license, capabilities, installed, added, removed } = offer;
  const isNewer = isUpgrade(offer);
  const version = isNewer ? `${installed} → ${offer.version}, for the projects it serves already too` : offer.version;
  printFacts({ name, version, kaged_api, description, license }, out);
  printCapabilities(capabilities, out, isNewer ? added : []);
  for (const capability of removed) out.line(out.paint.red(printable(`    - ${capability}  (REMOVED)`)));
}

function report(
  project: string,
  installed: readonly string[],
  pending: readonly ConsentRequest[],
  { json, terminal: { out } }: Operator,
): void {
  const isReady = pending.length === 0;
  if (json) {
    const rows = pending.map(({ package: pkg, source, step, state, error }) => {
      return { package: pkg, source, step, state, error };
    });
    return out.json({ project, state: isReady ? "ready" : "pending", installed, pending: rows });
  }
  if (isReady) return out.done(`Project ${project} is ready`);
  out.line(printable(`Project ${project} is pending: ${pending.map((one) => one.package).join(", ")} not installed`));
}

async function existing(path: string, realPath: (path: string) => Promise<string>): Promise<string> {
  return await realPath(path).catch((cause) => {
    throw new HostError("project.missing", `The folder "${path}" does not exist`, {
      data: { dir: path },
      hint: 'Name a folder that holds project.yaml; "primary: {}" is a whole one',
      cause,
    });
  });
}
