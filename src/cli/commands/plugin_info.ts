/**
 * `kaged plugin info`: a plugin's record, capabilities, instances, limits and tables.
 *
 * @module
 */
import type { Command } from "commander";
import { resolveLimits } from "../../core/cage/limits/cage_limits.ts";
import { chooseTier } from "../../core/cage/limits/choose_tier.ts";
import type { CageLimitStatus } from "../../core/cage/limits/cage_limits.ts";
import type { PluginInfo } from "../../core/supervisor/types.ts";
import { hostLimits } from "../../host/host_limits.ts";
import { operate, type Operator, unknownPlugin, withStorage } from "../operator.ts";
import { requirePluginName } from "../options.ts";
import { describeSecrets } from "../../packages/consent/describe_secret.ts";
import { pinsJson, printPins, shownPins } from "../print_pins.ts";
import {
  describeAll,
  printAdded,
  printCapabilities,
  printFacts,
  printSecrets,
  printServer,
  printWithheld,
} from "../print_plan.ts";
import { hostsWith } from "../../http/running_hosts.ts";
import { counted, type Terminal } from "../terminal.ts";
import { installedJson } from "./plugin_list.ts";

export function addPluginInfo(parent: Command, terminal: Terminal): void {
  const command = parent.command("info")
    .summary("show a plugin's capabilities, state, limits and data")
    .description(
      "Shows an installed plugin: its record, its capabilities in plain words, where it runs and which connections\n" +
        "were refused there; its tables with their rows and bytes, indexes and search data included; the limits of its\n" +
        "cage, with the mechanism that enforces them; and the tools of an MCP server that are not as you agreed to.",
    )
    .argument("<name>", "the plugin's name")
    .addHelpText("after", EXAMPLES);
  operate(command, terminal, showInfo);
}

const EXAMPLES = `
Examples:
  kaged plugin info notes
  kaged plugin info notes --json
With --json it prints { "name", "installed": what kaged plugin list prints of it, or null, "running": [ { "project",
"sessions", "instances": [ { "instance", "state", "restarts", "net_refused": [ { "host", "port", "reason",
"source"?, "count" } ], "error" } ] } ], "limits": { "tier", "memory_mb", "cpu_shares", "pids" },
"storage": { "tables": [ { "name", "rows", "bytes" } ], "bytes" }, "pins": { "pinned_at", "count", "missing": [],
"quarantined": [ { "tool", "kind", "pinned", "listed", "diff" } ], "changes": { "added", "changed", "removed" } | null }
| null }.`;

type Info = Awaited<ReturnType<typeof gather>>;

async function showInfo(operator: Operator, name: string): Promise<void> {
  const info = await gather(name, operator);
  if (!operator.json) return printInfo(name, info, operator);
  const { installed, status, hosts, limits, storage, pins } = info;
  const running = hosts.map(({ project, sessions, instances }) => ({
    project: project.id,
    sessions,
    instances: instances.map(({ instance, state, restarts, net_refused = [], error }) => ({
      instance,
      state,
      restarts,
      net_refused,
      error,
    })),
  }));
  const record = installed && installedJson(installed, status);
  operator.terminal.out.json({ name, installed: record, running, limits, storage, pins: pins && pinsJson(pins) });
}

async function gather(name: string, operator: Operator) {
  const { lookAt, statusOf } = await import("../../packages/install/list_installed.ts");
  requirePluginName(name);
  const local = await operator.local();
  const record = local.records.get(name);
  const [installed, hosts, storage, limits, pins] = await Promise.all([
    record ? lookAt(record, operator) : null,
    hostsWith(operator.home, name),
    withStorage(operator, (storage) => storage.report(name)),
    limitsOf(name, operator),
    record ? shownPins(operator.home, name, record.hash ?? "", operator.runtime.files) : null,
  ]);
  if (!installed && hosts.length === 0 && (storage?.tables.length ?? 0) === 0) throw unknownPlugin(name, local);
  const states = hosts.flatMap(({ instances }) => instances.map(({ state }) => state));
  const status = installed ? statusOf(installed, states) : "not installed";
  return { installed, status, hosts, limits, storage: storage ?? { tables: [], bytes: 0 }, pins };
}

