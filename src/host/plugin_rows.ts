/**
 * What is known of the plugins of a project, as rows.
 *
 * @module
 */
import type { ManifestTool } from "../core/manifest/manifest.ts";
import type { ResolvedInstance, ResolvedPlugin } from "../core/project/types.ts";
import type { Supervisor } from "../core/supervisor/types.ts";
import type { FailedReloads } from "./failed_reloads.ts";
import type { HostModel } from "./model.ts";
import type { HostPluginInfo } from "./view_types.ts";

/** What the rows are made from. */
export interface RowPorts {
  /** The project. */
  readonly model: HostModel;
  /** The processes. */
  readonly supervisor: Supervisor;
  /** Which of them go on though they were to be replaced. */
  readonly failedReloads: FailedReloads;
}

/** Returns the plugins of an agent in the order they are declared, or every instance of the project. */
export function pluginRows({ model, supervisor, failedReloads }: RowPorts, agent?: string): HostPluginInfo[] {
  const { agents, instances } = model.project;
  const live = new Map(supervisor.plugins().map((info) => [info.instance, info]));
  const row = (
    { instance, plugin, package: pkg, manifest }: ResolvedInstance | ResolvedPlugin,
    own: ResolvedPlugin | undefined,
  ): HostPluginInfo => {
    const info = live.get(instance);
    return {
      key: own?.key ?? null,
      plugin,
      package: pkg,
      version: info?.version ?? manifest.version,
      instance,
      state: info?.status ?? "stopped",
      isolation: own?.isolation ?? "project",
      hooks: own?.hooks ?? [],
      tools: own && info?.mcp ? listedTools(own, info.tools) : own?.tools ?? [],
      cage: info?.cage ?? null,
      restarts: info?.restarts ?? 0,
      error: info ? info.error ?? failedReloads.of(info) : null,
    };
  };
  if (agent !== undefined) return model.agent(agent).plugins.map((plugin) => row(plugin, plugin));
  return instances.map((instance) => {
    const first = agents.find(({ path }) => path === instance.agents[0]);
    return row(instance, first?.plugins.find((plugin) => plugin.instance === instance.instance));
  });
}

/** What an MCP server has listed and the agent has not switched off. */
function listedTools({ plugin, toolsOff }: ResolvedPlugin, tools: readonly ManifestTool[]): string[] {
  return tools.map(({ name }) => `${plugin}.${name}`).filter((name) => !toolsOff.includes(name));
}
