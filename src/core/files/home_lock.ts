/**
 * One process at a time changes the operator's folder: the one that holds `<home>/lock`.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Database, Runtime } from "../ports/ports.ts";

/** The ports that the lock needs. */
export type LockPorts = Pick<Runtime, "clock" | "databases" | "files">;

const WAIT_MS = 10_000;
/** SQLite itself waits this long at each try; then the rest of the program has a turn. */
const STEP_MS = 5;
/** SQLITE_BUSY: another process has the lock. */
const BUSY = 5;

/**
 * Runs `work` while nobody else changes the operator's folder. The lock is one of the kernel's, by way of SQLite: it
 * ends with the process that holds it, so there are no stale ones.
 *
 * @throws {HostError} `install.busy` when it is not free within `waitMs` (default 10 000).
 */
export async function withHomeLock<T>(
  home: string,
  { clock, databases, files }: LockPorts,
  work: () => Promise<T>,
  { waitMs = WAIT_MS }: { readonly waitMs?: number } = {},
): Promise<T> {
  await files.makeDir(home, { recursive: true, mode: 0o700 });
  const lock = databases.open(`${home}/lock`, { busyMs: STEP_MS });
  try {
    const until = clock.monotonic() + waitMs;
    while (!take(lock)) {
      if (clock.monotonic() >= until) throw busy(home);
      // Not a timer: those do not keep a program alive that waits for nothing else.
      await files.info(home);
    }
    return await work();
  } finally {
    lock.close();
  }
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

function busy(home: string): HostError {
  return new HostError("install.busy", `Another command is changing "${home}"`, {
    data: { home },
    hint: "Try again when it is done",
  });
}
