/**
 * One writer at a time, across processes: a folder that only one of them can make.
 *
 * @module
 */
import { HostError } from "../../errors.ts";
import type { Runtime } from "../../ports.ts";

/** A lock this old belongs to a process that died: the work under it takes milliseconds. */
const STALE_MS = 30_000;
const PATIENCE_MS = 10_000;

/**
 * Runs `work` while no other process runs its own under the same `path`.
 *
 * @throws {HostError} `hooks.trust_busy` when another process does not let go.
 */
export async function withLock<T>(
  path: string,
  { files, clock, ids }: Pick<Runtime, "files" | "clock" | "ids">,
  work: () => Promise<T>,
): Promise<T> {
  const startedMs = clock.monotonic();
  // Looking again is all the waiting there is: a timer would not keep the process alive, and a lock lasts milliseconds.
  while (!await isMade(path)) {
    const info = await files.info(path);
    if (info !== null && clock.now() - info.modifiedMs > STALE_MS) {
      // Moved first: of two that find it stale, one moves it.
      const aside = `${path}.${ids.create("stale")}`;
      await files.rename(path, aside).then(() => files.remove(aside), () => {});
    } else if (clock.monotonic() - startedMs > PATIENCE_MS) {
      throw new HostError("hooks.trust_busy", `Another process holds "${path}"`, {
        data: { path },
        hint: `Try again; when no other kaged runs, remove it: rmdir ${path}`,
      });
    }
  }
  try {
    return await work();
  } finally {
    await files.remove(path);
  }

  async function isMade(path: string): Promise<boolean> {
    try {
      await files.makeDir(path, { mode: 0o700 });
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === "EEXIST") return false;
      throw error;
    }
  }
}
