/**
 * State by key, of the keys that were used last.
 *
 * @module
 */

/** Sessions whose state a handler keeps. */
export const MAX_SESSIONS = 200;

/**
 * Returns a function that returns the state of a key, made when it has none. Beyond `max` keys, the one unused for
 * longest is forgotten.
 */
export function perKey<T>(max: number, make: () => T): (key: string) => T {
  const states = new Map<string, T>();
  return (key) => {
    const state = states.get(key) ?? make();
    states.delete(key);
    states.set(key, state);
    if (states.size > max) states.delete(states.keys().next().value!);
    return state;
  };
}
