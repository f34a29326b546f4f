/**
 * `kaged mcp add`: takes an MCP server in: fetched without running anything of it, drafted, tried in a cage, and installed
 * once the operator confirms.
 *
 * @module
 */
import { dirname, resolve } from "node:path";
import type { Command } from "commander";
import { asHostError, HostError } from "../../core/errors/host_error.ts";
import type { ReadEntry, ServerWish } from "../../operator/mcp_add/types.ts";
import { type AddedServer, addServer, type AddTarget } from "../mcp_add_flow.ts";
import { type AddFlags, addServerOptions } from "../mcp_flags.ts";
import { operateCheck, type Operator } from "../operator.ts";
import { collected } from "../options.ts";
import { errorJson } from "../print_error.ts";
import { counted, type Printer, type Terminal } from "../terminal.ts";

export function addMcpAdd(mcp: Command, terminal: Terminal, exit: (code: number) => void): void {
  const command = mcp.command("add")
    .summary("take an MCP server in, caged")
    .description(
      "Fetches an MCP server without running anything of it, drafts its manifest, starts it once in a cage to see what\n" +
        "it needs, shows the capabilities, and installs it once you confirm. Arguments of the server go behind --.\n" +
        "With --from, it takes every entry of the file of an MCP client, and says of each that it cannot take why not.",
    )
    .argument("[source]", "npm:<package>[@version], a package, a folder such as ./server, a .mcpb file, or https://…")
    .argument("[args...]", "arguments of the server, behind --")
    .option("--from <file>", ".mcp.json, claude_desktop_config.json, .vscode/mcp.json, config.toml, settings.json")
    .option("--only <name>", "with --from: this entry only; may be repeated", collected(String))
    .option("--keep-secrets", "with --from: keep the secrets of the file in local.toml, without a question")
    .option("--name <name>", "name of the plugin (default: from the package or the entry)")
    .option("--project <dir>", "give the server to an agent of this project")
    .option("--agent <path>", "the agent, such as primary.subagents.researcher (default: primary)");
  operateCheck(addServerOptions(command).addHelpText("after", EXAMPLES), { terminal, exit }, add);
}

const EXAMPLES = `
Examples:
  kaged mcp add @modelcontextprotocol/server-memory --project .
  kaged mcp add @modelcontextprotocol/server-filesystem --write ~/notes -- ~/notes
  pass show github | kaged mcp add @modelcontextprotocol/server-github --secret GITHUB_PERSONAL_ACCESS_TOKEN=-
  kaged mcp add --from .mcp.json --project . --dry-run
With --json it prints { "servers": [ { "name", "version", "done": "installed" | "present" | "planned", "source",
"protocol", "tools": [], "capabilities": [], "secrets": [ { "key", "set" } ], "project", "manifest", "notes": [] } ],
"refused": [ { "name", "error" } ] }.`;

async function add(operator: Operator, source: string | undefined, args: string[], flags: AddFlags): Promise<boolean> {
  const target = await targetOf(flags, operator);
  if (flags.from !== undefined) return await addEntries(source, args, flags, { operator, target });
  if (source === undefined) {
    throw new HostError("host.misuse", "Nothing says which server to take in", {
      hint: "Name a package, a folder or a .mcpb file, or the file of a client with --from",
    });
  }
  const { parseServerSource } = await import("../../operator/mcp_add/source.ts");
  const { terminal: { cwd, out }, json } = operator;
  const wish: ServerWish = {
    name: null,
    source: parseServerSource(
      source,
      (path) => resolve(cwd, path.replace(/^~(?=\/|$)/, operator.runtime.env("HOME") ?? "~")),
    ),
    args,
    env: {},
    headers: {},
    asked: {},
  };
  const added = await addServer(wish, { flags, target, workspace: target?.dir ?? cwd, file: null }, operator);
  if (json) out.json({ servers: [added], refused: [] });
  return true;
}

