/**
 * A lock among processes, at a file. It is one of the kernel's, by way of SQLite: it ends with the process that holds it,
 * so there are no stale ones.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import type { Database, Runtime } from "../ports/ports.ts";
import { permits } from "../values/permits.ts";

/** The ports that a lock needs. */
export type LockPorts = Pick<Runtime, "clock" | "databases" | "files">;

/** An open lock, held only while work runs. */
export interface FileLock {
  /** Runs `work` while no other process, and no other call of this one, holds the lock. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** Closes it after the work that waits for it. */
  close(): Promise<void>;
}

/** SQLite itself waits this long at each try, if nothing else is asked; then the rest of the program has a turn. */
const STEP_MS = 5;
/** SQLITE_BUSY: another process has the lock. */
const BUSY = 5;

/**
 * Opens the lock at `path`, in a folder that exists. {@link FileLock.hold} rejects with `busy()` after `waitMs`. With
 * `stepMs` 0 no try holds up the program: for a lock that is held for moments, by one that serves calls meanwhile.
 */
export function openFileLock(
  path: string,
  { clock, databases, files }: LockPorts,
  { waitMs, busy, stepMs = STEP_MS }: {
    readonly waitMs: number;
    readonly busy: () => HostError;
    readonly stepMs?: number;
  },
): FileLock {
  const lock = databases.open(path, { busyMs: stepMs });
  const inTurn = permits(1);

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
    hold: (work) => inTurn(() => held(work)),
    close: () => inTurn(() => Promise.resolve(lock.close())),
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

const WAIT_MS = 10_000;

/**
 * Runs `work` while no other process changes the operator's folder, which is made when it is missing.
 *
 * @throws {HostError} `install.busy` when the lock is not free within `waitMs` (default 10 000).
 */
export async function withHomeLock<T>(
  home: string,
  ports: LockPorts,
  work: () => Promise<T>,
  { waitMs = WAIT_MS }: { readonly waitMs?: number } = {},
): Promise<T> {
  await ports.files.makeDir(home, { recursive: true, mode: 0o700 });
  const busy = (): HostError =>
    new HostError("install.busy", `Another command is changing "${home}"`, {
      data: { home },
      hint: "Try again when it is done",
    });
  const lock = openFileLock(`${home}/lock`, ports, { waitMs, busy });
  try {
    return await lock.hold(work);
  } finally {
    await lock.close();
  }
}
