/**
 * Limits of plugins' processes: the embedder's, and before them the operator's.
 *
 * @module
 */
import type { CageLimits } from "../core/cage/limits/cage_limits.ts";
import { cageLimitsOf, type OperatorConfig } from "../core/project/operator_config.ts";
import { STUCK_TIMEOUTS } from "../core/supervisor/health.ts";
import type { SupervisorOptions } from "../core/supervisor/types.ts";

/** Limits as a supervisor takes them. */
export type HostLimits = Required<Pick<SupervisorOptions, "limits" | "pluginLimits" | "maxTimeouts">>;

/** Returns the limits of every cage, those of single plugins, and how often each plugin may time out. */
export function hostLimits(
  given: Partial<CageLimits> | undefined,
  { limits, pluginLimits }: Pick<OperatorConfig, "limits" | "pluginLimits">,
): HostLimits {
  const own = Object.entries(pluginLimits).map(([plugin, limits]) => [plugin, cageLimitsOf(limits)]);
  const timeouts = new Map(Object.entries(pluginLimits).map(([plugin, { timeouts }]) => [plugin, timeouts]));
  return {
    limits: { ...given, ...cageLimitsOf(limits) },
    pluginLimits: Object.fromEntries(own),
    maxTimeouts: (plugin) => timeouts.get(plugin) ?? limits.timeouts ?? STUCK_TIMEOUTS,
  };
}
