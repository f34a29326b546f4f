/**
 * Times of events as texts.
 *
 * @module
 */

/** Returns a function that returns the time as ISO 8601. It formats once per millisecond: under load many events share one. */
export function timestamps(clock: { now(): number }): () => string {
  let at = NaN;
  let text = "";
  return () => {
    const now = clock.now();
    if (now !== at) {
      at = now;
      text = new Date(now).toISOString();
    }
    return text;
  };
}