async function targetOf(
  { project, agent }: AddFlags,
  { runtime: { files }, terminal }: Operator,
): Promise<AddTarget | null> {
  if (project === undefined && agent !== undefined) {
    throw new HostError("host.misuse", "Nothing says whose agent it is", { hint: "Name the project: --project ." });
  }
  if (project === undefined) return null;
  const dir = resolve(terminal.cwd, project);
  if ((await files.target(dir))?.kind !== "directory") {
    throw new HostError("host.misuse", `The project folder "${dir}" does not exist`, {
      hint: "Make it, or name another",
    });
  }
  return { dir: await files.realPath(dir), agent: agent ?? "primary" };
}

/** Takes every entry of a client's file, one after the other: one that cannot be taken does not keep the others. */
async function addEntries(
  source: string | undefined,
  args: readonly string[],
  flags: AddFlags,
  { operator, target }: { readonly operator: Operator; readonly target: AddTarget | null },
): Promise<boolean> {
  const { terminal: { cwd, out, err }, json } = operator;
  if (source !== undefined || args.length > 0 || flags.name !== undefined) {
    throw new HostError(
      "host.misuse",
      "--from takes the servers of a file: it goes with no source, arguments or --name",
      {
        hint: "Leave out one of the two; --only chooses entries",
      },
    );
  }
  const file = resolve(cwd, flags.from!);
  const folder = dirname(file).replace(/\/\.vscode$/, "");
  const entries = await entriesOf(file, folder, flags, operator);
  const servers: AddedServer[] = [];
  const refused: { readonly name: string; readonly error: Record<string, unknown> }[] = [];
  for (const entry of entries) {
    operator.signal.throwIfAborted();
    if (!json) out.line(out.paint.bold(`${entry.name}:`));
    try {
      if ("refusal" in entry) throw refusalOf(entry.name, entry.refusal);
      const workspace = target?.dir ?? folder;
      servers.push(await addServer(entry.wish, { flags, target, workspace, file }, operator));
    } catch (thrown) {
      operator.signal.throwIfAborted();
      const error = asHostError(thrown);
      refused.push({ name: entry.name, error: errorJson(error) });
      if (json) continue;
      err.line(`${err.paint.red("✗")} ${entry.name} [${error.code}]: ${error.message}`);
      err.hint(error.hint);
    }
  }
  if (json) out.json({ servers, refused });
  else printTaken(servers.length, refused.length, { target, flags, out });
  return refused.length === 0;
}

function printTaken(
  taken: number,
  refused: number,
  { target, flags, out }: { readonly target: AddTarget | null; readonly flags: AddFlags; readonly out: Printer },
): void {
  out.line(`${counted(taken, "server")} taken${refused > 0 ? `, ${refused} not` : ""}`);
  if (taken === 0 || !target || flags.dryRun) return;
  const args = ["mcp", "--project", target.dir, ...(target.agent === "primary" ? [] : ["--agent", target.agent])];
  out.line(`  ${out.paint.dim("→")} in your client, in their place: ${JSON.stringify({ command: "kaged", args })}`);
}

async function entriesOf(file: string, folder: string, { only }: AddFlags, operator: Operator): Promise<ReadEntry[]> {
  const { readClientConfig } = await import("../../operator/mcp_add/client_config.ts");
  const { didYouMean } = await import("../../core/values/nearest_word.ts");
  const home = operator.runtime.env("HOME") ?? "~";
  const absolute = (path: string): string =>
    resolve(
      folder,
      path.replace(/^~(?=\/)/, home).replaceAll("${workspaceFolder}", folder).replaceAll("${userHome}", home),
    );
  const entries = await readClientConfig(file, operator.runtime.files, absolute);
  const names = entries.map(({ name }) => name);
  const unknown = (only ?? []).find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw new HostError("host.misuse", `"${file}" has no entry ${JSON.stringify(unknown)}`, {
      hint: didYouMean(unknown, names, `Entries: ${names.join(", ")}`),
    });
  }
  return entries.filter(({ name }) => only === undefined || only.includes(name));
}

function refusalOf(name: string, { reason, hint }: { readonly reason: string; readonly hint: string }): HostError {
  return new HostError("mcp_add.entry_refused", reason, { data: { entry: name }, hint });
}
