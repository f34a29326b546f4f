/**
 * Ctrl-C and other signals that end a command: work under way is aborted first, so that no plugin is left running.
 *
 * @module
 */
import process from "node:process";
import { HostError } from "../core/errors/host_error.ts";
export { unlessAborted } from "../core/values/unless_aborted.ts";

const NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

/**
 * Runs `work` with a signal that aborts, with a `host.interrupted`, when the process is asked to end. A second request
 * ends the process at once; plugins die with it.
 */
export async function interruptible<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const listeners = Object.entries(NUMBERS).map(([name, number]) => {
    const exitCode = 128 + number;
    const listener = () => {
      if (controller.signal.aborted) process.exit(exitCode);
      controller.abort(new HostError("host.interrupted", `Stopped by ${name}`, { data: { exit_code: exitCode } }));
    };
    process.on(name, listener);
    return () => process.off(name, listener);
  });
  try {
    return await work(controller.signal);
  } finally {
    for (const remove of listeners) remove();
  }
}

/** Resolves when the process is asked to end, which for a server is no failure. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
