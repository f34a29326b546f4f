/**
 * `kaged mcp remove`: takes an MCP server from the agents of a project, and removes it from the home.
 *
 * @module
 */
import { resolve } from "node:path";
import type { Command } from "commander";
import { HostError } from "../../core/errors/host_error.ts";
import type { ProjectChange } from "../../operator/mcp_add/project_plugins.ts";
import { operate, type Operator } from "../operator.ts";
import { declined } from "../questions.ts";
import type { Terminal } from "../terminal.ts";
import { refuseActive } from "./plugin_uninstall.ts";
import { hostsWith, notifyHosts } from "../../http/running_hosts.ts";
import { requireServerRecord } from "../mcp_record.ts";

interface RemoveFlags {
  readonly project?: string;
  readonly yes?: boolean;
  readonly force?: boolean;
}

export function addMcpRemove(mcp: Command, terminal: Terminal): void {
  const command = mcp.command("remove")
    .summary("remove an MCP server")
    .description(
      "Takes an MCP server from the agents of a project, and removes its files and its record. Its secrets in local.toml\n" +
        "stay: kaged secret unset removes them.",
    )
    .argument("<name>", "the server's name")
    .option("--project <dir>", "project to take it from (default: this folder, if it is one)")
    .option("--yes", "ask nothing")
    .option("--force", "remove it even while sessions use it")
    .addHelpText("after", '\nWith --json it prints { "name", "agents": [], "file" }: the agents that had it.');
  operate(command, terminal, remove);
}

async function remove(operator: Operator, name: string, { project, yes, force }: RemoveFlags): Promise<void> {
  const { uninstallPlugin } = await import("../../packages/install/change_installed.ts");
  const { writeProject } = await import("../../operator/mcp_add/project_plugins.ts");
  const { home, ask, json, runtime, terminal: { out } } = operator;
  await requireServerRecord(name, operator);
  if (!force) refuseActive(name, await hostsWith(home, name));
  const change = await changeOf(name, project, operator);
  const where = change ? ` and take it from ${change.agents.join(", ")} in ${change.file}` : "";
  if (!yes && !ask.canAsk) {
    throw new HostError("install.consent_missing", `Nobody can be asked whether to remove "${name}"${where}`, {
      hint: "Add --yes",
    });
  }
  if (!yes && !await ask.confirm(`Remove ${name}${where}?`)) throw declined();
  if (change) await writeProject(change, runtime);
  if (change && !json) out.done(`Changed ${change.file}: ${change.agents.join(", ")}`);
  await notifyHosts(home, name, "disable");
  await uninstallPlugin(name, operator);
  await notifyHosts(home, name, "reload");
  if (json) return out.json({ name, agents: change?.agents ?? [], file: change?.file ?? null });
  out.done(`Removed ${name}`);
}

async function changeOf(
  name: string,
  project: string | undefined,
  { runtime: { files }, terminal: { cwd } }: Operator,
): Promise<ProjectChange | null> {
  const { removeFromAgents } = await import("../../operator/mcp_add/project_plugins.ts");
  const dir = resolve(cwd, project ?? ".");
  const isThere = await files.target(`${dir}/project.yaml`).catch(() => null) !== null;
  return project === undefined && !isThere ? null : await removeFromAgents(dir, name, files);
}
