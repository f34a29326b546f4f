/**
 * Limits of plugins' processes: the embedder's, and before them the operator's.
 *
 * @module
 */
import type { CageLimits } from "../core/cage/limits/cage_limits.ts";
import { cageLimitsOf, type OperatorConfig, type OperatorLimits } from "../core/project/operator_config.ts";
import { STUCK_TIMEOUTS } from "../core/supervisor/health.ts";
import type { SupervisorOptions } from "../core/supervisor/types.ts";

/** Limits as a supervisor takes them. */
export type HostLimits = Required<Pick<SupervisorOptions, "limits" | "pluginLimits" | "maxTimeouts" | "weight">>;

/** Returns the limits of every cage, those of single plugins, how often each plugin may time out, and its weight. */
export function hostLimits(
  given: Partial<CageLimits> | undefined,
  { limits, pluginLimits }: Pick<OperatorConfig, "limits" | "pluginLimits">,
): HostLimits {
  const own = Object.entries(pluginLimits).map(([plugin, limits]) => [plugin, cageLimitsOf(limits)]);
  const ownOf = (plugin: string): OperatorLimits => Object.hasOwn(pluginLimits, plugin) ? pluginLimits[plugin]! : {};
  return {
    limits: { ...given, ...cageLimitsOf(limits) },
    pluginLimits: Object.fromEntries(own),
    maxTimeouts: (plugin) => ownOf(plugin).timeouts ?? limits.timeouts ?? STUCK_TIMEOUTS,
    weight: (plugin) => ownOf(plugin).weight ?? limits.weight ?? 1,
  };
}
