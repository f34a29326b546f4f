/**
 * What a process and all its descendants use, read from `/proc`.
 *
 * @module
 */
import type { Files } from "../../ports/ports.ts";

/** What they use together. */
export interface TreeUsage {
  /** Memory of their own or shared among them; mapped files do not count. */
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
}

/**
 * Adds up a whole tree. What ends meanwhile counts for nothing. The quick way counts a page once for each process that
 * shares it, as forked ones do; the `exact` way counts it once, and takes longer.
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
  // A kernel that does not tell, or does not tell us, is asked the quick way.
  const shares = sumKib(text, ["Pss_Anon", "Pss_Shmem"]);
  return (shares ?? sumKib(await read("status"), ["RssAnon", "RssShmem"]) ?? 0) * 1024;
}

/** Adds up fields of a text like `/proc/self/status`, or returns null when one is not there. */
function sumKib(text: string, fields: readonly string[]): number | null {
  const values = fields.map((field) => new RegExp(`^${field}:\\s*(\\d+) kB$`, "m").exec(text)?.[1]);
  return values.includes(undefined) ? null : values.reduce((sum, value) => sum + Number(value), 0);
}
