/**
 * What a process and all its descendants use, read from `/proc`.
 *
 * @module
 */
import type { Files } from "../../ports.ts";

/** What they use together. */
export interface TreeUsage {
  /** Memory that is theirs alone or shared among programs on purpose; mapped files do not count. */
  readonly memoryBytes: number;
  /** Processes and threads. */
  readonly tasks: number;
}

/** Adds up a whole tree. What ends meanwhile counts for nothing. */
export async function treeUsage(pid: number, files: Files): Promise<TreeUsage> {
  const threads = await files.list(`/proc/${pid}/task`).catch(() => []);
  const [status, ...children] = await Promise.all([
    files.readText(`/proc/${pid}/status`).catch(() => ""),
    ...threads.map((thread) => files.readText(`/proc/${pid}/task/${thread}/children`).catch(() => "")),
  ]);
  const kib = (field: string): number => Number(new RegExp(`^${field}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
  const below = await Promise.all(
    children.flatMap((text) => text.split(" ").map(Number).filter((id) => id > 1)).map((id) => treeUsage(id, files)),
  );
  return below.reduce((sum, { memoryBytes, tasks }) => ({
    memoryBytes: sum.memoryBytes + memoryBytes,
    tasks: sum.tasks + tasks,
  }), { memoryBytes: (kib("RssAnon") + kib("RssShmem")) * 1024, tasks: threads.length });
}
