/**
 * A clock whose long timers wait for the test.
 *
 * @module
 */
import type { Clock } from "../../../../src/core/ports/ports.ts";

/** A real clock, but for timers of a second and more: those run when {@link HeldClock.release} is called, or never. */
export interface HeldClock extends Clock {
  /** Runs every timer that is held. */
  release(): void;
}

/** Holds the long timers of `clock`. */
export function createHeldClock(clock: Clock): HeldClock {
  const held = new Set<() => void>();
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after(ms, run) {
      if (ms < 1000) return clock.after(ms, run);
      const own = (): void => run();
      held.add(own);
      return () => void held.delete(own);
    },
    release() {
      // Twice: a timer of several questions may be set anew for the one that runs.
      for (let round = 0; round < 2; round++) {
        const due = [...held];
        held.clear();
        for (const run of due) run();
      }
    },
  };
}
