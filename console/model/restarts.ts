/**
 * Times of restarts, counted from the timeline.
 *
 * @module
 */
import type { TimelineEntry } from "./state.ts";

/** Length of a sparkline, which has {@link STEPS} bars. */
export const SPAN_MS: number = 60 * 60 * 1000;
const STEPS = 20;

/** Returns the number of restarts of an instance in each of the last twenty periods of three minutes, oldest first. */
export function restartSteps(
  entries: readonly TimelineEntry[],
  { instance, restarts, now }: { readonly instance: string; readonly restarts: number; readonly now: number },
): number[] {
  const steps = new Array<number>(STEPS).fill(0);
  if (restarts === 0) return steps;
  const starts = entries.filter(({ data }) => data.type === "plugin.spawned" && data.instance === instance);
  // The first start is no restart, and may be too old to be in the timeline.
  for (const { data } of starts.slice(-restarts)) {
    const age = now - Date.parse(String(data.timestamp));
    if (age >= 0 && age < SPAN_MS) steps[STEPS - 1 - Math.floor(age / (SPAN_MS / STEPS))]! += 1;
  }
  return steps;
}
