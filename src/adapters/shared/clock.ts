/**
 * Time as the runtime measures it.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";
import type { Clock } from "../../core/ports/ports.ts";

/** Longest delay a timer takes: a greater one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** The clock of the machine. */
export const clock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms: number, run: () => void, { keepAlive = false }: { readonly keepAlive?: boolean } = {}): () => void {
    let timer: ReturnType<typeof setTimeout>;
    const wait = (leftMs: number): void => {
      const step = Math.min(leftMs, MAX_DELAY_MS);
      timer = setTimeout(() => leftMs > step ? wait(leftMs - step) : run(), step);
      if (!keepAlive) timer.unref();
    };
    wait(ms);
    return () => clearTimeout(timer);
  },
};
