/**
 * Looks at files again and again, on the host's clock.
 *
 * @module
 */
import type { Clock, Files } from "../core/ports/ports.ts";

/** Looks that follow one another. */
export interface Polling {
  /** Looks now, and from now on; resolves when the first look is over. Safe to call again. */
  begin(): Promise<void>;
  /** Looks no more; resolves when no look is under way. */
  close(): Promise<void>;
}

/**
 * Returns looks that have not begun; each waits `everyMs` after the end of the one before. `look` does not reject, and is
 * told of the first after each {@link Polling.begin}.
 */
export function polling(look: (isFirst: boolean) => Promise<void>, everyMs: number, clock: Clock): Polling {
  let cancel: (() => void) | null = null;
  let work: Promise<void> = Promise.resolve();
  function run(isFirst: boolean): void {
    work = look(isFirst).finally(() => {
      if (cancel !== null) cancel = clock.after(everyMs, () => run(false));
    });
  }
  return {
    begin() {
      if (cancel !== null) return work;
      cancel = () => {};
      run(true);
      return work;
    },
    async close() {
      cancel?.();
      cancel = null;
      await work;
    },
  };
}

/** Returns a text that differs once files have changed, also those that are not there. */
export async function stampOf(paths: readonly string[], files: Files): Promise<string> {
  const stamps = paths.map(async (path) => {
    const info = await files.target(path).catch(() => null);
    return info === null ? "" : `${info.dev}:${info.ino}:${info.size}:${info.modifiedMs}`;
  });
  return (await Promise.all(stamps)).join(" ");
}
