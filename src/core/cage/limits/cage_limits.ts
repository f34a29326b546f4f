/**
 * How much of the machine a plugin may use, and the ways to enforce it. The operator sets the limits, never the plugin.
 *
 * @module
 */
import { HostError } from "../../errors/host_error.ts";

/** Upper bounds of one cage. */
export interface CageLimits {
  /** Memory, in MiB. */
  readonly memory_mb: number;
  /** Share of the processor when others want it too; 1024 is the share of a program without a limit. */
  readonly cpu_shares: number;
  /** Processes and threads together. */
  readonly pids: number;
}

/** Enforced by the kernel through control groups of version 2 or 1, by systemd on its behalf, or by the host's looks. */
export type LimitTierName = "cgroup2" | "systemd" | "cgroup1" | "watchdog";

/** The ways to hold a cage to its limits, best first, each with the paths it needs. */
export type LimitTier =
  /** A group of its own for each cage, below `base`. */
  | { readonly name: "cgroup2"; readonly base: string }
  /** A scope of its own for each cage, asked of systemd. */
  | { readonly name: "systemd"; readonly program: string; readonly env: Readonly<Record<string, string>> }
  /** A group of its own for each cage, below one folder per controller. */
  | { readonly name: "cgroup1"; readonly memory: string; readonly pids: string; readonly cpu: string }
  /** Looks at the cage's processes at short intervals; `prlimit` is the program that sets what the kernel checks. */
  | { readonly name: "watchdog"; readonly prlimit: string | null };

/** The limits of one cage and the way they are enforced. */
export interface CageLimitStatus extends CageLimits {
  /** `watchdog` is the weakest: it looks every 250 ms, sooner at a cage that grows, and cannot hold a cage to its CPU shares. */
  readonly tier: LimitTierName;
}

/** Limits where the operator says nothing. */
export const DEFAULT_LIMITS: CageLimits = { memory_mb: 512, cpu_shares: 256, pids: 100 };

/** Lowest and highest value that makes sense to the kernel and lets a program start at all. */
const BOUNDS: Readonly<Record<keyof CageLimits, readonly [number, number]>> = {
  memory_mb: [16, 1024 * 1024],
  cpu_shares: [2, 262_144],
  pids: [8, 4_194_304],
};

/**
 * Returns the limits that hold: the last of `given` that names one, else the default.
 *
 * @throws {HostError} `cage.limit_invalid`, with every issue in `data.issues`.
 */
export function resolveLimits(...given: readonly (Partial<CageLimits> | undefined)[]): CageLimits {
  const names = Object.keys(BOUNDS) as (keyof CageLimits)[];
  const limits = Object.fromEntries(names.map((name) => {
    const own = given.findLast((limits) => limits?.[name] !== undefined)?.[name];
    return [name, own ?? DEFAULT_LIMITS[name]];
  })) as unknown as CageLimits;
  const issues = [
    ...given.flatMap((limits) => Object.keys(limits ?? {})).filter((name) => !Object.hasOwn(BOUNDS, name))
      .map((name) => `"${name}" is no limit`),
    ...names.flatMap((name) => {
      const [lowest, highest] = BOUNDS[name];
      const value = limits[name];
      const fits = Number.isSafeInteger(value) && value >= lowest && value <= highest;
      return fits ? [] : [`${name} is ${JSON.stringify(value)}, not a whole number from ${lowest} to ${highest}`];
    }),
  ];
  if (issues.length === 0) return limits;
  throw new HostError("cage.limit_invalid", `Cannot use these limits: ${issues.join("; ")}`, {
    data: { issues },
    hint: "Correct limits in config.toml, or where the host is made",
  });
}

/** Returns the limit of memory in bytes. */
export function memoryBytes({ memory_mb }: CageLimits): number {
  return memory_mb * 1024 * 1024;
}

/** Returns the weight of version 2 for the shares of version 1: 256 of 1024 are 25 of 100. */
export function cpuWeight({ cpu_shares }: CageLimits): number {
  return Math.min(10_000, Math.max(1, Math.round(cpu_shares * 100 / 1024)));
}