function printInfo(name: string, info: Info, operator: Operator): void {
  const { installed, status, hosts, limits, storage } = info;
  const { out } = operator.terminal;
  const { line, paint } = out;
  const { record, manifest, problem } = installed ?? {};
  line(`${paint.bold(name)} ${record?.version ?? manifest?.version ?? ""}  ${status}`.trimEnd());
  const facts = {
    description: manifest?.description,
    license: manifest?.license,
    homepage: manifest?.homepage,
    package: record?.package,
    source: record?.source,
    scope: record && (record.local ? "every project" : record.projects.join(", ") || "no project"),
    hash: record?.hash,
  };
  printFacts(facts, out);
  if (problem) line(paint.yellow(`  problem: ${problem.message}`));
  out.hint(problem?.hint);
  const { capabilities = [], added = [] } = manifest ?? {};
  const asked = capabilities.filter((one) => !added.includes(one));
  if (manifest) printCapabilities(describeAll({ name, capabilities: asked }, operator), out);
  if (manifest) printAdded(describeAll({ name, capabilities: added }, operator), out);
  if (manifest) printWithheld(describeAll({ name, capabilities: manifest.withheld ?? [] }, operator), out);
  printServer(manifest?.url, out);
  if (manifest) printSecrets(describeSecrets(manifest), out);
  for (const { project, sessions, instances } of hosts) {
    // A running host of an older version counts no refusals.
    for (const { instance, state, net_refused = [], error } of instances) {
      const fact = state === "refused" ? "does not run" : state === "resting" ? "runs when called" : "runs";
      line(`  ${fact}: ${instance}, ${state}, project ${project.id}, ${sessions} open sessions`);
      if (error) line(paint.yellow(`    problem: ${error.message}`));
      out.hint(error?.hint, "    ");
      for (const refused of net_refused) line(paint.yellow(`    refused: ${refusalLine(refused)}`));
    }
  }
  if (info.pins) printPins(name, info.pins, out);
  const { tier, memory_mb, cpu_shares, pids } = limits;
  const isHere = manifest?.url === undefined;
  if (isHere) line(`  limits: ${memory_mb} MB, ${cpu_shares} CPU shares, ${pids} processes and threads, by ${tier}`);
  line(`  storage: ${counted(storage.tables.length, "table")}, ${storage.bytes} bytes`);
  for (const { name, rows, bytes } of storage.tables) {
    line(`    ${name}  ${rows === null ? "? rows" : counted(rows, "row")}, ${bytes} bytes`);
  }
}

const SEEN = { lookup: "looked up without a proxy", error: "named by its own error" };

/** Returns a refusal in one line: the host, how often, why, and how it was seen. */
function refusalLine({ host, port, reason, source, count }: PluginInfo["net_refused"][number]): string {
  const why = source === undefined ? reason : `${reason}; ${SEEN[source]}`;
  return `${port === 0 ? host : `${host}:${port}`}, ${counted(count, "time")} since its start (${why})`;
}

/** Returns the limits of the plugin's cage by config.toml, and the mechanism that enforces them on this machine. */
async function limitsOf(name: string, { home, runtime }: Operator): Promise<CageLimitStatus> {
  const { readOperatorConfig } = await import("../../core/project/operator_config.ts");
  const { limits, pluginLimits } = hostLimits({}, await readOperatorConfig(home, runtime.files));
  const { tier } = await chooseTier(runtime);
  return { tier: tier.name, ...resolveLimits(limits, Object.hasOwn(pluginLimits, name) ? pluginLimits[name] : {}) };
}
