/**
 * `kaged project load`: asks for each plugin that a project declares and lacks, and installs it for that project.
 *
 * @module
 */
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { PluginRefusal, ResolvedProject } from "../../core/project/types.ts";
import { type GrantAnswer, unanswered, withheldAfter } from "../../packages/consent/withholding.ts";
import type { ConsentDesk, DeskOptions } from "../../packages/install/consent_desk.ts";
import type { ConsentOffer, ConsentRequest } from "../../packages/install/consent_types.ts";
import { sourceText } from "../../packages/install/source.ts";
import { addGrantOptions, answerOf, askEach, type GrantFlags, withoutText } from "../grants.ts";
import { fetching } from "../install_flow.ts";
import { operateCheck, type Operator } from "../operator.ts";
import { addPluginOption, collected, collectedPairs, pluginFolders, type ProjectFlags } from "../options.ts";
import { sourceOf } from "../plugin_place.ts";
import { printCapabilities, printContributions, printFacts, printWithheld } from "../print_plan.ts";
import { declined, grantQuestion, type Questions } from "../questions.ts";
import { notifyHosts, upgradeHosts } from "../../http/running_hosts.ts";
import type { Printer, Terminal } from "../terminal.ts";
import { maxFilesOption, maxSizeOption } from "./plugin_install.ts";
import { printProblems, type Problem, problemJson, problemsOf } from "./project_resolve.ts";

interface LoadFlags extends ProjectFlags, GrantFlags {
  readonly fetch?: readonly string[];
  readonly install?: readonly string[];
  readonly askAgain?: boolean;
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
        "Without a terminal nothing is asked: only packages that --install names are installed, with the capabilities\n" +
        "that --grant names. A plugin that you declined is not asked for again until the project declares another source\n" +
        "or version of it. Exit code 1 while a plugin is missing, or refused for its config.",
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
    .addOption(
      new Option("--install <package>", "agree to install this package, without a question; may be repeated")
        .argParser(collected(String)),
    )
    .option("--ask-again", "ask for plugins that were declined too")
    .option("--allow-http", "allow plain http, to this machine only")
    .addOption(maxSizeOption())
    .addOption(maxFilesOption())
    .addHelpText("after", EXAMPLES);
  operateCheck(addPluginOption(addGrantOptions(command)), { terminal, exit }, load);
}

const EXAMPLES = `
Examples:
  kaged project load .
  kaged project load . --fetch https://github.com/example/notes --install @example/notes --grant kaged:storage:write
With --json it prints { "project", "state": "ready" | "pending" | "refused", "installed": [], "pending": [ { "package",
"source", "step", "state", "offer", "error" } ], "errors": [ what kaged project resolve prints ] }.`;

async function load(operator: Operator, given: string, flags: LoadFlags): Promise<boolean> {
  const [{ ConsentDesk }, { loadProject }, { referenceReader }] = await Promise.all([
    import("../../packages/install/consent_desk.ts"),
    import("../../core/project/load_project.ts"),
    import("../../core/project/references.ts"),
  ]);
  const { runtime, home, terminal } = operator;
  const { files, env } = runtime;
  const answer = await answerOf(flags, terminal);
  const dir = await existing(resolve(terminal.cwd, given), files.realPath);
  await operator.local();
  const places = { dir, home, plugins: pluginFolders(flags, terminal), files, env, read: referenceReader(runtime) };
  const { resolved } = await loadProject(places);
  const installed: string[] = [];
  const down: Problem[] = [];
  const onInstalled: DeskOptions["onInstalled"] = async (plugin, upgrade) => {
    installed.push(plugin);
    const { failures } = upgrade ?? await notifyHosts(home, plugin, "enable");
    down.push(...failures.map((error) => ({ agent: "", key: null, error })));
  };
  const project = { id: resolved.id, dir };
  const desk = new ConsentDesk({
    ports: operator,
    project,
    onInstalled,
    hosts: (plugin) => upgradeHosts(home, plugin),
  });
  try {
    await desk.update(() => [...resolved.missing, ...resolved.unfit]);
    const failures = new Map<string, Failure>();
    const asked = new Set<string>();
    const others = otherVersions(resolved);
    for (const { id } of desk.list()) await settle(id, desk, { ...operator, flags, answer, asked, failures, others });
    for (const one of answer.withhold.filter((one) => !asked.has(one))) {
      terminal.err.warning(`--withhold ${one}: no plugin that was asked about asks for it`);
    }
    // Read again: the config and the secrets of plugins that were just installed are checked as well.
    const problems = [...refusedOf((await loadProject(places)).resolved), ...down];
    const pending = desk.list().map((request) => ({ ...request, error: failures.get(request.id) ?? request.error }));
    report({ project: resolved.id, installed, pending, problems, others }, operator);
    return pending.length === 0 && problems.length === 0;
  } finally {
    await desk.close();
  }
}

