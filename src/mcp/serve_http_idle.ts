/**
 * Ends what nobody uses any more.
 *
 * @module
 */
import type { Clock } from "../core/ports/ports.ts";

/** Counts the uses of something that ends when it was out of use for long. */
export interface IdleWatch {
  /** Begins a use; the returned function ends it, once. */
  use(): () => void;
  /** Whether it is in use now. */
  isUsed(): boolean;
  /** Time of the last use, of the monotonic clock. */
  lastUsedMs(): number;
  /** Ends the watch, without `onIdle`. */
  stop(): void;
}

/** Calls `onIdle` once there was no use for `idleMs`. */
export function idleWatch(
  { clock, idleMs, onIdle }: { readonly clock: Clock; readonly idleMs: number; readonly onIdle: () => void },
): IdleWatch {
  let uses = 0;
  let usedMs = clock.monotonic();
  let isStopped = false;
  let cancel = clock.after(idleMs, onIdle);
  return {
    use() {
      uses++;
      cancel();
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        usedMs = clock.monotonic();
        if (--uses === 0 && !isStopped) cancel = clock.after(idleMs, onIdle);
      };
    },
    isUsed: () => uses > 0,
    lastUsedMs: () => usedMs,
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
