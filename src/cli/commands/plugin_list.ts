/**
 * `kaged plugin list`: every installed plugin with its state.
 *
 * @module
 */
import type { Command } from "commander";
import type { InstalledPlugin } from "../../packages/install/list_installed.ts";
import { pageOf, type PageQuery } from "../../core/values/page_of.ts";
import { operate, type Operator } from "../operator.ts";
import { wholeNumber } from "../options.ts";
import { shownCapability } from "../print_plan.ts";
import { HostError, isErrorCode } from "../../core/errors/host_error.ts";
import { type RunningInstance, runningInstances } from "../../http/running_hosts.ts";
import { defined } from "../../core/values/plain_data.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";

export function addPluginList(parent: Command, terminal: Terminal): void {
  const command = parent.command("list")
    .summary("show installed plugins and their states")
    .description(
      "Shows every plugin that is installed or that a project of a running host declares, with its version, its state and\n" +
        "the projects it serves; and why a host refuses it.",
    )
    .option("-v, --verbose", "show homepage, source, package, licence and capabilities too")
    .option("-n, --limit <count>", "how many plugins", wholeNumber("a number from 1 to 1000", 1, 1000), 100)
    .option("--cursor <cursor>", "go on where the page before ended")
    .addHelpText("after", JSON_SHAPE);
  operate(command, terminal, list);
}

const JSON_SHAPE = `
States: disabled, enabled (no host runs it now), spawning, running, resting (the next call starts it), crashed, failed,
refused (a running host does not run it as its project declares it), tampered, files missing, disabled (invalid manifest).
With --json it prints { "plugins": [ { "name", "version", "status", "enabled", "local", "projects", "description",
"license", "homepage", "package", "source", "hash", "capabilities", "withheld", "added", "problem" } ],
"next": "<cursor>" | null }.`;

interface ListFlags extends PageQuery {
  readonly verbose?: boolean;
}

async function list(operator: Operator, { verbose, ...page }: ListFlags): Promise<void> {
  const { listInstalled, statusOf } = await import("../../packages/install/list_installed.ts");
  const [installed, running] = await Promise.all([listInstalled(operator), runningInstances(operator.home)]);
  const known = new Set(installed.map(({ record }) => record.name));
  const others = [...running].filter(([name]) => !known.has(name)).map(([name, own]) => runningPlugin(name, own));
  const { items, next } = pageOf("plugins", [...installed, ...others], ({ record }) => record.name, page);
  const rows = items.map((plugin): Row => {
    const own = (running.get(plugin.record.name) ?? []).filter((one) => !known.has(one.plugin) || !isLacking(one));
    const status = statusOf(plugin, own.map(({ state }) => state));
    return { plugin: { ...plugin, problem: plugin.problem ?? problemOf(own) }, status };
  });
  const { out, err } = operator.terminal;
  if (operator.json) return out.json({ plugins: rows.map((row) => installedJson(row.plugin, row.status)), next });
  if (rows.length === 0) return out.line("No plugin is installed. → kaged plugin install <folder>");
  printTable(rows.map(cellsOf), out, (index) => {
    const { plugin, status } = rows[index]!;
    if (verbose) printMore(plugin, out);
    else if (status === "refused" && plugin.problem) printProblem(plugin.problem, out);
  });
  if (next !== null) err.line(err.paint.dim(`more plugins: --cursor ${next}`));
}

/** Whether an instance is one of a project that has yet to be given the plugin, which says nothing of the plugin. */
function isLacking({ error }: RunningInstance): boolean {
  return error?.code === "plugin.not_installed";
}

/** Returns why the first refused instance is refused, or null. */
function problemOf(instances: readonly RunningInstance[]): HostError | null {
  const { error = null } = instances.find(({ state }) => state === "refused") ?? {};
  if (!error) return null;
  const { code, message, hint } = error;
  // A host of another version may have codes that this one does not know.
  return new HostError(isErrorCode(code) ? code : "host.internal", message, { ...(hint !== undefined && { hint }) });
}

/** Returns a plugin that is not installed as running hosts have it: their projects declare it, or embedders vouch for it. */
function runningPlugin(name: string, instances: readonly RunningInstance[]): InstalledPlugin {
  const { package: pkg, version } = instances[0]!;
  const projects = [...new Set(instances.map(({ project }) => project))];
  const enabled = instances.some(({ state }) => state !== "disabled" && state !== "refused");
  const facts = defined({ package: pkg ?? undefined, version: version ?? undefined });
  const record = { name, local: false, enabled, projects, withheld: [], added: [], ...facts };
  return { record, dir: "", manifest: null, problem: null };
}

interface Row {
  readonly plugin: InstalledPlugin;
  readonly status: string;
}

const HEADER = ["NAME", "VERSION", "STATUS", "SCOPE", "DESCRIPTION"];

function cellsOf({ plugin: { record, manifest }, status }: Row): string[] {
  const scope = record.local ? "local" : record.projects.join(", ") || "none";
  return [record.name, versionOf({ record, manifest }), status, scope, manifest?.description ?? ""].map(printable);
}

function printTable(rows: readonly string[][], { line, paint }: Printer, after: (index: number) => void): void {
  const widths = HEADER.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)));
  const text = (cells: readonly string[]): string =>
    cells.map((cell, at) => cell.padEnd(widths[at]!)).join("  ").trimEnd();
  line(paint.dim(text(HEADER)));
  rows.forEach((row, index) => {
    line(text(row));
    after(index);
  });
}

function printMore({ record, manifest, problem }: InstalledPlugin, out: Printer): void {
  const { line, paint } = out;
  const { homepage, license, author } = manifest ?? {};
  const { source, package: pkg, hash } = record;
  for (const [key, value] of Object.entries({ homepage, author, license, package: pkg, source, hash })) {
    if (value !== undefined) line(paint.dim(`    ${key}: ${value}`));
  }
  for (const capability of manifest?.capabilities ?? []) {
    line(paint.dim(`    may: ${shownCapability(capability)}`));
  }
  for (const capability of manifest?.withheld ?? []) line(paint.dim(`    withheld: ${capability}`));
  if (problem) printProblem(problem, out);
}

function printProblem({ message, hint }: HostError, { line, paint, hint: printHint }: Printer): void {
  line(paint.yellow(`    problem: ${message}`));
  printHint(hint, "    ");
}

/** Returns an installed plugin as `--json` prints it. */
export function installedJson({ record, manifest, problem }: InstalledPlugin, status: string): Record<string, unknown> {
  const { name, enabled, local, projects, package: pkg = null, source = null, hash = null } = record;
  return {
    name,
    version: versionOf({ record, manifest }),
    status,
    enabled,
    local,
    projects,
    description: manifest?.description ?? null,
    license: manifest?.license ?? null,
    homepage: manifest?.homepage ?? null,
    package: pkg,
    source,
    hash,
    capabilities: manifest?.capabilities ?? null,
    withheld: manifest?.withheld ?? [],
    added: manifest?.added ?? [],
    problem: problem && { code: problem.code, message: problem.message },
  };
}

function versionOf({ record, manifest }: Pick<InstalledPlugin, "record" | "manifest">): string {
  return record.version ?? manifest?.version ?? record.installed ?? "unknown";
}
