/**
 * The plugin instances of a project, joined from the project and the supervisor.
 *
 * @module
 */
import type { ManifestTool } from "../core/manifest/manifest.ts";
import type { ResolvedInstance, ResolvedPlugin } from "../core/project/types.ts";
import type { Supervisor } from "../core/supervisor/types.ts";
import type { FailedReloads } from "./failed_reloads.ts";
import type { HostModel } from "./model.ts";
import type { HostPluginInfo } from "./view_types.ts";

/** The rooms that the rows are joined from. */
export interface RowPorts {
  readonly model: HostModel;
  readonly supervisor: Supervisor;
  readonly failedReloads: FailedReloads;
}

/** Returns the plugins of an agent in the order they are declared, or every instance of the project. */
export function pluginRows({ model, supervisor, failedReloads }: RowPorts, agent?: string): HostPluginInfo[] {
  const { agents, instances } = model.project;
  const live = new Map(supervisor.plugins().map((info) => [info.instance, info]));
  const serves = new Map(instances.map((one) => [one.instance, one.agents]));
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
      agents: serves.get(instance) ?? [],
      state: info?.status ?? "stopped",
      isolation: own?.isolation ?? "project",
      hooks: own?.hooks ?? [],
      tools: own && info?.mcp ? listedTools(own, info.tools) : own?.tools ?? [],
      methods: info?.methods ?? [],
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

/** The tools that an MCP server lists, without those that the agent switched off. */
function listedTools({ plugin, toolsOff }: ResolvedPlugin, tools: readonly ManifestTool[]): string[] {
  return tools.map(({ name }) => `${plugin}.${name}`).filter((name) => !toolsOff.includes(name));
}
