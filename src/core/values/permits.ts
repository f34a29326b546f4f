/**
 * So many at a time, the rest in the order they came.
 *
 * @module
 */

/** Runs `work` when it is its turn. */
export type Permits = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns permits for `count` pieces of work at a time. */
export function permits(count: number): Permits {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // Whoever ends hands its permit on.
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
