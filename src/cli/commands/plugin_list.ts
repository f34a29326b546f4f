/**
 * `kaged plugin list`: every installed plugin with its state.
 *
 * @module
 */
import type { Command } from "commander";
import type { InstalledPlugin } from "../../packages/install/list_installed.ts";
import { operate, type Operator } from "../operator.ts";
import { shownCapability } from "../print_plan.ts";
import { HostError, isErrorCode } from "../../core/errors/host_error.ts";
import { type RunningInstance, runningInstances } from "../running_hosts.ts";
import { defined } from "../../core/values/plain_data.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";

export function addPluginList(parent: Command, terminal: Terminal): void {
  const command = parent.command("list")
    .summary("show installed plugins and their states")
    .description(
      "Shows every installed plugin with its version, its state and the projects it serves; and every other plugin that\n" +
        "a running host refuses, with the reason.",
    )
    .option("-v, --verbose", "show homepage, source, package, licence and capabilities too")
    .addHelpText("after", JSON_SHAPE);
  operate(command, terminal, list);
}

const JSON_SHAPE = `
States: disabled, enabled (no host runs it now), spawning, running, crashed, failed, refused (a running host does not
run it as its project declares it), tampered, files missing, disabled (invalid manifest).
With --json it prints { "plugins": [ { "name", "version", "status", "enabled", "local", "projects", "description",
"license", "homepage", "package", "source", "hash", "capabilities", "problem" } ] }.`;

async function list(operator: Operator, { verbose }: { readonly verbose?: boolean }): Promise<void> {
  const { listInstalled, statusOf } = await import("../../packages/install/list_installed.ts");
  const [installed, running] = await Promise.all([listInstalled(operator), runningInstances(operator.home)]);
  const rows = installed.map((plugin): Row => {
    const own = running.get(plugin.record.name) ?? [];
    const status = statusOf(plugin, own.map(({ state }) => state));
    return { plugin: { ...plugin, problem: plugin.problem ?? problemOf(own) }, status };
  });
  const known = new Set(installed.map(({ record }) => record.name));
  for (const [name, own] of running) if (!known.has(name)) rows.push(...refusedRow(name, own));
  const { out } = operator.terminal;
  if (operator.json) return out.json({ plugins: rows.map(({ plugin, status }) => installedJson(plugin, status)) });
  if (rows.length === 0) return out.line("No plugin is installed. → kaged plugin install <folder>");
  printTable(rows.map(cellsOf), out, (index) => {
    const { plugin, status } = rows[index]!;
    if (verbose) printMore(plugin, out);
    else if (status === "refused") printProblem(plugin, out);
  });
}

/** Returns why the first refused instance is refused, or null. */
function problemOf(instances: readonly RunningInstance[]): HostError | null {
  const { error = null } = instances.find(({ state }) => state === "refused") ?? {};
  if (!error) return null;
  const { code, message, hint } = error;
  // A host of another version may have codes that this one does not know.
  return new HostError(isErrorCode(code) ? code : "host.internal", message, { ...(hint !== undefined && { hint }) });
}

/** Returns a row for a plugin that is not installed and that a running host refuses; none for any other. */
function refusedRow(name: string, instances: readonly RunningInstance[]): Row[] {
  const refused = instances.filter(({ state }) => state === "refused");
  const [first] = refused;
  if (!first) return [];
  const projects = [...new Set(refused.map(({ project }) => project))];
  const { package: pkg, version } = first;
  const record = {
    name,
    local: false,
    enabled: false,
    projects,
    ...defined({ package: pkg ?? undefined, version: version ?? undefined }),
  };
  return [{ plugin: { record, dir: "", manifest: null, problem: problemOf(refused) }, status: "refused" }];
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
  printProblem({ problem }, { line, paint });
}

function printProblem(
  { problem }: Pick<InstalledPlugin, "problem">,
  { line, paint }: Pick<Printer, "line" | "paint">,
): void {
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
