/**
 * How a time grows with the number of jobs.
 *
 * @module
 */

/** Times by number of jobs. */
export type Curve = Readonly<Record<number, number>>;

/** Returns the exponent `k` of `time ~ n^k`: the slope of the least squares line through the logarithms; 0 is flat. */
export function exponentOf(curve: Curve): number {
  const points = Object.entries(curve).map(([n, time]) => [Math.log(Number(n)), Math.log(time)] as const);
  const mean = (at: 0 | 1): number => points.reduce((sum, point) => sum + point[at], 0) / points.length;
  const [x, y] = [mean(0), mean(1)];
  const over = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0);
  return over / points.reduce((sum, [a]) => sum + (a - x) ** 2, 0);
}

/** Returns the middle of some figures. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? NaN;
}
