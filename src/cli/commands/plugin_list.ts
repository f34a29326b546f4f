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
import { runningStates } from "../running_hosts.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";

export function addPluginList(parent: Command, terminal: Terminal): void {
  const command = parent.command("list")
    .summary("show installed plugins and their states")
    .description("Shows every installed plugin with its version, its state and the projects it serves.")
    .option("-v, --verbose", "show homepage, source, package, licence and capabilities too")
    .option("-n, --limit <count>", "how many plugins", wholeNumber("a number from 1 to 1000", 1, 1000), 100)
    .option("--cursor <cursor>", "go on where the page before ended")
    .addHelpText("after", JSON_SHAPE);
  operate(command, terminal, list);
}

const JSON_SHAPE = `
States: disabled, enabled (no host runs it now), spawning, running, crashed, failed, tampered, files missing,
disabled (invalid manifest).
With --json it prints { "plugins": [ { "name", "version", "status", "enabled", "local", "projects", "description",
"license", "homepage", "package", "source", "hash", "capabilities", "problem" } ],
"next": "<cursor>" | null }.`;

interface ListFlags extends PageQuery {
  readonly verbose?: boolean;
}

async function list(operator: Operator, { verbose, ...page }: ListFlags): Promise<void> {
  const { listInstalled, statusOf } = await import("../../packages/install/list_installed.ts");
  const [installed, states] = await Promise.all([listInstalled(operator), runningStates(operator.home)]);
  const { items, next } = pageOf(installed, ({ record }) => record.name, page);
  const rows = items.map((plugin) => ({ plugin, status: statusOf(plugin, states.get(plugin.record.name)) }));
  const { out, err } = operator.terminal;
  if (operator.json) return out.json({ plugins: rows.map((row) => installedJson(row.plugin, row.status)), next });
  if (rows.length === 0) return out.line("No plugin is installed. → kaged plugin install <folder>");
  printTable(rows.map(cellsOf), out, (index) => {
    if (verbose) printMore(rows[index]!.plugin, out);
  });
  if (next !== null) err.line(err.paint.dim(`more plugins: --cursor ${next}`));
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

function printMore({ record, manifest, problem }: InstalledPlugin, { line, paint }: Printer): void {
  const { homepage, license, author } = manifest ?? {};
  const { source, package: pkg, hash } = record;
  for (const [key, value] of Object.entries({ homepage, author, license, package: pkg, source, hash })) {
    if (value !== undefined) line(paint.dim(printable(`    ${key}: ${value}`)));
  }
  for (const capability of manifest?.capabilities ?? []) {
    line(paint.dim(printable(`    may: ${shownCapability(capability)}`)));
  }
  if (problem) line(paint.yellow(printable(`    problem: ${problem.message}`)));
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
    problem: problem && { code: problem.code, message: problem.message },
  };
}

function versionOf({ record, manifest }: Pick<InstalledPlugin, "record" | "manifest">): string {
  return record.version ?? manifest?.version ?? record.installed ?? "unknown";
}
