/**
 * Removes old and surplus records of finished jobs, so that a store does not grow for ever.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";
import type { JobQueue } from "./types.ts";

interface RetentionOptions {
  readonly queue: Pick<JobQueue, "forget">;
  readonly clock: Clock;
  readonly maxAgeMs: number;
  readonly maxFinished: number;
  readonly onProblem: (error: unknown) => void;
}

const EVERY_MS = 3600_000;
/** Small enough that other users of the store need not wait long. */
const BATCH = 500;

/** Forgets finished jobs now and every hour, until the returned function is called; that resolves when it is done. */
export function keepTidy({ queue, clock, maxAgeMs, maxFinished, onProblem }: RetentionOptions): () => Promise<void> {
  let isStopped = false;
  let cancel = (): void => {};
  let sweeping = sweep();

  async function sweep(): Promise<void> {
    try {
      while (!isStopped && await queue.forget({ maxAgeMs, maxFinished, batch: BATCH }) === BATCH);
    } catch (error) {
      onProblem(error);
    }
    if (!isStopped) cancel = clock.after(EVERY_MS, () => sweeping = sweep());
  }

  return () => {
    isStopped = true;
    cancel();
    return sweeping;
  };
}
