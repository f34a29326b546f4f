/**
 * The limits a process itself carries, set inside the cage: outside, the number of processes would count all others of
 * the same user too.
 *
 * @module
 */
import type { ExecutableMount } from "../cage_plan.ts";
import type { CageLimits } from "./cage_limits.ts";
import { type LimitTier, memoryBytes } from "./limit_tier.ts";

/** Where the program that sets them stands in the cage. */
const PRLIMIT = "/.cage/prlimit";

/** What a JavaScript runtime reserves without using it: with less it ends at its start. */
const RESERVED_BYTES = 512 * 1024 * 1024;

/** What the limits of a process add to a cage. */
export interface RlimitPart {
  /** Arguments of bubblewrap. */
  readonly args: readonly string[];
  /** What comes before the command inside. */
  readonly prefix: readonly string[];
}

/** Returns what the limits of a process add: nothing where the kernel limits whole groups. */
export function rlimitPart(
  tier: LimitTier,
  limits: CageLimits,
  programs: readonly ExecutableMount[],
  systemPrograms = false,
): RlimitPart {
  if (tier.name !== "watchdog" || tier.prlimit === null) return { args: [], prefix: [] };
  const isJsRuntime = systemPrograms || programs.some(({ dest }) => /\/(js|node|bun|deno)$/.test(dest));
  const data = memoryBytes(limits) + (isJsRuntime ? RESERVED_BYTES : 0);
  return {
    args: ["--ro-bind", tier.prlimit, PRLIMIT],
    prefix: [PRLIMIT, `--nproc=${limits.pids}:${limits.pids}`, `--data=${data}:${data}`, "--"],
  };
}
