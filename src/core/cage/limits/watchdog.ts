/**
 * Holds a cage to its limits where the kernel does not: by looking.
 *
 * @module
 */
import type { Files, Runtime } from "../../ports/ports.ts";
import { type CageLimits, memoryBytes } from "./cage_limits.ts";

/** Time between two looks: a fast allocator gets some 100 MB past its limit in that time. */
export const LOOK_INTERVAL_MS = 250;

/** Returns the limit a tree of processes is over, or null. */
async function limitPassed(pid: number, limits: CageLimits, files: Files): Promise<"memory" | "pids" | null> {
  const quick = await treeUsage(pid, files, false);
  if (quick.tasks > limits.pids) return "pids";
  if (quick.memoryBytes <= memoryBytes(limits)) return null;
  return (await treeUsage(pid, files, true)).memoryBytes > memoryBytes(limits) ? "memory" : null;
}

/** A watch over one cage. */
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

interface TreeUsage {
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
}

/**
 * Adds up the memory, mapped files not counted, and the tasks of a process and all its descendants. One that ends
 * meanwhile counts for nothing. The quick way counts a page once for each process that shares it, as forked ones do; the
 * `exact` way counts it once, and takes longer.
 */
export async function treeUsage(pid: number, files: Files, exact: boolean): Promise<TreeUsage> {
  const read = (name: string): Promise<string> => files.readText(`/proc/${pid}/${name}`).catch(() => "");
  const threads = await files.list(`/proc/${pid}/task`).catch(() => []);
  const [memory, ...children] = await Promise.all([
    ownMemory(read, exact),
    ...threads.map((thread) => read(`task/${thread}/children`)),
  ]);
  const below = await Promise.all(
    children.flatMap((text) => text.split(" ").map(Number).filter((id) => id > 1))
      .map((id) => treeUsage(id, files, exact)),
  );
  return below.reduce((sum, { memoryBytes, tasks }) => ({
    memoryBytes: sum.memoryBytes + memoryBytes,
    tasks: sum.tasks + tasks,
  }), { memoryBytes: memory, tasks: threads.length });
}

async function ownMemory(read: (name: string) => Promise<string>, exact: boolean): Promise<number> {
  const text = exact ? await read("smaps_rollup") : "";
  // A kernel without that file, or one that does not let us read it, is asked the quick way.
  const shares = sumKib(text, ["Pss_Anon", "Pss_Shmem"]);
  return (shares ?? sumKib(await read("status"), ["RssAnon", "RssShmem"]) ?? 0) * 1024;
}

/** Adds up fields of a text like `/proc/self/status`, or returns null when one is not there. */
function sumKib(text: string, fields: readonly string[]): number | null {
  const values = fields.map((field) => new RegExp(`^${field}:\\s*(\\d+) kB$`, "m").exec(text)?.[1]);
  return values.includes(undefined) ? null : values.reduce((sum, value) => sum + Number(value), 0);
}
