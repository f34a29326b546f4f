/**
 * A lock among processes, at a file. It is one of the kernel's, by way of SQLite: it ends with the process that holds it,
 * so there are no stale ones.
 *
 * @module
 */
import type { HostError } from "../errors/host_error.ts";
import type { Database, Runtime } from "../ports/ports.ts";

/** The ports that a lock needs. */
export type LockPorts = Pick<Runtime, "clock" | "databases" | "files">;

/** An open lock, held only while work runs. */
export interface FileLock {
  /** Runs `work` while no other process, and no other call of this one, holds the lock. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** Closes it after the work that waits for it. */
  close(): Promise<void>;
}

/** SQLite itself waits this long at each try; then the rest of the program has a turn. */
const STEP_MS = 5;
/** SQLITE_BUSY: another process has the lock. */
const BUSY = 5;

/** Opens the lock at `path`, in a folder that exists. {@link FileLock.hold} rejects with `busy()` after `waitMs`. */
export function openFileLock(
  path: string,
  { clock, databases, files }: LockPorts,
  { waitMs, busy }: { readonly waitMs: number; readonly busy: () => HostError },
): FileLock {
  const lock = databases.open(path, { busyMs: STEP_MS });
  let turn: Promise<unknown> = Promise.resolve();

  async function held<T>(work: () => Promise<T>): Promise<T> {
    const until = clock.monotonic() + waitMs;
    while (!take(lock)) {
      if (clock.monotonic() >= until) throw busy();
      // Not a timer: those do not keep a program alive that waits for nothing else.
      await files.info(path);
    }
    try {
      return await work();
    } finally {
      lock.run("ROLLBACK");
    }
  }

  return {
    hold(work) {
      const result = turn.then(() => held(work));
      turn = result.catch(() => {});
      return result;
    },
    close: () => turn.then(() => lock.close()),
  };
}

function take(lock: Database): boolean {
  try {
    lock.run("BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (((error as { errcode?: number }).errcode ?? 0) % 256 === BUSY) return false;
    throw error;
  }
}
