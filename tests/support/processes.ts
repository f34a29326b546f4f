/** Running processes, read from /proc. */
import { readdir, readFile } from "node:fs/promises";
import { until } from "./until.ts";

/** Whether a process exists and is no zombie. */
export async function isAlive(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  return stat !== null && stat[stat.lastIndexOf(")") + 2] !== "Z";
}

/** Every process below `pid`, itself included. */
export async function processTree(pid: number): Promise<number[]> {
  const parents = new Map<number, number>();
  for (const entry of await readdir("/proc")) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await readFile(`/proc/${entry}/stat`, "utf8").catch(() => null);
    if (stat) parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(")") + 4).split(" ")[0]));
  }
  const tree = [pid];
  for (const parent of tree) for (const [child, of] of parents) if (of === parent) tree.push(child);
  return tree;
}

/** Resolves when none of the processes exists any more. */
export async function allGone(pids: readonly number[]): Promise<void> {
  await until(
    async () => !(await Promise.all(pids.map(isAlive))).includes(true),
    `the end of the processes ${pids.join(", ")}`,
  );
}
