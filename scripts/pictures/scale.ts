/**
 * Scales of charts: where a value stands, and which values are worth a line.
 *
 * @module
 */

/** Maps values to places. */
export interface Scale {
  readonly at: (value: number) => number;
  /** Values for grid lines, rising. */
  readonly ticks: readonly number[];
}

/** Returns a scale on which equal ratios are equally long, around 1 and from half to twice at least. */
export function ratioScale(values: readonly number[], [from, to]: readonly [number, number]): Scale {
  const low = Math.min(0.5, ...values);
  const high = Math.max(2, ...values);
  const at = (value: number): number => from + (to - from) * Math.log(value / low) / Math.log(high / low);
  const decades = Array.from({ length: 13 }, (_, power) => 10 ** (power - 6));
  const steps = decades.flatMap((decade) => [decade, 2 * decade, 5 * decade]);
  const inside = (high / low > 2000 ? decades : steps).filter((tick) => tick >= low * 0.99 && tick <= high * 1.01);
  return { at, ticks: inside };
}

/** Returns a scale from zero to a round number at or above the values. */
export function zeroScale(values: readonly number[], [from, to]: readonly [number, number]): Scale {
  const top = Math.max(0, ...values) || 1;
  const step = niceStep(top / 3);
  const count = Math.ceil(top / step - 1e-9);
  const at = (value: number): number => from + (to - from) * value / (count * step);
  return { at, ticks: Array.from({ length: count + 1 }, (_, n) => n * step) };
}

function niceStep(rough: number): number {
  const decade = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * decade).find((step) => step >= rough - 1e-9 * decade)!;
}

/** Returns a figure as people write it: 512,822, 12.3, 0.04. */
export function figure(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en", { maximumFractionDigits: digits });
}
