/**
 * Runs a limited number of tasks at a time; the rest wait in the order they came.
 *
 * @module
 */

/** Runs `work` as soon as a permit is free. */
export type Permits = <T>(work: () => Promise<T>) => Promise<T>;

/** Returns permits for `count` pieces of work at a time. */
export function permits(count: number): Permits {
  const waiting: (() => void)[] = [];
  let free = count;
  return async (work) => {
    if (free > 0) free--;
    else await new Promise<void>((resolve) => waiting.push(resolve)); // The task that ends hands its permit on.
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free++;
    }
  };
}