/** Returns the problems of plugins that are installed; those that are not, in the version declared, are pending. */
function refusedOf({ refusals, unfit }: ResolvedProject): Problem[] {
  const isPending = ({ agent, error: { code } }: PluginRefusal): boolean =>
    code === "plugin.not_installed" ||
    (code === "project.version_mismatch" && unfit.some(({ agents }) => agents.includes(agent)));
  return problemsOf(refusals.filter((one) => !isPending(one)));
}

/** Returns the versions of plugins that are installed in another version than the project takes, by package. */
function otherVersions({ refusals, unfit }: ResolvedProject): ReadonlyMap<string, string> {
  const others = refusals.filter(({ error: { code } }) => code === "project.version_mismatch");
  return new Map(unfit.flatMap(({ package: pkg }) => {
    const found = others.find((one) => one.package === pkg)?.found;
    return found ? [[pkg, found.manifest.version] as const] : [];
  }));
}

type Failure = NonNullable<ConsentRequest["error"]>;

interface Asking extends Operator {
  readonly flags: LoadFlags;
  readonly answer: Required<GrantAnswer>;
  /** Collects the capabilities of all plugins that were asked about. */
  readonly asked: Set<string>;
  /** Why requests stay pending, by id. */
  readonly failures: Map<string, Failure>;
  /** Installed versions that the project does not take, by package. */
  readonly others: ReadonlyMap<string, string>;
}

/** Takes one request as far as the answers go. An error is printed and leaves the request pending. */
async function settle(id: string, desk: ConsentDesk, asking: Asking): Promise<void> {
  const { flags, json, failures, others, terminal: { out, err } } = asking;
  const current = (): ConsentRequest => desk.list().find((one) => one.id === id)!;
  try {
    const { package: pkg, agents, version, state } = current();
    const wanted = version === null ? pkg : `${pkg} ${version}`;
    const other = others.get(pkg);
    const lack = other === undefined ? "not installed" : `installed in version ${other}, which does not fit`;
    if (!json) out.line(`${wanted}: declared by ${agents.join(", ")}, ${lack}`);
    if (state === "declined" && !flags.install?.includes(pkg)) {
      if (!flags.askAgain) throw declinedBefore(pkg);
      await desk.askAgain(id);
    }
    const offer = await offerOf(id, current, desk, asking);
    if (!json) printOffer(offer, out);
    const { granted: grant, withhold } = await agreeTo(offer, pkg, asking);
    await desk.approve(id, { hash: offer.hash, grant, withhold });
    if (!json) {
      const done = isUpgrade(offer) ? `Upgraded ${offer.name} to` : `Installed ${offer.name}`;
      out.done(`${done} ${offer.version}${withoutText(withheldBy(offer, { granted: grant, withhold }))}`);
    }
  } catch (error) {
    if (!(error instanceof HostError) || error.code === "host.interrupted") throw error;
    if (error.code === "install.declined" && current().state !== "declined") await desk.decline(id);
    const { code, message, hint } = error;
    failures.set(id, { code, message, ...(hint !== undefined && { hint }) });
    if (json) return;
    err.line(`${err.paint.yellow("pending")}: ${message}`);
    err.hint(hint);
  }
}

/** Brings the plugin's files to hand, with the operator's agreement, and returns what is offered. */
async function offerOf(
  id: string,
  current: () => ConsentRequest,
  desk: ConsentDesk,
  asking: Asking,
): Promise<ConsentOffer> {
  const { flags: { allowHttp = false, fetch = [] }, ask } = asking;
  const { step, package: pkg, source, offer } = current();
  if (step === "source") await desk.approve(id, { source: await sourceFor(pkg, asking), allowHttp });
  else if (step === "fetch") {
    const address = source!;
    if (!fetch.includes(address)) await agree(ask, `Fetch ${address}?`, `--fetch '${address}'`);
    await ask.during(desk.approve(id, { allowHttp }), fetching(address));
  } else if (offer === null) await desk.approve(id);
  return current().offer!;
}

/**
 * Agrees by flags where the package and every new capability are named, else asks. A capability that is named agrees to
 * no package: another plugin of the project may ask for the same. Returns the answer about the plugin's capabilities.
 */
