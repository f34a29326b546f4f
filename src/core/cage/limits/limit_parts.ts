/**
 * The parts that each tier of limits adds to a cage: control groups, a scope of systemd, limits of the process itself.
 * Pure.
 *
 * @module
 */
import type { Command } from "../../ports/ports.ts";
import type { ExecutableMount } from "../cage_plan.ts";
import { type CageLimits, cpuWeight, type LimitTier, memoryBytes } from "./cage_limits.ts";

/** Place in the cage of the program that sets the limits of a process. */
const PRLIMIT = "/.cage/prlimit";
/** Memory that a JavaScript runtime reserves without using it: with less it ends at its start. */
const RESERVED_BYTES = 512 * 1024 * 1024;

/** One file of a group and the value written into it. */
export interface GroupSetting {
  readonly path: string;
  readonly value: string;
  /** Set where not every kernel has the file. */
  readonly optional?: true;
}

/** The control groups of one cage. */
export interface GroupPlan {
  /** Folders to make, which the cage's first process joins. */
  readonly dirs: readonly string[];
  /** Written by the launcher, in this order: of two limits on memory the kernel takes the lower first. */
  readonly settings: readonly GroupSetting[];
  /**
   * Written once the plugin runs: its share of the processor. On a busy machine a start with that share alone would
   * take longer than a handshake may.
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
          // One process over the limit ends the whole cage: half a plugin is of no use.
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

/** Returns the arguments that ask for a scope: of the system's manager for root, of the user's own for others. */
export function scopeArgs(uid: number | null): string[] {
  return [...(uid === 0 ? [] : ["--user"]), "--scope", "--quiet", "--collect"];
}

/** Returns the variables `systemd-run` needs to find its manager. */
export function scopeEnv(uid: number | null): Record<string, string> {
  return uid === 0 ? {} : { XDG_RUNTIME_DIR: `/run/user/${uid}` };
}

/** Returns the command that starts `command` in a scope of its own: in place of `systemd-run`, with an empty environment. */
export function scopedCommand(
  command: Command,
  { tier, limits, name, uid }: {
    readonly tier: Extract<LimitTier, { name: "systemd" }>;
    readonly limits: CageLimits;
    readonly name: string;
    readonly uid: number | null;
  },
): Command {
  const properties = [
    `MemoryMax=${memoryBytes(limits)}`,
    "MemorySwapMax=0",
    `TasksMax=${limits.pids}`,
    `CPUWeight=${cpuWeight(limits)}`,
  ];
  return {
    file: tier.program,
    args: [
      ...scopeArgs(uid),
      `--unit=${name}`,
      ...properties.flatMap((property) => ["-p", property]),
      ...["--", "/usr/bin/env", "-i", command.file, ...command.args],
    ],
    env: tier.env,
    cwd: command.cwd,
  };
}

/**
 * Returns arguments of bubblewrap and a prefix of the command that limit the process itself; none where the kernel limits
 * whole groups. The limits are set inside the cage: outside, the number of processes would count all others of the same
 * user too.
 */
export function rlimitPart(
  tier: LimitTier,
  limits: CageLimits,
  programs: readonly ExecutableMount[],
  systemPrograms = false,
): { readonly args: readonly string[]; readonly prefix: readonly string[] } {
  if (tier.name !== "watchdog" || tier.prlimit === null) return { args: [], prefix: [] };
  const isJsRuntime = systemPrograms || programs.some(({ dest }) => /\/(js|node|bun|deno)$/.test(dest));
  const data = memoryBytes(limits) + (isJsRuntime ? RESERVED_BYTES : 0);
  return {
    args: ["--ro-bind", tier.prlimit, PRLIMIT],
    prefix: [PRLIMIT, `--nproc=${limits.pids}:${limits.pids}`, `--data=${data}:${data}`, "--"],
  };
}
