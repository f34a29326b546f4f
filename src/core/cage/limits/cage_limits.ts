/**
 * How much of the machine a plugin may use. The operator says so, never the plugin.
 *
 * @module
 */
import { HostError } from "../../errors/host_error.ts";

/** What a cage may use at most. */
export interface CageLimits {
  /** Memory, in MiB. */
  readonly memory_mb: number;
  /** Share of the processor when others want it too; 1024 is a whole one's. */
  readonly cpu_shares: number;
  /** Processes and threads together. */
  readonly pids: number;
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
