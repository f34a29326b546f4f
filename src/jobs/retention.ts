/**
 * Finished jobs are kept for a while, and only so many: a store does not grow for ever.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";
import type { JobQueue } from "./types.ts";

/** What is kept, and where. */
export interface RetentionOptions {
  /** The queue. */
  readonly queue: Pick<JobQueue, "forget">;
  /** Time. */
  readonly clock: Clock;
  /** How long finished jobs are kept. */
  readonly maxAgeMs: number;
  /** How many finished jobs are kept. */
  readonly maxFinished: number;
  /** Hears of trouble with the store. */
  readonly onProblem: (error: unknown) => void;
}

const EVERY_MS = 3600_000;
/** Few enough that others of the store's users need not wait long. */
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
