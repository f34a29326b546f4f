/**
 * The plugin instances of a project, joined from the project and the supervisor.
 *
 * @module
 */
import type { ManifestTool } from "../core/manifest/manifest.ts";
import { speaksMcp } from "../core/manifest/speaks_mcp.ts";
import type { RefusedPlugin } from "../core/project/refused_plugins.ts";
import type { ResolvedInstance, ResolvedPlugin } from "../core/project/types.ts";
import type { Supervisor } from "../core/supervisor/types.ts";
import type { FailedReloads } from "./failed_reloads.ts";
import { isUnread } from "./keep_refused.ts";
import type { HostModel } from "./model.ts";
import { reloadFailed } from "./prepare_reload.ts";
import type { HostPluginInfo } from "./view_types.ts";

/** The rooms that the rows are joined from. */
export interface RowPorts {
  readonly model: HostModel;
  readonly supervisor: Supervisor;
  readonly failedReloads: FailedReloads;
}

/**
 * Returns the plugins of an agent in the order they are declared, or every instance of the project and then the refused
 * plugins.
 */
export function pluginRows({ model, supervisor, failedReloads }: RowPorts, agent?: string): HostPluginInfo[] {
  const { agents, instances, refusals } = model.project;
  const live = new Map(supervisor.plugins().map((info) => [info.instance, info]));
  const serves = new Map(instances.map((one) => [one.instance, one.agents]));
  const row = (
    { instance, plugin, package: pkg, manifest }: ResolvedInstance | ResolvedPlugin,
    own: ResolvedPlugin | undefined,
  ): HostPluginInfo => {
    const served = serves.get(instance) ?? [];
    const info = live.get(instance);
    const unregistered = info ? null : failedReloads.ofRegistration(instance);
    // A project that was read anew keeps a plugin whose manifest cannot be read as it was.
    const unread = own && refusals.find((one) => one.key === own.key && served.includes(one.agent) && isUnread(one));
    return {
      key: own?.key ?? null,
      plugin,
      package: pkg,
      version: info?.version ?? manifest.version,
      instance,
      agents: served,
      state: info?.status ?? (unregistered ? "refused" : "stopped"),
      isolation: own?.isolation ?? "project",
      hooks: own?.hooks ?? [],
      tools: own && (info?.mcp || info?.status === "resting") && speaksMcp(manifest)
        ? listedTools(own, info.tools, model.held(instance))
        : own?.tools ?? [],
      quarantined: model.held(instance),
      methods: info?.methods ?? [],
      cage: info?.cage ?? null,
      restarts: info?.restarts ?? 0,
      net_refused: info?.net_refused ?? [],
      error: info?.error ?? (info ? failedReloads.of(info) : unregistered) ??
        (unread ? reloadFailed(plugin, unread.error) : null),
    };
  };
  if (agent !== undefined) {
    const { plugins, declared } = model.agent(agent);
    const refused = model.refused.filter((one) => one.agents.includes(agent));
    return [...plugins.map((plugin) => row(plugin, plugin)), ...refused.map(refusedRow)]
      .toSorted((a, b) => declared.indexOf(a.key!) - declared.indexOf(b.key!));
  }
  const rows = instances.map((instance) => {
    const first = agents.find(({ path }) => path === instance.agents[0]);
    return row(instance, first?.plugins.find((plugin) => plugin.instance === instance.instance));
  });
  return [...rows, ...model.refused.map(refusedRow)];
}

function refusedRow(
  { key, agents, plugin, package: pkg, instance, isolation, found, error }: RefusedPlugin,
): HostPluginInfo {
  return {
    key: agents.length === 0 ? null : key,
    plugin,
    package: pkg,
    version: found?.manifest.version ?? null,
    instance,
    agents,
    state: "refused",
    isolation,
    hooks: [],
    tools: [],
    quarantined: [],
    methods: [],
    cage: null,
    restarts: 0,
    net_refused: [],
    error,
  };
}

/** The tools that an MCP server lists, without those that the agent switched off or that are held. */
function listedTools(
  { plugin, toolsOff }: ResolvedPlugin,
  tools: readonly ManifestTool[],
  held: readonly string[],
): string[] {
  return tools.map(({ name }) => `${plugin}.${name}`).filter((name) =>
    !toolsOff.includes(name) && !held.includes(name)
  );
}
