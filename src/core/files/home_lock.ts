/**
 * One process at a time changes the operator's folder: the one that holds `<home>/lock`.
 *
 * @module
 */
import { HostError } from "../errors/host_error.ts";
import { type LockPorts, openFileLock } from "./file_lock.ts";

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
