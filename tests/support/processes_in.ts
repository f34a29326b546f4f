/**
 * Finds processes by the folder they work in.
 *
 * @module
 */
import { readdir, readlink } from "node:fs/promises";

/** Returns the ids of all processes whose current folder is `dir`, in a cage or not. */
export async function processesIn(dir: string): Promise<number[]> {
  const ids = (await readdir("/proc")).map(Number).filter((id) => id > 0);
  const folders = await Promise.all(ids.map((id) => readlink(`/proc/${id}/cwd`).catch(() => null)));
  return ids.filter((_, at) => folders[at] === dir);
}
