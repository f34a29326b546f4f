/**
 * From a wish to an installed and enabled MCP server that an agent has: prepare, show, ask, install, keep its secrets,
 * write it into the project.
 *
 * @module
 */
import type { LocalConfig } from "../core/project/local_config.ts";
import { isSameServer, parseServerSource, serverSourceText } from "../operator/mcp_add/source.ts";
import type { ServerWish } from "../operator/mcp_add/types.ts";
import type { ProjectChange } from "../operator/mcp_add/project_plugins.ts";
import { answerOf } from "./grants.ts";
import { installFlow } from "./install_flow.ts";
import type { AddFlags } from "./mcp_flags.ts";
import { type PreparedServer, prepareServer } from "./mcp_prepare.ts";
import { keepTrial } from "./mcp_record.ts";
import { givenSecrets, secretText } from "./mcp_values.ts";
import type { Operator } from "./operator.ts";
import { printPlan } from "./print_plan.ts";
import { counted } from "./terminal.ts";
import { notifyHosts } from "../http/running_hosts.ts";

/** The agent that gets the server. */
export interface AddTarget {
  readonly dir: string;
  readonly agent: string;
}

export interface AddRequest {
  readonly flags: AddFlags;
  readonly target: AddTarget | null;
  /** Folder that texts of the client's file are about. */
  readonly workspace: string;
  /** The client's file, or null. */
  readonly file: string | null;
}

/** A server that was taken in, as `--json` prints it. */
export interface AddedServer {
  readonly name: string;
  readonly version: string;
  readonly done: "installed" | "present" | "planned";
  readonly source: string;
  /** Revision of the protocol that it spoke in its trial, or null. */
  readonly protocol: string | null;
  readonly tools: readonly string[];
  readonly capabilities: readonly string[];
  readonly secrets: readonly { readonly key: string; readonly set: boolean }[];
  readonly project: { readonly file: string; readonly agent: string } | null;
  readonly manifest: string | null;
  readonly notes: readonly string[];
}

export async function addServer(wish: ServerWish, request: AddRequest, operator: Operator): Promise<AddedServer> {
  const { flags, workspace } = request;
  const local = await operator.local();
  const present = await presentOf(wish, flags, local);
  if (present !== null) return await offerPresent(present, wish, request, operator);
  const [{ freeName, suggestedName, validName }, { requirePluginName }] = await Promise.all([
    import("../operator/mcp_add/names.ts"),
    import("./options.ts"),
  ]);
  if (flags.name !== undefined) requirePluginName(flags.name);
  const given = flags.dryRun ? new Map<string, string>() : await givenSecrets(flags, operator);
  const isTaken = (name: string): boolean => local.records.has(name);
  await using server = await prepareServer(wish, {
    flags,
    workspace,
    nameOf: ({ facts: { title } }) =>
      flags.name ?? freeName(wish.name === null ? suggestedName(title) : validName(wish.name), isTaken),
  }, operator);
  const change = await projectChange(server.manifest.name, request, operator);
  if (flags.dryRun) return await plan(server, change, request, operator);
  const granted = await install(server, request, operator);
  await keepTrial(server.manifest.name, server.trial?.info ?? null, operator);
  const secrets = await keepSecrets(server, given, request, operator);
  await enable(server.manifest.name, operator);
  if (change) await writeChange(change, operator);
  printNext(server, secrets, request, operator);
  return addedOf(server, { done: "installed", capabilities: granted, secrets, request, change });
}

/** Returns the name of an installed server from the same source; null where there is none. */
async function presentOf(wish: ServerWish, { name }: AddFlags, { records }: LocalConfig): Promise<string | null> {
  const same = [...records.values()].filter(({ source }) => {
    try {
      return source !== undefined && isSameServer(parseServerSource(source, (path) => path), wish.source);
    } catch {
      return false;
    }
  }).map((record) => record.name);
  const { validName } = await import("../operator/mcp_add/names.ts");
  // Under a name of its own the same package may run twice, with other arguments.
  const wanted = name ?? (wish.name === null ? null : validName(wish.name));
  return wanted === null ? same[0] ?? null : same.find((one) => one === wanted) ?? null;
}

