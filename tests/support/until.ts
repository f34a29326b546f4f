/**
 * Waits that end: for work of other processes, of the kernel or of the event loop that no promise stands for. Each says
 * what it waits for, and fails with that when it does not come, long before the runner would give the test up.
 *
 * @module
 */

/** How a wait passes the time between two looks. */
type Step = "moment" | "turn";

/**
 * Looks before a wait is given up. They are counted, not timed: on a busy machine each takes longer, for us as for
 * those we wait for. On an idle one both come to about half a minute.
 */
const MOST: Readonly<Record<Step, number>> = { moment: 20_000, turn: 15_000_000 };

/** Resolves after a moment in which the processor is free: a loop that looks again at once would take it all. */
export function moment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 1));
}

/** Resolves when everything that was ready in the event loop has happened. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/**
 * Looks until `look` returns something that is true, and returns it.
 *
 * @param missing What the test waits for, for the error when it does not come: the condition itself, unless said better.
 *   A function can say how things stand by then.
 * @param step `moment` leaves the processor to other processes; `turn` misses no state that lasts one turn of the loop.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  missing: string | (() => string) = look.toString(),
  step: Step = "moment",
  most: number = MOST[step],
): Promise<T> {
  for (let looks = 0; looks < most; looks++) {
    const found = await look();
    if (found) return found;
    await (step === "turn" ? turn() : moment());
  }
  throw new Error(`Waited in vain: ${typeof missing === "string" ? missing : missing()}`);
}

/** Returns what `promise` resolves with; `meanwhile` runs again and again until then, for a clock that must be moved. */
export async function untilSettled<T>(
  promise: Promise<T>,
  missing: string | (() => string),
  { step = "moment", meanwhile = () => {} }: { readonly step?: Step; readonly meanwhile?: () => void } = {},
): Promise<T> {
  let isSettled = false;
  const settled = promise.finally(() => isSettled = true);
  let isFirst = true;
  const watch = until(
    () => {
      if (!isSettled && !isFirst) meanwhile();
      isFirst = false;
      return isSettled;
    },
    missing,
    step,
  );
  return await Promise.race([settled, watch.then(() => settled)]);
}
