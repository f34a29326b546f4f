/**
 * Deliveries under way, and how they come to an end with the program.
 *
 * @module
 */
import type { Clock } from "../../core/ports/ports.ts";

/** The deliveries of one forwarder or manager that have not ended. */
export interface Underway {
  readonly size: number;
  /** Aborts every delivery at once. */
  readonly abort: AbortSignal;
  /** Aborts deliveries that wait for another attempt; running attempts go on. */
  readonly hurry: AbortSignal;
  /** Counts `work`, which never rejects, until it is done. */
  add(work: Promise<void>): void;
  /** Resolves when nothing is under way, and keeps the program alive for as long. */
  flush(): Promise<void>;
  /** Lets running attempts end, and aborts those that have not ended after `graceMs` (default 10 000). */
  close(graceMs?: number): Promise<void>;
}

const AN_HOUR_MS = 3600_000;
const GRACE_MS = 10_000;

/** Starts with no delivery. */
export function createUnderway(clock: Clock): Underway {
  const pending = new Set<Promise<void>>();
  const [abort, hurry] = [new AbortController(), new AbortController()];

  async function flush(): Promise<void> {
    // The timers of waiting deliveries do not keep a program alive, but a caller of flush() wants to see their end.
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
    async close(graceMs = GRACE_MS) {
      hurry.abort();
      if (graceMs <= 0) abort.abort();
      const cancel = clock.after(graceMs, () => abort.abort());
      await flush();
      cancel();
    },
  };
}
