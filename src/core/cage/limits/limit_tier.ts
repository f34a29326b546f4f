/**
 * The ways to hold a cage to its limits, best first.
 *
 * @module
 */
import type { CageLimits } from "./cage_limits.ts";

/** Who enforces: the kernel by control groups of version 2 or 1, systemd on its behalf, or the host by looking. */
export type LimitTierName = "cgroup2" | "systemd" | "cgroup1" | "watchdog";

/** One way, with what it needs. */
export type LimitTier =
  /** A group of its own for each cage, below `base`. */
  | { readonly name: "cgroup2"; readonly base: string }
  /** A scope of its own for each cage, asked of systemd. */
  | { readonly name: "systemd"; readonly program: string; readonly env: Readonly<Record<string, string>> }
  /** A group of its own for each cage, below one folder per controller. */
  | { readonly name: "cgroup1"; readonly memory: string; readonly pids: string; readonly cpu: string }
  /** Looks at the cage's processes at short intervals; `prlimit` is the program that sets what the kernel checks. */
  | { readonly name: "watchdog"; readonly prlimit: string | null };

/** The limits of one cage and who enforces them. */
export interface CageLimitStatus extends CageLimits {
  /** Who enforces them. */
  readonly tier: LimitTierName;
}

const MIB = 1024 * 1024;

/** Returns a limit of memory in bytes. */
export function memoryBytes({ memory_mb }: CageLimits): number {
  return memory_mb * MIB;
}

/** Returns the weight of version 2 for the shares of version 1: 256 of 1024 are 25 of 100. */
export function cpuWeight({ cpu_shares }: CageLimits): number {
  return Math.min(10_000, Math.max(1, Math.round(cpu_shares * 100 / 1024)));
}
