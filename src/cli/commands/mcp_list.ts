/**
 * `kaged mcp list`: the MCP servers among the installed plugins.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import type { InstalledPlugin } from "../../packages/install/list_installed.ts";
import type { ListedSecret } from "../../core/project/edit_secrets.ts";
import type { Manifest } from "../../core/manifest/manifest.ts";
import type { InstallRecord } from "../../core/project/local_config.ts";
import { shownPins } from "../print_pins.ts";
import { operate, type Operator } from "../operator.ts";
import { printable, type Printer, type Terminal } from "../terminal.ts";

export function addMcpList(mcp: Command, terminal: Terminal): void {
  const command = mcp.command("list")
    .summary("show the MCP servers that are installed")
    .description("Shows the MCP servers among the installed plugins: version, source, tools, secrets, and agents.")
    .option("--project <dir>", "project whose agents are shown (default: this folder, if it is one)")
    .addHelpText("after", EXAMPLES);
  operate(command, terminal, list);
}

const EXAMPLES = `
Examples:
  kaged mcp list
  kaged mcp list --project ~/music --json
With --json it prints { "servers": [ { "name", "version", "status", "source", "protocol", "tools", "capabilities",
"secrets": [ { "key", "set", "required" } ], "agents": [] } ] }; tools and protocol are null while nobody knows them.`;

/** A server as `--json` prints it. */
interface ListedServer {
  readonly name: string;
  readonly version: string;
  readonly status: string;
  readonly source: string | null;
  readonly protocol: string | null;
  /** Number of its tools; null while nobody knows it. */
  readonly tools: number | null;
  readonly capabilities: readonly string[];
  readonly secrets: readonly { readonly key: string; readonly set: boolean; readonly required: boolean }[];
  readonly agents: readonly string[];
}

async function list(operator: Operator, { project }: { readonly project?: string }): Promise<void> {
  const [{ listInstalled }, { listSecrets }, { speaksMcp }] = await Promise.all([
    import("../../packages/install/list_installed.ts"),
    import("../../core/project/edit_secrets.ts"),
    import("../../core/manifest/speaks_mcp.ts"),
  ]);
  const { json, terminal: { out } } = operator;
  const installed = await listInstalled(operator);
  const found = installed.filter(({ manifest }) => manifest !== null && speaksMcp(manifest));
  const manifests = new Map(found.map(({ record, manifest }) => [record.name, manifest!]));
  const secrets = listSecrets(await operator.local(), manifests);
  const agents = await agentsOf(project, operator);
  const servers = await Promise.all(found.map((plugin) => serverOf(plugin, { secrets, agents, operator })));
  if (json) return out.json({ servers });
  if (servers.length === 0) return out.line("No MCP server is installed: kaged mcp add <package>");
  printTable(servers.map(cellsOf), out);
}

/** Returns the agents of a project that have a plugin; none where there is no project. */
async function agentsOf(
  project: string | undefined,
  { runtime: { files }, terminal: { cwd } }: Operator,
): Promise<(plugin: string) => readonly string[]> {
  const [{ readProject }, { agentsWith }] = await Promise.all([
    import("../../core/project/read_project.ts"),
    import("../../operator/mcp_add/project_plugins.ts"),
  ]);
  const dir = resolve(cwd, project ?? ".");
  const isThere = await files.target(`${dir}/project.yaml`).catch(() => null) !== null;
  if (project === undefined && !isThere) return () => [];
  const found = await readProject(dir, files);
  return (plugin) => agentsWith(found, plugin);
}

async function serverOf(
  plugin: InstalledPlugin,
  { secrets, agents, operator }: {
    readonly secrets: readonly ListedSecret[];
    readonly agents: (plugin: string) => readonly string[];
    readonly operator: Operator;
  },
): Promise<ListedServer> {
  const { statusOf } = await import("../../packages/install/list_installed.ts");
  const { record: { name, source = null, protocol = null, version } } = plugin;
  const manifest = plugin.manifest as Manifest;
  return {
    name,
    version: version ?? manifest.version,
    status: statusOf(plugin),
    source,
    protocol,
    tools: await toolCount(plugin.record, operator),
    capabilities: manifest.capabilities,
    secrets: secrets.filter((one) => one.plugin === name).map(({ key, from, required }) => ({
      key,
      set: from !== null,
      required,
    })),
    agents: agents(name),
  };
}

/** Returns the number of tools that are pinned; null before any were listed. */
async function toolCount({ name, hash = "" }: InstallRecord, { home, runtime }: Operator): Promise<number | null> {
  const shown = await shownPins(home, name, hash, runtime.files).catch(() => null);
  return shown && Object.keys(shown.pins.tools).length;
}

const HEADER = ["NAME", "VERSION", "STATUS", "MCP", "TOOLS", "SECRETS", "AGENTS", "SOURCE"];

function cellsOf({ name, version, status, protocol, tools, secrets, agents, source }: ListedServer): string[] {
  const missing = secrets.filter((one) => !one.set).map(({ key }) => key);
  const state = secrets.length === 0 ? "none" : missing.length === 0 ? "set" : `missing ${missing.join(", ")}`;
  return [name, version, status, protocol ?? "-", `${tools ?? "-"}`, state, agents.join(", ") || "-", source ?? "-"]
    .map(printable);
}

function printTable(rows: readonly string[][], { line, paint }: Printer): void {
  const widths = HEADER.map((title, at) => Math.max(title.length, ...rows.map((row) => row[at]!.length)));
  const text = (cells: readonly string[]): string =>
    cells.map((cell, at) => cell.padEnd(widths[at]!)).join("  ").trimEnd();
  line(paint.dim(text(HEADER)));
  for (const row of rows) line(text(row));
}