async function offerPresent(
  name: string,
  wish: ServerWish,
  request: AddRequest,
  operator: Operator,
): Promise<AddedServer> {
  const { terminal: { out }, json } = operator;
  const { version = "unknown" } = (await operator.local()).records.get(name)!;
  const change = await projectChange(name, request, operator);
  if (!json) out.line(`${name} ${version} is installed already from ${serverSourceText(wish.source)}`);
  if (!json) out.line(`  ${out.paint.dim("→")} for another version: kaged mcp upgrade ${name}`);
  if (change && !request.flags.dryRun) await writeChange(change, operator);
  const { dir, agent } = request.target ?? {};
  return {
    name,
    version,
    done: "present",
    source: serverSourceText(wish.source),
    protocol: null,
    tools: [],
    capabilities: [],
    secrets: [],
    project: dir === undefined ? null : { file: `${dir}/project.yaml`, agent: agent! },
    manifest: null,
    notes: [],
  };
}

async function projectChange(
  plugin: string,
  { target }: AddRequest,
  { runtime: { files } }: Operator,
): Promise<ProjectChange | null> {
  if (!target) return null;
  const { addToAgent } = await import("../operator/mcp_add/project_plugins.ts");
  return await addToAgent({ ...target, plugin, files });
}

async function writeChange(change: ProjectChange, { runtime, terminal: { out }, json }: Operator): Promise<void> {
  const { writeProject } = await import("../operator/mcp_add/project_plugins.ts");
  await writeProject(change, runtime);
  if (!json) out.done(`${change.before === null ? "Made" : "Changed"} ${change.file}: ${change.agents.join(", ")}`);
}

/** Shows the plan, asks, and installs; returns the capabilities that were granted. */
async function install(server: PreparedServer, request: AddRequest, operator: Operator): Promise<readonly string[]> {
  const { flags } = request;
  const { terminal, json } = operator;
  if (!json) printTrial(server, operator);
  const answer = await answerOf(flags, terminal);
  const { isExposure } = await import("../packages/consent/describe_secret.ts");
  const wanted = server.manifest.capabilities.filter((one) => !answer.withhold.includes(one) && !isExposure(one));
  const whole = flags.yes ? { ...answer, granted: [...new Set([...answer.granted, ...wanted])] } : answer;
  const asking = flags.yes ? { ...operator, ask: { ...operator.ask, canAsk: false } } : operator;
  const { granted, plan: { manifest }, replaced } = await installFlow({
    source: { kind: "path", path: server.dir },
    release: null,
    answer: whole,
    each: flags.each ?? false,
    plan: { source: { kind: "mcp", text: serverSourceText(server.source) } },
  }, asking);
  await replaced?.[Symbol.asyncDispose]();
  if (!json) terminal.out.done(`Installed ${manifest.name} ${manifest.version}`);
  return granted.capabilities;
}

/** Prints the outcome of the trial, above the plan. */
export function printTrial({ trial, notes }: PreparedServer, { terminal: { out } }: Operator): void {
  if (trial) {
    const names = trial.info.tools.map(({ name }) => name);
    const shown = names.slice(0, SHOWN_TOOLS).join(", ") + (names.length > SHOWN_TOOLS ? ", …" : "");
    const revision = trial.info.mcp ? `MCP ${trial.info.mcp.protocol}` : "MCP";
    out.line(
      `Started once in a cage: ${revision}, ${counted(names.length, "tool")}${names.length > 0 ? ` (${shown})` : ""}`,
    );
    if (trial.added.length > 0) out.line(`  It does not start without ${trial.added.join(", ")}`);
    for (const one of trial.unmet.slice(0, SHOWN_UNMET)) {
      out.line(out.paint.dim(`  It asked for ${one}, and starts without; calls may need it: --grant later`));
    }
  }
  for (const note of notes) out.line(out.paint.dim(`  ${note}`));
}

const SHOWN_TOOLS = 12;
const SHOWN_UNMET = 5;

