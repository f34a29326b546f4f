/**
 * Signals to processes.
 *
 * @module
 */
import process from "node:process";
import type { Signal } from "../../core/ports/ports.ts";

/** Signals a process, or a group when `pid` is negative. Returns false when there is none. */
export function signalProcess(pid: number, signal: Signal): boolean {
  // 0 is this process group and -1 every process there is: no caller means those.
  if (!Number.isSafeInteger(pid) || pid === 0 || pid === -1) throw new RangeError(`No process to signal: ${pid}`);
  try {
    return process.kill(pid, signal);
  } catch (error) {
    if ((error as { code?: string }).code === "ESRCH") return false;
    throw error;
  }
}
