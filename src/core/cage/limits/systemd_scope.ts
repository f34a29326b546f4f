/**
 * A cage in a scope of systemd: it makes the groups and removes them when they are empty.
 *
 * @module
 */
import type { Command } from "../../ports/ports.ts";
import type { CageLimits } from "./cage_limits.ts";
import { cpuWeight, type LimitTier, memoryBytes } from "./limit_tier.ts";

/** Returns the arguments that ask for a scope: of the system's manager for root, of the user's own for others. */
export function scopeArgs(uid: number | null): string[] {
  return [...(uid === 0 ? [] : ["--user"]), "--scope", "--quiet", "--collect"];
}

/** Returns the variables `systemd-run` needs to find its manager. */
export function scopeEnv(uid: number | null): Record<string, string> {
  return uid === 0 ? {} : { XDG_RUNTIME_DIR: `/run/user/${uid}` };
}

/** What a scope is made from. */
export interface ScopeOptions {
  /** The way to systemd. */
  readonly tier: Extract<LimitTier, { name: "systemd" }>;
  /** What the cage may use. */
  readonly limits: CageLimits;
  /** Name of the scope. */
  readonly name: string;
  /** User id of the host. */
  readonly uid: number | null;
}

/** Returns the command that starts `command` in a scope of its own: in place of `systemd-run`, with an empty environment. */
export function scopedCommand(command: Command, { tier, limits, name, uid }: ScopeOptions): Command {
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
