/**
 * Holds a cage to its limits where the kernel does not: by looking.
 *
 * @module
 */
import type { Files, Runtime } from "../../ports/ports.ts";
import type { CageLimits } from "./cage_limits.ts";
import { memoryBytes } from "./limit_tier.ts";
import { treeUsage } from "./tree_usage.ts";

/** Time between two looks: a fast allocator gets some 100 MB past its limit in that time. */
export const LOOK_INTERVAL_MS = 250;

/** Returns the limit a tree of processes is over, or null. */
export async function limitPassed(pid: number, limits: CageLimits, files: Files): Promise<"memory" | "pids" | null> {
  const quick = await treeUsage(pid, files, false);
  if (quick.tasks > limits.pids) return "pids";
  if (quick.memoryBytes <= memoryBytes(limits)) return null;
  return (await treeUsage(pid, files, true)).memoryBytes > memoryBytes(limits) ? "memory" : null;
}

/** What the watchdog needs. */
export interface WatchdogOptions {
  /** The runtime. */
  readonly runtime: Pick<Runtime, "clock" | "files" | "processes">;
  /** What the cage may use. */
  readonly limits: CageLimits;
  /** Gives the first process in the cage, of which all others descend; null before it exists. */
  readonly firstPid: () => Promise<number | null>;
}

/** A watch over one cage. */
export interface Watchdog {
  /** Which limit the cage was ended for, or null. */
  exceeded(): "memory" | "pids" | null;
  /** Ends the watch. */
  stop(): void;
}

/** Begins to look; ends the cage with everything in it when it is over a limit. */
export function startWatchdog({ runtime, limits, firstPid }: WatchdogOptions): Watchdog {
  const { clock, files, processes } = runtime;
  let over: "memory" | "pids" | null = null;
  let stopped = false;
  let cancel = (): void => {};

  async function look(): Promise<void> {
    const pid = await firstPid();
    if (pid !== null) {
      over = await limitPassed(pid, limits, files);
      // Asked again: the id may be another process's by now.
      if (over !== null && !stopped && await firstPid() === pid) processes.signal(pid, "SIGKILL");
      if (over !== null) return;
    }
    again();
  }

  function again(): void {
    if (!stopped) cancel = clock.after(LOOK_INTERVAL_MS, () => void look().catch(again));
  }

  again();
  return {
    exceeded: () => over,
    stop(): void {
      stopped = true;
      cancel();
    },
  };
}
