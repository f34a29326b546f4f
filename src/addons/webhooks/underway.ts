/**
 * Deliveries under way, and how they come to an end with the program.
 *
 * @module
 */
import type { Clock } from "../../core/ports/ports.ts";

/** Deliveries under way. */
export interface Underway {
  /** How many. */
  readonly size: number;
  /** Calls off everything at once. */
  readonly abort: AbortSignal;
  /** Ends the patience: whoever waits for another attempt is called off, attempts go on. */
  readonly hurry: AbortSignal;
  /** Counts `work`, which never rejects, until it is done. */
  add(work: Promise<void>): void;
  /** Resolves when nothing is under way, and keeps the program alive for as long. */
  flush(): Promise<void>;
  /** Lets attempts end, waits for none, and calls off what has not ended in time. */
  close(graceMs: number): Promise<void>;
}

const AN_HOUR_MS = 3600_000;

/** Returns a count of nothing. */
export function createUnderway(clock: Clock): Underway {
  const pending = new Set<Promise<void>>();
  const [abort, hurry] = [new AbortController(), new AbortController()];

  async function flush(): Promise<void> {
    // The timers of waiting deliveries let a program end; whoever waits for them does not want that.
    const awake = setInterval(() => {}, AN_HOUR_MS);
    try {
      while (pending.size > 0) await Promise.all(pending);
    } finally {
      clearInterval(awake);
    }
  }

  return {
    abort: abort.signal,
    hurry: hurry.signal,
    flush,
    get size() {
      return pending.size;
    },
    add(work) {
      pending.add(work);
      void work.then(() => pending.delete(work));
    },
    async close(graceMs) {
      hurry.abort();
      if (graceMs <= 0) abort.abort();
      const cancel = clock.after(graceMs, () => abort.abort());
      await flush();
      cancel();
    },
  };
}