/** Keeps the values of secrets that are known or asked for; returns which are set. */
async function keepSecrets(
  { manifest: { name }, secrets }: PreparedServer,
  given: ReadonlyMap<string, string>,
  { flags, file }: AddRequest,
  operator: Operator,
): Promise<AddedServer["secrets"]> {
  const { writeSecret } = await import("../core/project/edit_secrets.ts");
  const { home, runtime, ask, json, terminal: { out } } = operator;
  const set: { key: string; set: boolean }[] = [];
  for (const secret of secrets) {
    const isKept = flags.keepSecrets ?? false;
    const value = await secretText(secret, given, { flags, keepSecrets: isKept, ask, file });
    if (value !== null) await writeSecret(home, { package: name, key: secret.key }, value, runtime);
    if (value !== null && !json) out.done(`${secret.key} of ${name} is set`);
    set.push({ key: secret.key, set: value !== null });
  }
  return set;
}

async function enable(name: string, operator: Operator): Promise<void> {
  const { setEnabled } = await import("../packages/install/change_installed.ts");
  const { home, audit, json, terminal: { out } } = operator;
  if (await setEnabled(name, true, operator)) audit.emit("plugin.enabled", { name, instance: name }, {});
  await notifyHosts(home, name, "enable");
  if (!json) out.done(`Enabled ${name}`);
}

function printNext(
  { manifest: { name } }: PreparedServer,
  secrets: AddedServer["secrets"],
  { target, file }: AddRequest,
  { json, terminal: { out } }: Operator,
): void {
  if (json) return;
  const arrow = `  ${out.paint.dim("→")}`;
  for (const { key } of secrets.filter(({ set }) => !set)) {
    out.line(
      `${arrow} set its secret: kaged secret set ${name} ${key}${file === null ? "" : ` (its value is in ${file})`}`,
    );
  }
  if (!target) out.line(`${arrow} give it to an agent: run this again with --project <dir>`);
}

/** Prints and returns what would be written. */
async function plan(
  server: PreparedServer,
  change: ProjectChange | null,
  request: AddRequest,
  operator: Operator,
): Promise<AddedServer> {
  const { planInstall } = await import("../packages/install/plan.ts");
  const { home, json, terminal: { out } } = operator;
  const source = { kind: "mcp", text: serverSourceText(server.source) } as const;
  const planned = await planInstall({ dir: server.dir, source }, operator);
  if (!json) {
    const { name } = server.manifest;
    printTrial(server, operator);
    printPlan(planned, [], operator);
    out.line(`Would write ${home}/plugins/${name} (${Math.ceil(planned.bytes / 1024)} KB) with kaged-plugin.yaml:`);
    out.quote(server.text);
    out.line(`Would record it in ${home}/local.toml, enabled`);
    for (const { key } of server.secrets) {
      out.line(`Would ask for its secret ${key}, and keep it in ${home}/local.toml`);
    }
    if (change) out.line(`Would ${change.before === null ? "make" : "change"} ${change.file}:`);
    if (change) out.quote(change.text);
  }
  const secrets = server.secrets.map(({ key }) => ({ key, set: false }));
  return addedOf(server, { done: "planned", capabilities: server.manifest.capabilities, secrets, request, change });
}

function addedOf(
  { manifest: { name, version }, trial, notes, text, source }: PreparedServer,
  { done, capabilities, secrets, request: { target }, change }: {
    readonly done: AddedServer["done"];
    readonly capabilities: readonly string[];
    readonly secrets: AddedServer["secrets"];
    readonly request: AddRequest;
    readonly change: ProjectChange | null;
  },
): AddedServer {
  const file = change?.file ?? (target ? `${target.dir}/project.yaml` : null);
  return {
    name,
    version,
    done,
    source: serverSourceText(source),
    protocol: trial?.info.mcp?.protocol ?? null,
    tools: trial?.info.tools.map((tool) => tool.name) ?? [],
    capabilities,
    secrets,
    project: file === null || !target ? null : { file, agent: target.agent },
    manifest: text,
    notes,
  };
}
