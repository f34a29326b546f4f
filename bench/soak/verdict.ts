/**
 * Whether a figure that was sampled all along stayed where it was. Only the second half counts: in the first one caches
 * fill, compilers compile, files reach the size at which they are rotated.
 *
 * @module
 */

/** One sample. */
export interface Sample {
  /** Seconds since the start. */
  readonly t: number;
  /** The figure. */
  readonly value: number;
}

/** How much growth over the second half is still flat: the greater of the two. */
export interface Bounds {
  /** In the unit of the figure. */
  readonly absolute: number;
  /** As a part of its median. */
  readonly relative: number;
}

/** What is made of a series. */
export interface Verdict {
  /** Whether it stayed flat; null when there is too little to say. */
  readonly isFlat: boolean | null;
  /** Growth over the second half along its slope, in the unit of the figure. */
  readonly growth: number;
  /** Growth that is allowed. */
  readonly allowed: number;
  /** The median of the second half. */
  readonly median: number;
  /** The same in words. */
  readonly text: string;
}

/** Fewer samples in the second half say nothing. */
const LEAST = 6;

/** Judges one series. Falling is flat: only growth fills a machine. */
export function judge(samples: readonly Sample[], { absolute, relative }: Bounds, unit: string): Verdict {
  const end = samples.at(-1)?.t ?? 0;
  const start = samples[0]?.t ?? 0;
  const half = samples.filter(({ t }) => t - start >= (end - start) / 2);
  const middle = median(half.map(({ value }) => value));
  const growth = slope(half) * (end - (half[0]?.t ?? end));
  const allowed = Math.max(absolute, relative * Math.abs(middle));
  const facts = { growth, allowed, median: middle };
  if (half.length < LEAST) return { isFlat: null, ...facts, text: `too short to say: ${half.length} samples` };
  const isFlat = growth <= allowed;
  const grown = `${growth < 0 ? "−" : "+"}${figure(Math.abs(growth))} ${unit}`.trimEnd();
  const text = isFlat ? `flat: ${grown} in the second half` : `grows: ${grown} in the second half`;
  return { isFlat, ...facts, text };
}

/** The median slope between any two samples: a few wild ones do not turn it. */
export function slope(samples: readonly Sample[]): number {
  const slopes: number[] = [];
  for (const [at, a] of samples.entries()) {
    for (const b of samples.slice(at + 1)) if (b.t > a.t) slopes.push((b.value - a.value) / (b.t - a.t));
  }
  return median(slopes);
}

/** The middle value; 0 of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = sorted.length >> 1;
  if (sorted.length === 0) return 0;
  return sorted.length % 2 === 1 ? sorted[at]! : (sorted[at - 1]! + sorted[at]!) / 2;
}

/** A figure as a person reads it. */
export function figure(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toFixed(1)));
}
