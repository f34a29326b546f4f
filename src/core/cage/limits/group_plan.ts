/**
 * Which groups one cage gets, and what is written into them. Pure.
 *
 * @module
 */
import type { CageLimits } from "./cage_limits.ts";
import { cpuWeight, type LimitTier, memoryBytes } from "./limit_tier.ts";

/** One file of a group and its value. */
export interface GroupSetting {
  /** The file. */
  readonly path: string;
  /** What is written. */
  readonly value: string;
  /** Not every kernel has it. */
  readonly optional?: true;
}

/** The groups of one cage. */
export interface GroupPlan {
  /** Folders to make, which the cage's first process joins. */
  readonly dirs: readonly string[];
  /** What is written into them before the cage starts. */
  readonly settings: readonly GroupSetting[];
  /**
   * What is written into them once the plugin runs: its share of the processor. On a busy machine a start with that
   * share alone would take longer than a handshake may.
   */
  readonly later: readonly GroupSetting[];
}

/** Returns the groups of a cage; `name` is the name of each. The ways that need none get none. */
export function groupPlan(tier: LimitTier, limits: CageLimits, name: string): GroupPlan {
  const bytes = `${memoryBytes(limits)}`;
  switch (tier.name) {
    case "cgroup2": {
      const dir = `${tier.base}/${name}`;
      return {
        dirs: [dir],
        settings: [
          { path: `${dir}/memory.max`, value: bytes },
          { path: `${dir}/memory.swap.max`, value: "0", optional: true },
          // One process over the limit ends the whole cage: half a plugin is no use to anyone.
          { path: `${dir}/memory.oom.group`, value: "1", optional: true },
          { path: `${dir}/pids.max`, value: `${limits.pids}` },
        ],
        later: [{ path: `${dir}/cpu.weight`, value: `${cpuWeight(limits)}` }],
      };
    }
    case "cgroup1": {
      const [memory, pids, cpu] = [`${tier.memory}/${name}`, `${tier.pids}/${name}`, `${tier.cpu}/${name}`];
      return {
        // Two controllers may share one tree.
        dirs: [...new Set([memory, pids, cpu])],
        settings: [
          { path: `${memory}/memory.limit_in_bytes`, value: bytes },
          // Memory and swap together: without it the limit would only move pages to the disk.
          { path: `${memory}/memory.memsw.limit_in_bytes`, value: bytes, optional: true },
          { path: `${pids}/pids.max`, value: `${limits.pids}` },
        ],
        later: [{ path: `${cpu}/cpu.shares`, value: `${limits.cpu_shares}` }],
      };
    }
    default:
      return { dirs: [], settings: [], later: [] };
  }
}
