/**
 * `kaged mcp upgrade`: another version of an MCP server, from where it was taken in, with the settings that it has.
 *
 * @module
 */
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import { askedCapabilities } from "../../core/manifest/withheld.ts";
import { isSemanticVersion } from "../../core/values/semantic_version.ts";
import { parseServerSource, serverSourceText } from "../../operator/mcp_add/source.ts";
import { carriedWish, keptValues } from "../../operator/mcp_add/carry_over.ts";
import type { ServerSource } from "../../operator/mcp_add/types.ts";
import { type PinnedTools, type ToolChanges, toolChanges } from "../../core/pins/tool_pins.ts";
import { answerOf } from "../grants.ts";
import { installFlow } from "../install_flow.ts";
import { printTrial } from "../mcp_add_flow.ts";
import { addServerOptions, type ServerFlags } from "../mcp_flags.ts";
import { type PreparedServer, prepareServer, tryInstalled } from "../mcp_prepare.ts";
import { keepTrial, requireServerRecord, trialPins } from "../mcp_record.ts";
import { printToolChanges, shownPins } from "../print_pins.ts";
import type { InstallRecord } from "../../core/project/local_config.ts";
import { operate, type Operator } from "../operator.ts";
import { printPlan } from "../print_plan.ts";
import type { Printer, Terminal } from "../terminal.ts";
import { restart } from "./plugin_install.ts";

interface UpgradeFlags extends ServerFlags {
  readonly to?: string;
}

export function addMcpUpgrade(mcp: Command, terminal: Terminal): void {
  const command = mcp.command("upgrade")
    .summary("replace an MCP server by another version")
    .description(
      "Fetches an MCP server again from where it was taken in, keeps its settings, starts the new version once in a cage,\n" +
        "shows how tools, secrets and capabilities differ, and replaces the installed one once you confirm.",
    )
    .argument("<name>", "the server's name")
    .option(
      "--to <version>",
      "version, range or tag of its npm package (default: the newest within its range)",
    );
  operate(addServerOptions(command).addHelpText("after", EXAMPLES), terminal, upgrade);
}

const EXAMPLES = `
Examples:
  kaged mcp upgrade memory
  kaged mcp upgrade memory --to 2026.8.31 --dry-run
With --json it prints { "name", "from", "version", "done": "upgraded" | "nothing" | "planned", "added": [], "removed": [],
"tools": { "added": [], "removed": [], "changed": [] } | null, "restarted" }.`;

async function upgrade(operator: Operator, name: string, flags: UpgradeFlags): Promise<void> {
  const { json, terminal, terminal: { out } } = operator;
  const { record, manifest } = await requireServerRecord(name, operator);
  const source = sourceOf(name, record.source, flags);
  const own = ownFlags(manifest, flags);
  await using server = await prepareServer(carriedWish(name, source, manifest), {
    flags: own,
    workspace: terminal.cwd,
    nameOf: () => name,
    capabilities: askedCapabilities(manifest),
    agreed: askedCapabilities(manifest).filter((one) => !record.withheld.includes(one)),
    givenBy: (fetched) => keptValues(fetched, manifest),
  }, operator);
  const [before, after] = [
    await toolsBefore(name, record, manifest, operator),
    server.trial && await trialPins(server.trial.info),
  ];
  const tools = before && after && toolChanges(before, after);
  if (!json) printTrial(server, operator);
  if (!json && tools) printTools(before, after, out);
  if (flags.dryRun) return await printPlanned(server, { from: manifest.version, tools }, operator);
  const answer = await answerOf(own, terminal);
  const asked = server.manifest.capabilities.filter((one) => !answer.withhold.includes(one));
  const isNew = (one: string): boolean => !record.withheld.includes(one);
  const whole = flags.yes ? { ...answer, granted: [...new Set([...answer.granted, ...asked.filter(isNew)])] } : answer;
  const asking = flags.yes ? { ...operator, ask: { ...operator.ask, canAsk: false } } : operator;
  const { plan, replaced } = await installFlow({
    source: { kind: "path", path: server.dir },
    release: null,
    answer: whole,
    each: flags.each ?? false,
    plan: { source: { kind: "mcp", text: serverSourceText(server.source) }, replace: true },
  }, asking);
  await using _old = replaced;
  const { version } = plan.manifest;
  if (!json && plan.kind === "same") out.line(`${name} ${version} is installed already: nothing to do`);
  if (!json && plan.kind === "upgrade") out.done(`Upgraded ${name} ${manifest.version} → ${version}`);
  // Before it starts anywhere: the tools that were shown are those that the operator agreed to.
  if (plan.kind === "upgrade") await keepTrial(name, server.trial?.info ?? null, operator);
  const restarted = plan.kind === "upgrade" && await restart(plan, replaced, operator);
  const done = plan.kind === "same" ? "nothing" : "upgraded";
  if (json) out.json({ name, from: manifest.version, version, done, ...plan.diff, tools, restarted });
}

