/**
 * Limits of plugins' processes: the embedder's, and before them the operator's.
 *
 * @module
 */
import type { CageLimits } from "../core/cage/limits/cage_limits.ts";
import type { OperatorConfig, OperatorLimits } from "../core/project/operator_config.ts";
import type { SupervisorOptions } from "../core/supervisor/types.ts";

/** Limits as a supervisor takes them. */
export type HostLimits = Required<Pick<SupervisorOptions, "limits" | "pluginLimits">>;

/** Returns the limits of every cage, and those of single plugins. */
export function hostLimits(
  given: Partial<CageLimits> | undefined,
  { limits, pluginLimits }: Pick<OperatorConfig, "limits" | "pluginLimits">,
): HostLimits {
  const own = Object.entries(pluginLimits).map(([plugin, limits]) => [plugin, cageLimits(limits)]);
  return { limits: { ...given, ...cageLimits(limits) }, pluginLimits: Object.fromEntries(own) };
}

/** The part of the operator's limits that a cage holds; storage holds the other. */
function cageLimits({ storage_mb: _storage, ...limits }: OperatorLimits): Partial<CageLimits> {
  return limits;
}
