/**
 * Plugins of the operator's that no agent declares: `local` and enabled, one process each.
 *
 * @module
 */
import type { Finder } from "./finder.ts";
import type { LocalConfig } from "./local_config.ts";
import { configError, pluginConfig } from "./plugin_config.ts";
import type { PluginRefusal, ResolvedInstance } from "./types.ts";

/** Adds a process for each such plugin, or why there is none. */
export async function hostPlugins(
  local: LocalConfig,
  found: Finder,
  { declared, instances, refusals }: {
    readonly declared: ReadonlySet<string>;
    readonly instances: ResolvedInstance[];
    readonly refusals: PluginRefusal[];
  },
): Promise<void> {
  for (const { name, local: isLocal, enabled, package: pkg = name } of local.records.values()) {
    if (!isLocal || !enabled || declared.has(name)) continue;
    const location = await found.plugin(pkg);
    if (location === null) continue;
    const refuse = (error: PluginRefusal["error"]): void =>
      void refusals.push({ agent: "", key: name, instance: name, error });
    if (!("manifest" in location)) {
      refuse(location);
      continue;
    }
    const { manifest, dir, hash } = location;
    const system = await found.system(pkg, location);
    const result = await pluginConfig(manifest, { declared: {}, isolation: "agent", system });
    if ("config" in result) {
      const { config } = result;
      const pinned = hash === undefined ? {} : { hash };
      instances.push({ instance: name, package: pkg, plugin: name, dir, ...pinned, manifest, config, agents: [] });
    } else for (const problem of result) refuse(configError(problem, { plugin: name, agent: "", file: local.file }));
  }
}
