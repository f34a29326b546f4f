/**
 * One writer at a time in a folder, among all processes that share it.
 *
 * @module
 */
import { HostError } from "../core/errors/host_error.ts";
import type { Clock, Files, Ids } from "../core/ports/ports.ts";

interface FolderLockOptions {
  /** The folder, which must exist. */
  readonly dir: string;
  readonly files: Files;
  readonly clock: Clock;
  /** Makes names for locks that are put aside. */
  readonly ids: Ids;
}

/** Runs `work` while no other process holds the lock. */
type FolderLock = <T>(work: () => Promise<T>) => Promise<T>;

const RETRY_MS = 5;
/** Tries without a pause first: a timer of the clock would let a program end that has nothing else to do. */
const SPINS = 500;
/** Work under the lock takes milliseconds: a holder this old was killed. */
const STALE_MS = 10_000;
const GIVE_UP_MS = 30_000;

/** Returns the lock of a folder. It is a folder itself, `.lock`: making one either succeeds or fails, for one process. */
export function folderLock({ dir, files, clock, ids }: FolderLockOptions): FolderLock {
  const lock = `${dir}/.lock`;
  let turn: Promise<unknown> = Promise.resolve();

  async function take(): Promise<void> {
    const startedMs = clock.monotonic();
    for (let tries = 1;; tries++) {
      try {
        return await files.makeDir(lock);
      } catch (error) {
        if ((error as { code?: string }).code !== "EEXIST") throw error;
      }
      await breakStale();
      if (clock.monotonic() - startedMs >= GIVE_UP_MS) {
        throw new HostError("jobs.folder_busy", `"${lock}" has been there for ${GIVE_UP_MS / 1000} s`, {
          data: { path: lock },
          hint: "End the process that holds it; remove the folder when there is none",
        });
      }
      if (tries > SPINS) await new Promise<void>((resolve) => clock.after(RETRY_MS, resolve, { keepAlive: true }));
    }
  }

  async function breakStale(): Promise<void> {
    const info = await files.info(lock);
    if (!info || clock.now() - info.modifiedMs < STALE_MS) return;
    const aside = `${dir}/.${ids.create("stale")}`;
    try {
      await files.rename(lock, aside);
    } catch {
      return; // Another process was first.
    }
    // Another process may have broken it and made its own between the look and the move: then that one goes back.
    const moved = await files.info(aside);
    if (moved && (moved.ino !== info.ino || moved.modifiedMs !== info.modifiedMs)) await files.rename(aside, lock);
    else await files.removeDir(aside);
  }

  async function locked<T>(work: () => Promise<T>): Promise<T> {
    await take();
    try {
      return await work();
    } finally {
      await files.removeDir(lock);
    }
  }

  return <T>(work: () => Promise<T>): Promise<T> => {
    const result = turn.then(() => locked(work));
    turn = result.catch(() => {});
    return result;
  };
}
