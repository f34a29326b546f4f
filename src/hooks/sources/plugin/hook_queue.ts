/**
 * One hook at a time for each plugin instance, whatever the session it comes from.
 *
 * @module
 */
import type { Clock } from "../../../core/ports/ports.ts";

/** Hooks in line, one line for each instance. */
export interface HookQueue {
  /**
   * Waits for the turn of `key`, at most `maxWaitMs`. Resolves with a function that ends the turn, or with null when it
   * did not come in time.
   */
  turn(key: string, maxWaitMs: number): Promise<(() => void) | null>;
}

/** Returns a queue without lines. */
export function hookQueue(clock: Clock): HookQueue {
  const waiting = new Map<string, (() => void)[]>();

  function release(key: string): void {
    const next = waiting.get(key)?.shift();
    if (next) next();
    else waiting.delete(key);
  }

  return {
    turn(key, maxWaitMs) {
      const endTurn = () => release(key);
      const line = waiting.get(key);
      if (!line) {
        waiting.set(key, []);
        return Promise.resolve(endTurn);
      }
      return new Promise((resolve) => {
        const start = () => {
          cancel();
          resolve(endTurn);
        };
        const cancel = clock.after(maxWaitMs, () => {
          line.splice(line.indexOf(start), 1);
          resolve(null);
        });
        line.push(start);
      });
    },
  };
}