function sourceOf(name: string, text: string | undefined, { to }: UpgradeFlags): ServerSource {
  if (text === undefined) {
    throw new HostError("install.source_unspecified", `The record of "${name}" names no source`, {
      data: { plugin: name },
      hint: `Remove it and take it in again: kaged mcp remove ${name}`,
    });
  }
  const source = parseServerSource(text, (path) => path);
  // One exact version has no newer one within it.
  if (to === undefined && source.kind === "npm" && isSemanticVersion(source.range)) return { ...source, range: "" };
  if (to === undefined) return source;
  const named = source.kind === "npm" ? parseServerSource(`npm:${source.package}@${to}`, (path) => path) : null;
  if (named) return named;
  throw new HostError("host.misuse", `--to is for npm packages, and "${name}" came from ${text}`, {
    hint: "Replace the source itself, then upgrade without --to",
  });
}

/** Returns the flags with the decisions about secrets and folders that the installed version has. */
function ownFlags({ secrets = {}, capabilities }: Manifest, flags: UpgradeFlags): UpgradeFlags {
  const all = Object.values(secrets).filter(({ env }) => env !== undefined);
  const host = all.flatMap(({ env, hosts = [] }) => hosts.map((one) => ({ variable: env!, host: one })));
  const expose = all.filter(({ exposed }) => exposed).map(({ env }) => env!);
  const write = capabilities.flatMap((one) => /^write:fs:(\/.*)$/s.exec(one)?.[1] ?? []);
  const named = new Set([...flags.host ?? []].map(({ variable }) => variable));
  return {
    ...flags,
    host: [
      ...host.filter(({ variable }) => !named.has(variable) && !flags.expose?.includes(variable)),
      ...flags.host ?? [],
    ],
    expose: [...expose.filter((one) => !named.has(one)), ...flags.expose ?? []],
    write: [...write, ...flags.write ?? []],
  };
}

/** Returns the tools of the installed version, as they are pinned, else as they are listed; null where nobody knows them. */
async function toolsBefore(
  name: string,
  { hash = "" }: InstallRecord,
  manifest: Manifest,
  operator: Operator,
): Promise<PinnedTools | null> {
  const pinned = await shownPins(operator.home, name, hash, operator.runtime.files).catch(() => null);
  if (pinned) return pinned.pins.tools;
  const info = await tryInstalled(name, manifest, operator);
  return info && await trialPins(info);
}

function printTools(before: PinnedTools, after: PinnedTools, out: Printer): void {
  const pins = { hash: "", pinned_at: "", quarantined: {}, missing: [] };
  const { added, changed, removed } = toolChanges(before, after);
  if (added.length + changed.length + removed.length === 0) return out.line("Tool changes: none");
  printToolChanges({ pins: { ...pins, tools: after }, older: { ...pins, tools: before } }, out);
}

async function printPlanned(
  server: PreparedServer,
  { from, tools }: { readonly from: string; readonly tools: ToolChanges | null },
  operator: Operator,
): Promise<void> {
  const { planInstall } = await import("../../packages/install/plan.ts");
  const { json, terminal: { out } } = operator;
  const source = { kind: "mcp", text: serverSourceText(server.source) } as const;
  const plan = await planInstall({ dir: server.dir, source, replace: true }, operator);
  const { name, version } = plan.manifest;
  if (json) {
    const done = plan.kind === "same" ? "nothing" : "planned";
    return out.json({ name, from, version, done, ...plan.diff, tools, restarted: false });
  }
  if (plan.kind === "same") return out.line(`${name} ${version} is installed already: nothing to do`);
  printPlan(plan, plan.withheld, operator);
  out.line(`Would replace ${operator.home}/plugins/${name}, with kaged-plugin.yaml:`);
  out.quote(server.text);
}