async function agreeTo(
  offer: ConsentOffer,
  pkg: string,
  { flags, answer, ask, asked }: Asking,
): Promise<Required<GrantAnswer>> {
  const { name, version, installed, added } = offer;
  // Flags are about all plugins of the project: each takes those that it asks for.
  const own = askedIn(offer);
  for (const one of own) asked.add(one);
  const ofThis = (list: readonly string[]): string[] => list.filter((one) => own.includes(one));
  const flagged = { granted: ofThis(answer.granted), withhold: ofThis(answer.withhold) };
  const each = (flags.each ?? false) && ask.canAsk;
  const given = each ? await askEach(name, added, flagged, ask) : flagged;
  const missing = unanswered(added, given);
  const whole = { ...given, granted: [...given.granted, ...missing] };
  const isNamed = flags.install?.includes(pkg) ?? false;
  if (isNamed && !each && missing.length === 0) return whole;
  const named = isNamed ? [] : [`--install '${pkg}'`];
  const flag = [...named, ...missing.map((capability) => `--grant '${capability}'`)].join(" ");
  if (isUpgrade(offer) && missing.length > 0) await agree(ask, grantQuestion(name, missing), flag);
  const question = isUpgrade(offer) ? `Upgrade ${name} ${installed} → ${version}` : `Install ${name}`;
  await agree(ask, `${question}${withoutText(withheldBy(offer, whole))}?`, flag);
  return whole;
}

/** Returns the capabilities of an offer that an answer leaves withheld. */
function withheldBy(offer: ConsentOffer, answer: GrantAnswer): string[] {
  const before = offer.withheld.map(({ capability }) => capability);
  return withheldAfter({ name: offer.name, capabilities: askedIn(offer) }, answer, before);
}

function askedIn({ capabilities, withheld }: ConsentOffer): string[] {
  return [...capabilities, ...withheld].map(({ capability }) => capability);
}

function declinedBefore(pkg: string): HostError {
  return new HostError("install.declined", `${pkg} was declined before, and is not asked for again`, {
    data: { package: pkg },
    hint: "Ask again with --ask-again",
  });
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
    : await ask.text(`${pkg}: source not specified. Folder or address to install it from`);
  if (text === "") {
    throw new HostError("install.source_unspecified", `${pkg}: source not specified`, {
      data: { package: pkg },
      hint: `Name it with --source '${pkg}=<folder>', or install it by hand`,
    });
  }
  return sourceText(await sourceOf(text, terminal, flags.allowHttp));
}

/** Whether another version is installed, for this project or for others. */
function isUpgrade({ installed, version }: ConsentOffer): boolean {
  return installed !== null && installed !== version;
}

function printOffer(offer: ConsentOffer, out: Printer): void {
  const { name, kaged_api, description, license, source, capabilities, installed, added, removed } = offer;
  const isNewer = isUpgrade(offer);
  const version = isNewer ? `${installed} → ${offer.version}, for the projects it serves already too` : offer.version;
  printFacts({ name, version, kaged_api, description, license, source }, out);
  printCapabilities(capabilities, out, isNewer ? added : []);
  for (const capability of removed) out.line(out.paint.red(`    - ${capability}  (REMOVED)`));
  printWithheld(offer.withheld, out);
  printContributions(offer, out);
}

interface Outcome {
  readonly project: string;
  readonly installed: readonly string[];
  readonly pending: readonly ConsentRequest[];
  /** Plugins that are installed and cannot run as the project declares them, or that a running host could not start. */
  readonly problems: readonly Problem[];
  /** Installed versions that the project does not take, by package. */
  readonly others: ReadonlyMap<string, string>;
}

function report(
  { project, installed, pending, problems, others }: Outcome,
  { json, terminal: { out, err } }: Operator,
): void {
  const state = pending.length > 0 ? "pending" : problems.length > 0 ? "refused" : "ready";
  if (json) {
    const rows = pending.map(({ package: pkg, source, step, state, offer, error }) => {
      return { package: pkg, source, step, state, offer, error };
    });
    return out.json({ project, state, installed, pending: rows, errors: problems.map(problemJson) });
  }
  printProblems(problems, err);
  if (state === "ready") return out.done(`Project ${project} is ready`);
  if (pending.length > 0) {
    out.line(`Project ${project} is pending: ${lackOf(pending.map((one) => one.package), others)}`);
  } else out.line(`Project ${project} is not ready: see the errors above`);
}

/** Returns which packages the project lacks, those that are there in another version apart. */
function lackOf(packages: readonly string[], others: ReadonlyMap<string, string>): string {
  const absent = packages.filter((pkg) => !others.has(pkg));
  const unfit = packages.filter((pkg) => others.has(pkg));
  const parts = [[absent, "not installed"], [unfit, "not in a version that fits"]] as const;
  return parts.flatMap(([names, lack]) => names.length === 0 ? [] : [`${names.join(", ")} ${lack}`]).join("; ");
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
