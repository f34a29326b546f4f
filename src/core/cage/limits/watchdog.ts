/**
 * Holds a cage to its limits where the kernel does not: by looking.
 *
 * @module
 */
import type { Files, Runtime } from "../../ports/ports.ts";
import { type CageLimits, memoryBytes } from "./cage_limits.ts";
import { heldBytes, sharedOfMachine, treeUsage } from "./tree_usage.ts";

/** Time between two looks at a cage that does not grow. */
export const LOOK_INTERVAL_MS = 250;
/** Time between two looks at one that nears its limit. */
const SHORTEST_INTERVAL_MS = 25;

/** The finding of one look. */
interface Look {
  /** The limit that the cage is over, or null. */
  readonly over: "memory" | "pids" | null;
  /** Memory that it may use by now: an upper bound where that is within the limit. */
  readonly bytes: number;
}

/** Each step takes longer than the one before, and is taken only if that one found too much. */
async function lookAt(pid: number, limits: CageLimits, files: Files): Promise<Look> {
  const limit = memoryBytes(limits);
  const [quick, shared] = await Promise.all([treeUsage(pid, files, false), sharedOfMachine(files)]);
  const most = quick.ownBytes + Math.max(quick.mappedBytes, shared ?? Infinity);
  if (quick.tasks > limits.pids) return { over: "pids", bytes: most };
  if (most <= limit) return { over: null, bytes: most };
  // Mapped pages belong to files that are counted among the held ones too.
  const held = await heldBytes(quick.pids, files);
  const bytes = quick.ownBytes + Math.max(quick.mappedBytes, held);
  if (bytes <= limit) return { over: null, bytes };
  // The kernel walks all pages to say who shares them, and the plugin takes more meanwhile.
  if (quick.largestBytes + held > limit) return { over: "memory", bytes };
  const exact = await treeUsage(pid, files, true);
  const isOver = exact.ownBytes + Math.max(exact.mappedBytes, held) > limit;
  return { over: isOver ? "memory" : null, bytes };
}

/**
 * Returns the time until the next look: half of what the cage would need to reach its limit if it went on growing as it
 * did since the last look. Never less than a look takes, so that a cage made costly to look at cannot occupy the host.
 */
export function nextLookMs(
  { bytes, grownBytes, sinceMs, tookMs, limitBytes }: {
    readonly bytes: number;
    /** Growth since the look before, and the time since then. */
    readonly grownBytes: number;
    readonly sinceMs: number;
    /** Length of the look itself. */
    readonly tookMs: number;
    readonly limitBytes: number;
  },
): number {
  const leftMs = grownBytes > 0 ? Math.max(0, limitBytes - bytes) / grownBytes * sinceMs : Infinity;
  return Math.max(tookMs, SHORTEST_INTERVAL_MS, Math.min(LOOK_INTERVAL_MS, leftMs / 2));
}

export interface Watchdog {
  /** Returns the limit the cage was ended for, or null. */
  exceeded(): "memory" | "pids" | null;
  stop(): void;
}

/**
 * Begins to look; ends the cage with everything in it when it is over a limit. `firstPid` returns the first process in
 * the cage, of which all others descend; null before it exists.
 */
export function startWatchdog(
  firstPid: () => Promise<number | null>,
  limits: CageLimits,
  { clock, files, processes }: Pick<Runtime, "clock" | "files" | "processes">,
): Watchdog {
  let over: Look["over"] = null;
  let last = { bytes: 0, atMs: clock.monotonic() };
  let stopped = false;
  let cancel = (): void => {};

  async function look(): Promise<void> {
    const pid = await firstPid();
    if (pid === null) return again();
    const atMs = clock.monotonic();
    const found = await lookAt(pid, limits, files);
    over = found.over;
    // Asked again: the id may be another process's by now.
    if (over !== null && !stopped && await firstPid() === pid) processes.signal(pid, "SIGKILL");
    if (over !== null) return;
    const { bytes } = found;
    again(nextLookMs({
      bytes,
      grownBytes: bytes - last.bytes,
      sinceMs: atMs - last.atMs,
      tookMs: clock.monotonic() - atMs,
      limitBytes: memoryBytes(limits),
    }));
    last = { bytes, atMs };
  }

  function again(ms: number = LOOK_INTERVAL_MS): void {
    if (!stopped) cancel = clock.after(ms, () => void look().catch(() => again()));
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
