/**
 * What a host takes of its machine, read from outside as the system has it.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** One look. */
export interface Figures {
  /** Resident memory of the host, in MiB, after {@link collect}. */
  readonly host: number;
  /** What of that lives on the heap, in MiB. */
  readonly heap: number;
  /** Memory of every process below it, in MiB. */
  readonly children: number;
  /** Descriptors the host has open. */
  readonly descriptors: number;
  /** Processes below it. */
  readonly processes: number;
  /** Bytes under the home, in MiB. */
  readonly disk: number;
}

const MIB = 1024 * 1024;

/** Looks at this process, those below it, and its folder. */
export function measure(home: string): Figures {
  for (let round = 0; round < 3; round++) collect();
  const below = descendants(process.pid);
  return {
    host: residentMib(process.pid),
    heap: process.memoryUsage().heapUsed / MIB,
    children: below.reduce((sum, pid) => sum + residentMib(pid), 0),
    descriptors: readdirSync("/proc/self/fd").length,
    processes: below.length,
    disk: bytesUnder(home) / MIB,
  };
}

/**
 * Collects garbage, and on V8 has it give back the pages of its young generation. After a plain `gc()` V8 keeps them:
 * 1 MiB at first, doubled under load up to 128 MiB on Node 24, and resident as they are touched, so that the memory of a
 * host whose heap is flat grows in steps for minutes. Pages that anything still lives in stay, and so do those outside
 * of V8's heap: a leak of either kind shows as it did before.
 */
function collect(): void {
  const { gc, Bun } = globalThis as { gc?: (how: object) => void; Bun?: { gc(force: boolean): void } };
  if (Bun) Bun.gc(true);
  else gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

/** How many processes are below this one. */
export function childCount(): number {
  return descendants(process.pid).length;
}

function descendants(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    const stat = textOf(`/proc/${name}/stat`);
    if (stat) parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]));
  }
  const tree = [root];
  for (const parent of tree) for (const [child, of] of parents) if (of === parent) tree.push(child);
  return tree.slice(1);
}

function residentMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/status`) ?? "")?.[1] ?? 0) / 1024;
}

function bytesUnder(dir: string): number {
  let sum = 0;
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) sum += bytesUnder(path);
    else if (entry.isFile()) sum += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  }
  return sum;
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null; // It ended meanwhile.
  }
}
