/**
 * Waiting for handlers of hooks no longer than the caller of a tool does.
 *
 * @module
 */
import { cancelledError } from "../core/wire/outgoing_calls.ts";

/** Returns the value of `work`, or rejects with `protocol.cancelled` once `signal` aborts; `work` then goes on unheard. */
export function unlessAborted<T>(work: Promise<T>, tool: string, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(cancelledError(tool, signal));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
