/**
 * Gives up waiting when a signal aborts.
 *
 * @module
 */

/** Settles as `work` does, or rejects with `errorOf(signal)`, by default its reason, when the signal aborts first. */
export function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  errorOf: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(errorOf(signal));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
